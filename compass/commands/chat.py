"""`compass chat MODEL`: ask a trained model, and see its answer read and judged."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter
from cyclopts.validators import Number

from compass.commands.verify import Answer
from compass.errors import UserError

if TYPE_CHECKING:
    from compass.sampling.engines import Samples
    from compass.sampling.model_source import Model, Server
    from compass.sampling.response import Response
    from compass.settings import Sampling
    from compass.verifier import Gold

MOST_SAMPLES = 64
"""Responses to one question at most: this reads responses, `compass evaluate` counts them."""

USUAL_TOKENS = 2_048
"""Tokens of a response, and of a question, where nothing says more."""

HELP = "A question per line, each on its own. /gold ANSWER judges it, /problem ID asks a collected one, /quit or Ctrl-D ends."


class ChatError(UserError):
    """Options that do not go together, or a problem that is not there; the message says what to do."""


@dataclass(frozen=True, kw_only=True)
class Question:
    """A problem and what counts as right, None where nothing says so."""

    text: str
    gold: str | Gold | None = None


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Asked:
    """What is asked, and how it is sampled."""

    gold: Answer = ""
    """the right answer, to judge the responses by."""
    problem: str = ""
    """ask a collected problem or a benchmark's: its id, SOURCE:ROW, or BENCHMARK:ITEM, as `compass why` takes it."""
    data: Path = Path("data")
    """the pipeline's data folder in which `--problem` looks."""
    samples: Annotated[int, Parameter(validator=Number(gte=1, lte=MOST_SAMPLES))] = 1
    """responses per question."""
    greedy: bool = False
    """the likeliest response, in place of sampled ones."""
    seed: int = 0
    """of sampling."""
    prompt: str | None = None
    """a named prompt; docs/reference/evaluation.md lists them."""
    chat_template: str | None = None
    """`chatml`, `question-answer` or `plain`, for a model that has none."""
    temperature: float | None = None
    """of sampling."""
    max_tokens: int | None = None
    """longest response."""
    server_model: str = ""
    """which of a server's models."""
    json: bool = False
    """print an object per response."""


def chat(model: str, question: str = "", /, *, asked: Asked | None = None) -> int:
    """Ask a trained model, and see its answer read and judged.

    Prompt and sampling are those of `evaluate.sampling` in params.yaml for a stage's model; any other has its own chat template and limits.
    Each question stands alone: the models are trained on single problems, not on dialogues.

    Args:
        model: a stage of the pipeline (base, rl-3), a model folder, a .gguf file, a hub id with its commit
            (OWNER/NAME@COMMIT), or the URL of a server.
        question: asked once; without it, questions are read from the terminal, or a line each from a pipe.

    Raises:
        UserError: the model, the problem or an option cannot be used.

    Examples:
        compass chat rl-3                                a question per line
        compass chat rl-3 "What is 2+3?" --gold 5        one question, judged
        compass chat base --problem math-500:12 --samples 4   a problem of a benchmark, four responses
    """
    from compass.commands.evaluate_models import find_models
    from compass.sampling.engines import choose_engine
    from compass.settings import Engines

    asked = asked or Asked()
    first = _first_question(question, asked)
    ((name, found),) = find_models([model], (), asked.server_model, Path("work/chat")).items()
    sampling = read_sampling(model, found, asked)
    print(f"loading {name}: {_describe(sampling, asked)}", file=sys.stderr)
    begun = time.monotonic()
    with choose_engine(found, sampling, Engines(count=1)) as engine:
        print(f"ready after {time.monotonic() - begun:.0f} s", file=sys.stderr)
        count = 0
        for one in [first] if first else read_questions(asked):
            show_responses(one, list(ask(engine, one, asked, first=count)), as_json=asked.json)
            count += asked.samples
    return 0


