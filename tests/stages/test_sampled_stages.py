"""What the stages grade and evaluate make of sampled responses; test_grade_and_evaluate.py samples with the real engine."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from compass.evaluation import evaluate as evaluation
from compass.grading import grade as grading
from compass.ledger import LEDGER
from compass.records import RecordError, read_records, table, write_records
from compass.sampling.response import RESPONSES
from compass.settings import Settings, load_settings
from stages import evaluate, grade
from stages._stage import EmptyError


@pytest.fixture
def tiny() -> Settings:
    return load_settings(Path(__file__).parents[2] / "profiles/tiny.yaml")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[dict]:
    """Replaces sampling: sample i of problem p is right where i < p, a greedy response always; what was asked is noted."""
    calls: list[dict] = []

    def sample(problems, *, n, greedy=False, **options):
        calls.append({"problems": list(problems), "n": n, "greedy": greedy, **options})
        rows = [
            {
                "id": name,
                "sample": i,
                "greedy": g,
                "tokens": 10,
                "seconds": 0.5,
                "finish_reason": "stop",
                "response": rf"\boxed{{{answer}}}",
            }
            for name, problem in problems.items()
            for i, g, answer in [
                *((i, False, 7 if i < int(problem) else 8) for i in range(n)),
                *[(0, True, 7)] * greedy,
            ]
        ]
        return pa.Table.from_pylist(rows, schema=RESPONSES)

    monkeypatch.setattr(grading, "stream_responses", lambda problems, **options: iter([sample(problems, **options)]))
    monkeypatch.setattr(evaluation, "sample_responses", sample)
    for name in ("base", "rl-1"):
        (tmp_path / "models" / name).mkdir(parents=True)
        (tmp_path / "models" / name / "config.json").write_text("{}")
    return calls


def test_grade_samples_a_draw_and_levels_it(tiny: Settings, asked: list[dict], tmp_path: Path) -> None:
    records = [{"id": f"p{n}", "source": "s", "problem": str(n), "answer": "7"} for n in range(5)]
    write_records(tmp_path / "in.parquet", table(records))
    changes = {"rollouts": 4, "max_problems": 4, "model": str(tmp_path / "models/base"), "levels": "quantiles"}
    settings = tiny.model_copy(update={"grade": tiny.grade.model_copy(update=changes)})
    summary = grade.run(settings, tmp_path / "in.parquet", tmp_path / "out", tmp_path / "work")
    (call,) = asked
    assert (call["n"], call["greedy"], call["seed"], call["folder"]) == (4, False, settings.seed, tmp_path / "work")
    drawn = call["problems"]
    assert len(drawn) == 4
    assert (summary.counts.read, summary.counts.kept, summary.counts.dropped) == (5, 5, {})
    assert (summary.metrics["graded"], summary.metrics["not_sent"]) == (4, 1)
    kept = {row["id"]: row["solve_rate"] for row in read_records(tmp_path / "out/kept.parquet").to_pylist()}
    assert kept == {f"p{n}": n / 4 if f"p{n}" in drawn else None for n in range(5)}
    rates = [rate for rate in kept.values() if rate is not None]
    assert summary.note == (
        f"mean solve rate {sum(rates) / 4:.1%}; of 4 problems {rates.count(0)} never solved, {rates.count(1)} always"
    )
    rollouts = pq.read_table(tmp_path / "out/rollouts.parquet")
    columns = "id sample answer correct boxed leniencies tokens finish_reason response"
    assert rollouts.column_names == columns.split()
    assert rollouts.num_rows == 16


@pytest.mark.parametrize(
    ("reasons", "told"),
    [
        (["failed"], "1 had no response from any engine; run again"),
        (
            ["failed", "prompt_too_long"],
            r"run again; 1 have a prompt that is too long .*raise `grade\.sampling\.max_model_len`",
        ),
    ],
)
def test_why_no_problem_has_a_solve_rate_is_told(
    tiny: Settings, asked: list[dict], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reasons: list[str], told: str
) -> None:
    empty = {"sample": 0, "greedy": False, "tokens": 0, "seconds": 0.0, "response": ""}
    rows = [{"id": f"p{n}", "finish_reason": reason, **empty} for n, reason in enumerate(reasons)]
    sampled = pa.Table.from_pylist(rows, schema=RESPONSES)
    monkeypatch.setattr(grading, "stream_responses", lambda problems, **options: iter([sampled]))
    records = [{"id": f"p{n}", "source": "s", "problem": str(n), "answer": "7"} for n in range(5)]
    write_records(tmp_path / "in.parquet", table(records))
    changes = {"max_problems": len(reasons), "model": str(tmp_path / "models/base")}
    settings = tiny.model_copy(update={"grade": tiny.grade.model_copy(update=changes)})
    with pytest.raises(EmptyError, match=f"^no solve rate of any of {len(reasons)} problems: .*{told}") as raised:
        grade.run(settings, tmp_path / "in.parquet", tmp_path / "out", tmp_path / "work")
    assert ("max_model_len" in str(raised.value)) == ("prompt_too_long" in reasons)


def test_two_records_with_one_id_are_refused(tiny: Settings, asked: list[dict], tmp_path: Path) -> None:
    write_records(tmp_path / "in.parquet", table([{"id": "a", "problem": "1", "answer": "7"}] * 2))
    with pytest.raises(RecordError, match="2 records have 1 distinct ids"):
        grade.run(tiny, tmp_path / "in.parquet", tmp_path / "out", tmp_path / "work")


def test_evaluate_scores_models_in_their_order_and_compares_them_with_the_base(
    tiny: Settings, asked: list[dict], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    names = [source.name for source in tiny.collect.benchmarks]
    items = [
        {"id": f"{name}-{n}", "source": name, "source_id": f"s{n}", "problem": str(n), "answer": "7"}
        for name in names
        for n in range(3)
    ]
    write_records(tmp_path / "in.parquet", table(items))
    changes = {"models": ["base", "rl-1"], "samples": 2, "greedy": True, "max_problems": 0}
    settings = tiny.model_copy(update={"evaluate": tiny.evaluate.model_copy(update=changes)})
    folders = [tmp_path / name for name in ("in.parquet", "models", "out", "plots", "work")]
    evidence = {"benchmark": names[0], "item": "s1", "other_items": [f"{names[1]}:s2", "gone:s2"]}
    noisy = {"text": "www", "also_contaminated": f"{names[0]}:s1"}
    ledger = [
        {"id": "web-7", "stage": "denoise", "reason": "contaminated", "evidence": json.dumps(evidence)},
        {"id": "web-8", "stage": "denoise", "reason": "link", "evidence": json.dumps(noisy)},
        {"id": "web-9", "stage": "denoise", "reason": "link", "evidence": json.dumps({"text": "www"})},
    ]
    write_records(tmp_path / "dropped.parquet", table(ledger, LEDGER))
    learnt = {"id": "web-3", "source": "web", "source_id": "3", "problem": items[1]["problem"], "answer": "7"}
    write_records(tmp_path / "trained.parquet", table([learnt]))
    summary = evaluate.run(settings, *folders, tmp_path / "dropped.parquet", tmp_path / "trained.parquet")
    assert [Path(call["model"].path).name for call in asked] == ["base", "rl-1"]
    assert [call["problems"] for call in asked] == [[item["id"] for item in items]] * 2
    assert {(call["n"], call["greedy"], call["seed"], call["folder"]) for call in asked} == {(2, True, 0, folders[4])}
    models = summary.metrics["models"]
    assert [list(scored) for scored in models.values()] == [[*names, "average"]] * 2
    score = models["rl-1"][names[0]]
    assert (score["accuracy"], score["greedy"], score["pass@2"], score["over_base"]) == (0.5, 1.0, 2 / 3, 0.0)
    samples = pq.read_table(folders[2] / "samples.parquet")
    assert samples.column_names == evaluation.COLUMNS
    assert samples.num_rows == 2 * len(items) * 3
    assert set(samples["benchmark"].to_pylist()) == set(names)
    assert samples["response"].to_pylist()[:3] == [r"\boxed{8}", r"\boxed{8}", r"\boxed{7}"]
    (pair,) = json.loads((folders[2] / "comparisons.json").read_text())["pairs"]
    assert (pair["model"], pair["other"], list(pair["benchmarks"])) == ("rl-1", "base", names)
    assert pair["average"]["verdict"] == "cannot tell"
    assert (score["similar"], score["clean"]["problems"]) == (1, 2)
    setups = json.loads((folders[2] / "setups.json").read_text())
    assert set(setups) == set(samples["setup"].to_pylist())
    problems = pq.read_table(folders[2] / "problems.parquet")
    assert problems["id"].to_pylist() == [item["id"] for item in items]
    copies = {row["id"]: row["in_sources"] for row in problems.to_pylist() if row["in_sources"]}
    assert copies == {f"{names[0]}-1": ["web-7", "web-8"], f"{names[1]}-2": ["web-7"]}
    similar = {row["id"]: row["similar"] for row in problems.to_pylist() if row["similar"]}
    assert similar == {item["id"]: ["web-3"] for item in items if item["problem"] == items[1]["problem"]}
    assert samples["model"].to_pylist() == ["base"] * 3 * len(items) + ["rl-1"] * 3 * len(items)
    assert len(json.loads((folders[3] / "accuracy.json").read_text())) == 2 * (len(names) + 1) * 3
    assert "evaluate: base 50.0% on average, " in capfd.readouterr().out


def test_a_prompt_that_differs_from_trainings_is_a_warning(tiny: Settings) -> None:
    assert evaluate.other_prompt(tiny) == ""
    sampling = tiny.evaluate.sampling.model_copy(update={"prompt": "qwen-math"})
    other = tiny.model_copy(update={"evaluate": tiny.evaluate.model_copy(update={"sampling": sampling})})
    assert evaluate.other_prompt(other).startswith(
        "rl-1 is trained with the prompt 'default' and evaluated with 'qwen-math'"
    )
    base = other.model_copy(update={"evaluate": other.evaluate.model_copy(update={"models": ["base"]})})
    assert evaluate.other_prompt(base) == ""


@pytest.mark.parametrize("profile", ["tiny", "debug", "small", "small-gpu", "paper"])
def test_profiles_train_and_evaluate_with_one_prompt(profile: str) -> None:
    assert evaluate.other_prompt(load_settings(Path(__file__).parents[2] / f"profiles/{profile}.yaml")) == ""
