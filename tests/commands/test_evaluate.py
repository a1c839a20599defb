"""`compass evaluate`, from end to end against a server on this machine."""

import json
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from compass.base import resolve
from compass.cli import main
from compass.commands.evaluate_models import find_models
from compass.evaluation import benchmarks as registry
from compass.evaluation.benchmarks import BENCHMARKS, content_hash
from compass.page.markdown import to_markdown
from compass.prompts.registry import PROMPTS
from compass.report.run import read_run
from compass.report.sensitivity import other_ways, sensitivity_section
from compass.sampling.model_source import Model

PROBLEMS = [
    {"id": "a", "problem": "What is the sum of 2 and 2?", "answer": "4", "level": 1},
    {"id": "b", "problem": "What is the product of 3 and 3?", "answer": "9", "level": 2},
    {"id": "c", "problem": "What is the double of the number 7?", "answer": "14", "level": 2},
]


@pytest.fixture
def folder(tmp_path, monkeypatch, openai_server) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, rows in (("sums", PROBLEMS[:2]), ("doubles", PROBLEMS[2:])):
        Path(f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    Path("broken.gguf").write_bytes(b"GGUF, or not")
    openai_server.answers = {PROBLEMS[0]["problem"]: r"\boxed{4}", PROBLEMS[1]["problem"]: "It makes 9 & <b>9</b>."}
    return tmp_path


def evaluate(*words: str) -> int:
    return main(["evaluate", *words])


def test_a_server_is_scored_and_everything_is_written(folder, openai_server, capsys) -> None:
    assert evaluate("--server", openai_server.url, "--benchmarks", "sums.jsonl", "--samples", "2", "--greedy") == 0
    printed = capsys.readouterr().out
    assert "m: prompt default (version 1), server 9.9, setup " in printed
    assert "sums" in printed
    assert "average" in printed
    out = folder / "evaluation"
    samples = pq.read_table(out / "samples.parquet")
    assert samples.num_rows == 6
    assert set(samples["response"].to_pylist()) == {r"\boxed{4}", "It makes 9 & <b>9</b>."}
    scores = json.loads((out / "scores.json").read_text())["models"]["m"]
    assert scores["sums"]["accuracy"] >= 0.5
    assert scores["sums"]["problems"] == 2
    setups = json.loads((out / "setups.json").read_text())
    assert set(setups) == set(samples["setup"].to_pylist())
    problems = pq.read_table(out / "problems.parquet").to_pylist()
    assert [(row["problem"], row["answer"], row["level"]) for row in problems] == [
        (row["problem"], row["answer"], str(row["level"])) for row in PROBLEMS[:2]
    ]


def test_a_third_that_cannot_be_read_is_a_warning_with_its_share(folder, openai_server, capsys) -> None:
    (folder / "three.jsonl").write_text("".join(json.dumps(row) + "\n" for row in PROBLEMS))
    openai_server.answers |= {PROBLEMS[2]["problem"]: "I would rather not say."}
    assert evaluate("--server", openai_server.url, "--benchmarks", "three.jsonl", "--samples", "2") == 0
    assert "warning: 33% of m's responses to three give no answer that can be read" in capsys.readouterr().err


def count(asked: list) -> int:
    """The samples that a server was asked for; a request may ask for several."""
    return sum(body.get("n", 1) for _, body, _ in asked)


def test_a_second_run_asks_for_nothing_and_more_asks_for_no_more_than_is_new(folder, openai_server) -> None:
    asked = openai_server.asked
    evaluate("--server", openai_server.url, "--benchmarks", "sums.jsonl", "--samples", "2")
    assert count(asked) == 4
    first = pq.read_table("evaluation/samples.parquet")
    evaluate("--server", openai_server.url, "--benchmarks", "sums.jsonl", "--samples", "2")
    assert count(asked) == 4
    assert pq.read_table("evaluation/samples.parquet").equals(first)
    evaluate("--server", openai_server.url, "--benchmarks", "sums.jsonl", "--samples", "3", "--greedy")
    assert count(asked) == 4 + 2 * 2
    evaluate("--server", openai_server.url, "--benchmarks", "doubles.jsonl", "--samples", "3", "--greedy")
    assert {body["messages"][-1]["content"] for _, body, _ in asked[6:]} == {PROBLEMS[2]["problem"]}
    assert pq.read_table("evaluation/samples.parquet").num_rows == 12


def test_rounds_sample_what_is_new_and_are_recorded(folder, openai_server, capsys) -> None:
    asked = openai_server.asked
    words = (
        "one=URL",
        "two=URL",
        "--benchmarks",
        "sums.jsonl",
        "--samples",
        "2",
        "--until",
        "verdict",
        "--at-most",
        "8",
    )
    words = tuple(word.replace("URL", openai_server.url) for word in words)
    assert evaluate(*words) == 0
    printed = capsys.readouterr().out
    assert "evaluate: look 3 at two against one: 8 of at most 8 samples, difference +0.0 points" in printed
    assert count(asked) == 2 * 2 * 8  # two models, two problems: a round asks for what the rounds before did not
    assert pq.read_table("evaluation/samples.parquet")["model"].unique().to_pylist() == ["one", "two"]
    looks = json.loads(Path("evaluation/comparisons.json").read_text())["looks"]
    assert looks["pair"] == ["two", "one"]
    assert [one["samples"] for one in looks["made"]] == [2, 4, 8]
    assert [one["verdict"] for one in looks["made"]] == ["cannot tell"] * 3
    first = Path("evaluation/comparisons.json").read_text()
    assert evaluate(*words) == 0
    assert count(asked) == 32
    assert Path("evaluation/comparisons.json").read_text() == first
    assert evaluate(words[0], "--benchmarks", "sums.jsonl", "--samples", "16") == 1
    assert "were sampled until a verdict: --samples 2 --until verdict --at-most 8" in capsys.readouterr().err
    assert evaluate(f"three={openai_server.url}", "--benchmarks", "sums.jsonl", "--samples", "2") == 0
    assert json.loads(Path("evaluation/comparisons.json").read_text())["looks"] == looks
    assert evaluate(*(word.replace("sums", "doubles") for word in words)) == 1
    assert "has responses of two and one to sums as well" in capsys.readouterr().err


def test_other_settings_for_the_same_model_are_an_error_unless_it_has_another_name(
    folder, openai_server, capsys
) -> None:
    evaluate("--server", openai_server.url, "--benchmarks", "sums.jsonl", "--samples", "1")
    again = ("--benchmarks", "sums.jsonl", "--samples", "1", "--prompt", "boxed")
    assert evaluate("--server", openai_server.url, *again) == 1
    assert "m was sampled there under another setup (other: prompt.name, prompt.digest" in capsys.readouterr().err
    assert evaluate(f"m-boxed={openai_server.url}", *again) == 0
    found = capsys.readouterr()
    assert "differ in prompt.name" in found.err
    assert "m-boxed: prompt boxed (version 1)" in found.out
    assert evaluate("--server", openai_server.url, *again, "--replace") == 0
    assert set(pq.read_table("evaluation/samples.parquet")["model"].to_pylist()) == {"m", "m-boxed"}


def test_prices_make_a_cost(folder, openai_server) -> None:
    price = ("--price-per-million-tokens", "1000000")
    evaluate("--server", openai_server.url, "--benchmarks", "sums.jsonl", "--samples", "2", *price)
    assert pq.read_table("evaluation/samples.parquet")["cost"].to_pylist() == [5.0] * 4
    assert json.loads(Path("evaluation/scores.json").read_text())["models"]["m"]["sums"]["cost"] == 10.0


@pytest.mark.parametrize(("given", "name"), [("lr=1e-5/model", "model"), ("mine=lr=1e-5/model", "mine")])
def test_the_path_of_a_model_may_have_an_equals_sign(folder, given, name) -> None:
    Path("lr=1e-5/model").mkdir(parents=True)
    Path("lr=1e-5/model/config.json").write_text("{}")
    assert find_models([given], [], "", folder) == {name: Model("lr=1e-5/model")}


def test_a_gguf_file_without_a_chat_template_is_left_to_the_prompt(folder, random_model, monkeypatch) -> None:
    def convert(path, out):
        random_model(out, 0)
        (out / "chat_template.jinja").unlink()

    monkeypatch.setattr(resolve, "_convert_gguf", convert)
    (model,) = find_models(["broken.gguf"], [], "", folder).values()
    tokens = json.loads((Path(model.path) / "tokenizer_config.json").read_text())
    generation = json.loads((Path(model.path) / "generation_config.json").read_text())
    assert "chat_template" not in tokens
    assert generation["eos_token_id"] == json.loads((Path(model.path) / "config.json").read_text())["eos_token_id"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--benchmarks sums.jsonl", "give a MODEL or --server URL"),
        ("nowhere --benchmarks sums.jsonl", "nowhere: no model; give a stage (none has run here), a model folder"),
        ("owner/name@main --benchmarks sums.jsonl", "owner/name: the revision must be a commit (40 hex digits)"),
        ("gone.gguf --benchmarks sums.jsonl", "gone.gguf: no such file"),
        ("broken.gguf --benchmarks sums.jsonl", "broken.gguf: not a GGUF model that transformers reads"),
        ("http://127.0.0.1:1 --benchmarks sums.jsonl", "is it an OpenAI-compatible server that runs?"),
        ("nowhere --benchmarks sums.jsonl --prompt qwen", "--prompt Input should be 'default'"),
        ("nowhere --benchmarks sums.jsonl --samples 0", "--samples Input should be greater than or equal to 1"),
        ("nowhere --benchmarks sums.jsonl --max-tokens 99 --max-model-len 99", "must exceed `max_tokens`"),
        ("nowhere --benchmarks absent.jsonl", "absent.jsonl"),
        ("nowhere --benchmarks math-5000", "benchmark 'math-5000' is not known; known are aime-2024"),
        ("nowhere --benchmarks sums.jsonl ./sums.jsonl", "two benchmarks are called 'sums'"),
        ("URL URL --benchmarks sums.jsonl", "two models are called 'm'; give one a name: NAME=MODEL"),
        ("a=URL b=URL --benchmarks sums.jsonl --until verdict", "needs 2 `samples` or more in the first round"),
        ("a=URL b=URL --benchmarks sums.jsonl --at-most 9", "`at_most` (9) is read with `until: verdict` alone"),
        ("a=URL --benchmarks sums.jsonl --until verdict --at-most 9", "give a second one"),
        (
            "a=URL b=URL --benchmarks sums.jsonl --primary a b",
            "--primary names the models that --until verdict compares",
        ),
        ("--server URL --benchmarks average.jsonl", "cannot be called 'average'"),
        ("--server URL --benchmarks doubles.jsonl --out doubles.jsonl", "--out doubles.jsonl: is a file"),
    ],
)
def test_a_mistake_is_told_in_a_line(folder, openai_server, words, message, capsys) -> None:
    Path("average.jsonl").write_text(Path("sums.jsonl").read_text())
    assert evaluate(*words.replace("URL", openai_server.url).split()) == 1
    error = capsys.readouterr().err
    assert message in error
    assert "Traceback" not in error
    assert not openai_server.asked