def read_sampling(place: str, model: Model | Server, asked: Asked) -> Sampling:
    """How a model is sampled: a stage's as the parameters here evaluate it, any other with the limits that its configuration allows.

    Args:
        place: what names it.
        model: itself.
        asked: options, which win.

    Raises:
        UserError: an option has a value that is not allowed, or params.yaml cannot be read.
    """
    from pydantic import ValidationError

    from compass.commands.evaluate_models import is_stage
    from compass.sampling.model_source import choose_limits
    from compass.settings import Sampling, load_settings

    changed = {name: getattr(asked, name) for name in ("prompt", "chat_template", "temperature", "max_tokens")}
    if is_stage(place):
        values = load_settings().evaluate.sampling.model_dump()
    else:
        tokens, length = choose_limits(model, max_tokens=asked.max_tokens or 0)
        tokens = asked.max_tokens or min(tokens, USUAL_TOKENS)
        values = {"max_tokens": tokens, "max_model_len": min(length, tokens + USUAL_TOKENS)}
    values |= {name: value for name, value in changed.items() if value is not None}
    try:
        return Sampling(**values)
    except ValidationError as error:
        problems = []
        for one in error.errors():
            option = "".join(f"--{part}: " for part in map(str, one["loc"])).replace("_", "-")
            problems.append(option + one["msg"].removeprefix("Value error, "))
        raise ChatError("; ".join(problems)) from None


def find_question(query: str, data: Path) -> Question:
    """The one problem that a query names among collected rows and benchmarks, with its gold.

    Raises:
        UserError: none is named so, or several are.
    """
    from compass.golds import gold_of
    from compass.report.find import find_problem

    outputs, found = find_problem(query, data)
    rows = [] if found.alike else [*found.rows, *found.items]
    if len(rows) != 1:
        names = ", ".join(f"{row['source']}:{row['source_id']}" for row in rows[:5])
        several = f"names {len(rows)} problems ({names}{', …' * (len(rows) > 5)}); give one of these"
        raise ChatError(f"--problem {query}: " + (several if rows else f"no problem in {data} is named so"))
    (row,) = rows
    columns = ["id", "answer", "alternatives", "tolerance"]
    tables = (outputs.collected(columns), outputs.benchmark_items(columns))
    (whole,) = [one for table in tables for one in table.to_pylist() if one["id"] == row["id"]][:1]
    return Question(
        text=row["problem"], gold=gold_of(whole["answer"], whole["alternatives"], whole["tolerance"]) or None
    )


def read_questions(asked: Asked) -> Iterator[Question]:
    """Questions as they are typed, or a line each of what is piped in; `/gold` asks the question before once more, to judge it."""
    on_terminal = sys.stdin.isatty()
    if on_terminal:
        import readline  # noqa: F401  (lines can be edited and called back)

        print(HELP, file=sys.stderr)
    last: Question | None = None
    while True:
        try:
            line = input("> " if on_terminal else "").strip()
        except EOFError:
            return
        if line == "/quit":
            return
        try:
            chosen = _read_line(line, last, asked) if line else None
        except UserError as error:
            print(error, file=sys.stderr)
            continue
        if chosen:
            last = chosen
            yield chosen


def ask(engine: Samples, question: Question, asked: Asked, *, first: int) -> Iterator[Response]:
    """The responses to a question, numbered from `first`, so that a question that is asked again is sampled anew.

    Raises:
        ChatError: the question leaves no room for a response.
    """
    from compass.sampling.response import NOT_SAMPLED, UNFINISHED, Wanted

    numbers = [0] if asked.greedy else range(first, first + asked.samples)
    wanted = [Wanted("chat", question.text, number, asked.greedy) for number in numbers]
    for response in engine.sample(wanted, seed=asked.seed):
        if response.finish_reason in NOT_SAMPLED:
            raise ChatError(
                f"the question is not answered ({response.finish_reason.replace('_', ' ')}); shorten it, or lower --max-tokens"
            )
        if response.finish_reason != UNFINISHED:
            yield response


