"""A model as judge, behind an OpenAI-compatible server: two noise filters that ask it about each row.

denoise:
  filters: ["examples.own_csv.own_judge:unsolvable", "examples.own_csv.own_judge:wrong_gold"]
"""

from compass.curation.judge import ModelJudge

SERVER = "http://127.0.0.1:8000/v1"

unsolvable = ModelJudge(SERVER, "unsolvable")
wrong_gold = ModelJudge(SERVER, "wrong_gold")