def test_a_known_benchmark_is_given_by_its_name(folder, openai_server, shared, monkeypatch) -> None:
    monkeypatch.setenv("COMPASS_DATA", str(shared))
    assert (
        evaluate("--server", openai_server.url, "--benchmarks", "aime-2024", "--samples", "1", "--max-problems", "3")
        == 0
    )
    rows = pq.read_table("evaluation/problems.parquet").to_pylist()
    assert {row["benchmark"] for row in rows} == {"aime-2024"}
    assert len(rows) == 3
    assert len(openai_server.asked) == 3


def test_a_file_that_holds_a_known_benchmark_is_told_its_name(folder, openai_server, capsys, monkeypatch) -> None:
    known = BENCHMARKS["minerva-math"]
    digest = content_hash((row["problem"], row["answer"]) for row in PROBLEMS[:2])
    copies = (replace(known.copies[0], sha256=digest),)
    monkeypatch.setattr(registry, "KNOWN_BENCHMARKS", (replace(known, copies=copies),))
    openai_server.answers |= {row["problem"]: "I would rather not say." for row in PROBLEMS[2:]}
    evaluate("--server", openai_server.url, "--benchmarks", "sums.jsonl", "doubles.jsonl", "--samples", "1")
    warned = [line for line in capsys.readouterr().err.splitlines() if "warning" in line]
    names = [line for line in warned if "sums holds the published minerva-math" in line]
    assert len(names) == 1
    assert "numbers within 1%" in names[0]
    assert any("responses to doubles give no answer that can be read" in line for line in warned)