def show_responses(question: Question, responses: list[Response], *, as_json: bool) -> None:
    """Print each response, the answer that is read from it, and the verdict; of several judged ones how many are right."""
    import json

    facts = [judge_response(question, response) for response in responses]
    if as_json:
        for fact in facts:
            print(json.dumps(fact, ensure_ascii=False), flush=True)
        return
    for fact in facts:
        print("\n".join(_lines(fact)) + "\n", flush=True)
    if len(facts) > 1 and question.gold is not None:
        print(f"right: {sum(fact['right'] for fact in facts)} of {len(facts)}\n", flush=True)


def judge_response(question: Question, response: Response) -> dict[str, Any]:
    """A response with the answer that the strict and the lenient reader take from it, and the verdicts where there is a gold."""
    from compass.verifier import Mode, extract_answer, judge
    from compass.verifier.gold import gold_text

    fact: dict[str, Any] = {
        "question": question.text,
        "response": response.text,
        "tokens": response.tokens,
        "finish_reason": response.finish_reason,
    }
    for mode, ending in ((Mode.STRICT, ""), (Mode.LENIENT, "_lenient")):
        if question.gold is None:
            fact[f"answer{ending}"] = extract_answer(response.text, mode, question.text)
            continue
        judged = judge(gold=question.gold, response=response.text, question=question.text, mode=mode)
        fact |= {
            f"answer{ending}": judged.answer,
            f"right{ending}": judged.equal,
            f"verdict{ending}": judged.verdict.detail,
        }
    if question.gold is not None:
        fact["gold"] = gold_text(question.gold)
    return fact


def _lines(fact: dict[str, Any]) -> Iterator[str]:
    from compass.sampling.response import CUT_OFF

    yield fact["response"].strip() or "(an empty response)"
    cut = ", cut off at --max-tokens" if fact["finish_reason"] == CUT_OFF else ""
    answer, lenient = fact["answer"], fact["answer_lenient"]
    read = "no answer" if answer is None else f"answer: {answer}"
    if lenient not in (answer, None):
        read += f"  (lenient reading: {lenient})"
    yield f"  {read}  [{fact['tokens']} tokens{cut}]"
    if "gold" not in fact:
        return
    verdict = (
        "right" if fact["right"] else "wrong" if not fact["right_lenient"] else "wrong; right in the lenient reading"
    )
    yield f"  gold:   {fact['gold']}  {verdict} ({fact['verdict']})"


def _first_question(question: str, asked: Asked) -> Question | None:
    """The question of the command line; None where none was given."""
    if question and asked.problem:
        raise ChatError("give a question or --problem, not both")
    if asked.greedy and asked.samples > 1:
        raise ChatError("--greedy gives one response; leave --samples out")
    if asked.problem:
        found = find_question(asked.problem, asked.data)
        if not asked.json:
            print(f"{found.text}\n", file=sys.stderr)
        return Question(text=found.text, gold=asked.gold or found.gold)
    if asked.gold and not question:
        raise ChatError("--gold needs the question that it answers; at the prompt, type /gold ANSWER after one")
    return Question(text=question, gold=asked.gold or None) if question else None


def _read_line(line: str, last: Question | None, asked: Asked) -> Question:
    """What a typed line asks.

    Raises:
        ChatError: it is a command that does not exist or lacks something.
    """
    command, _, rest = line.partition(" ")
    if not line.startswith("/"):
        return Question(text=line)
    if command == "/problem" and rest:
        found = find_question(rest.strip(), asked.data)
        print(found.text, file=sys.stderr)
        return found
    if command == "/gold" and rest and last:
        return Question(text=last.text, gold=rest.strip())
    raise ChatError(f"{line}: no command, or something is missing. {HELP}")


def _describe(sampling: Sampling, asked: Asked) -> str:
    how = "greedy" if asked.greedy or sampling.temperature == 0 else f"temperature {sampling.temperature:g}"
    return f"prompt {sampling.prompt}, {how}, at most {sampling.max_tokens} tokens"
