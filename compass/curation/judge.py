"""A model as judge: noise filters that ask an OpenAI-compatible server one question about each row.

    unsolvable = ModelJudge("http://127.0.0.1:8000/v1", "unsolvable")

in a file of the user's, which `denoise.filters` names (examples/own_csv/own_judge.py). Nothing here runs otherwise. Rows are asked about
in batches, greedily, and what the model said is kept in `work/judge`, so that no row is asked about twice in the same words.
"""

from __future__ import annotations

import fcntl
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from compass.curation.noise.finding import Finding, Strength
from compass.errors import UserError, did_you_mean
from compass.sampling.model_source import Server
from compass.sampling.response import problem_key
from compass.sampling.resume import sample_responses
from compass.sampling.server import find_server
from compass.settings import Denoise, Sampling

_PROBLEM = "Problem:\n{problem}\n\n"
_GOLD = "Published answer: {gold}\n\n"
_ALONE = " Answer with yes or no alone."
QUESTIONS = {
    "unsolvable": (
        _PROBLEM
        + "Is something missing that one needs to solve this problem, such as a figure, a table, data or the question?",
        "yes",
    ),
    "proof": (_PROBLEM + "Does this problem ask for a proof or an explanation, and for no value or expression?", "yes"),
    "several_parts": (_PROBLEM + "Does this problem ask for several separate answers?", "yes"),
    "wrong_gold": (_PROBLEM + _GOLD + "Is the published answer the right answer to this problem?", "no"),
}
"""What is asked about a row, and which answer speaks against it. `{problem}` and `{gold}` stand for the row's."""

_THOUGHT = re.compile(r"<think>.*?(?:</think>|\Z)", re.S)
_VERDICT = re.compile(r"\b(yes|no)\b", re.I)
SHOWN = 200
"""Characters of the model's reply that the evidence holds."""


@dataclass(frozen=True)
class ModelJudge:
    """A noise filter: the model's answer to one question. Its reason is `judge_QUESTION`.

    A reply without yes or no is the finding `judge_unread`, at strength `possible`.

    Raises:
        UserError: there is no such question.
        SamplingError: (when it judges) the server cannot be used.
    """

    server: str
    """The server's URL."""

    question: str
    """A name of `QUESTIONS`, or of `ask`."""

    model: str = ""
    """Which of the server's models; needed where it has several."""

    strength: Strength = Strength.POSSIBLE
    """Of its findings. At `possible` they are doubts under the default strictness: measure it on labelled rows before it drops any."""

    max_tokens: int = 16
    """Longest reply; a model that thinks first needs thousands."""

    ask: Mapping[str, tuple[str, str]] = field(default_factory=dict, hash=False)
    """Questions of the user's own, in the form of `QUESTIONS`."""

    folder: Path = Path("work/judge")
    """Where replies are kept."""

    def __post_init__(self) -> None:
        known = {**QUESTIONS, **self.ask}
        if self.question not in known:
            meant = did_you_mean(self.question, known)
            raise UserError(f"ModelJudge: no question {self.question!r}; {meant}there are {', '.join(known)}")

    def __call__(self, record: Mapping[str, Any], settings: Denoise) -> Finding | None:
        """What the model says against a row, None for nothing."""
        text = self._text(record)
        if text not in self._replies:
            self._read([text])
        reply = self._replies[text]
        evidence = {"reply": reply[:SHOWN], "model": self._server.model}
        verdict = _VERDICT.search(_THOUGHT.sub("", reply))
        if verdict is None:
            return Finding("judge_unread", Strength.POSSIBLE, {"question": self.question, **evidence})
        against = {**QUESTIONS, **self.ask}[self.question][1]
        return Finding(f"judge_{self.question}", self.strength, evidence) if verdict[1].lower() == against else None

    def prepare(self, records: Iterable[Mapping[str, Any]], settings: Denoise) -> None:
        """Ask about all rows that `noise.review` will hand over; processes take turns."""
        self._replies.clear()
        self._read([self._text(row) for row in records if len(row["problem"]) <= settings.max_problem_chars])

    def _read(self, texts: Iterable[str]) -> None:
        """Hold the replies to these texts, asking for those that are not kept.

        Raises:
            SamplingError: the server failed on some.
        """
        from compass.evaluation.evaluate import check_sampled

        wanted = {problem_key("", text): text for text in texts}
        sampling = Sampling(temperature=0, max_tokens=self.max_tokens, max_model_len=self.max_tokens + 1)
        self.folder.mkdir(parents=True, exist_ok=True)
        with open(self.folder / "turn", "w") as turn:
            fcntl.flock(turn, fcntl.LOCK_EX)
            table = sample_responses(
                wanted,
                model=self._server,
                sampling=sampling,
                n=0,
                greedy=True,
                seed=0,
                folder=self.folder,
                what="judged",
            )
        check_sampled("judge", table)
        for key, reply in zip(table["id"].to_pylist(), table["response"].to_pylist(), strict=True):
            self._replies[wanted[key]] = reply

    def _text(self, record: Mapping[str, Any]) -> str:
        question = {**QUESTIONS, **self.ask}[self.question][0] + _ALONE
        return question.replace("{gold}", record.get("answer") or "").replace("{problem}", record["problem"])

    @cached_property
    def _replies(self) -> dict[str, str]:
        return {}

    @cached_property
    def _server(self) -> Server:
        return find_server(self.server, model=self.model)