def test_other_prompts_are_sampled_beside_and_the_report_says_whether_the_order_holds(folder, openai_server) -> None:
    for problem, gold in ((row["problem"], row["answer"]) for row in PROBLEMS):
        openai_server.answers[problem] = f"\\boxed{{{gold}}}"
        openai_server.answers[PROMPTS["boxed"].messages(problem)[-1]["content"]] = f"\\boxed{{{gold}}}"
        openai_server.answers[PROMPTS["qwen-math"].messages(problem)[-1]["content"]] = f"\\boxed{{{gold}}}"
    words = (
        f"one={openai_server.url}",
        f"two={openai_server.url}",
        "--benchmarks",
        "sums.jsonl",
        "doubles.jsonl",
        "--samples",
        "2",
    )
    assert evaluate(*words, "--other-prompts", "boxed", "--other-prompts", "llama") == 0
    asked = count(openai_server.asked)
    assert asked == 2 * 3 * 2 * 3, "models, problems, samples, prompts"
    rows = pq.read_table("evaluation/prompts.parquet")
    assert rows.num_rows == 2 * 3 * 2 * 2
    assert set(rows["setup"].to_pylist()) == set(json.loads(Path("evaluation/prompts.json").read_text()))
    first = rows
    assert evaluate(*words, "--other-prompts", "boxed", "--other-prompts", "llama") == 0
    assert count(openai_server.asked) == asked
    assert pq.read_table("evaluation/prompts.parquet").sort_by("setup").equals(first.sort_by("setup"))
    ways = dict(other_ways(read_run("evaluation")))
    assert ways["prompt boxed"]["one"] == {"sums": 1.0, "doubles": 1.0}
    assert ways["prompt llama"]["two"] == {"sums": 0.0, "doubles": 0.0}
    text = to_markdown("t", [sensitivity_section(read_run("evaluation"))])
    assert f"holds in {len(ways)} of {len(ways)} other ways to ask the models and score their responses" in text


def test_arguments_for_the_chat_template_are_json(folder, openai_server, capsys) -> None:
    words = ("--server", openai_server.url, "--benchmarks", "sums.jsonl", "--samples", "1", "--chat-template-kwargs")
    assert evaluate(*words, '{"enable_thinking": false}') == 0
    assert openai_server.asked[0][1]["chat_template_kwargs"] == {"enable_thinking": False}
    assert evaluate(*words, "thinking") == 1
    assert "--chat-template-kwargs thinking: not JSON" in capsys.readouterr().err


def test_a_response_may_be_as_long_as_the_model_takes(folder, openai_server) -> None:
    assert evaluate("--server", openai_server.url, "--benchmarks", "sums.jsonl", "--samples", "1") == 0
    assert {body["max_tokens"] for _, body, _ in openai_server.asked} == {3072}
    [setup] = json.loads(Path("evaluation/setups.json").read_text()).values()
    assert (setup["sampling"]["max_tokens"], setup["sampling"]["max_model_len"]) == (3072, 4096)
