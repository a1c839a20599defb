"""Attacks that nobody wrote: five generators look for what the verifier pays and should not, and a sixth for what it cannot bear.

    python benchmarks/generated_attacks.py PROBLEMS.jsonl... --minutes 60 [--only GENERATOR] [--seed 0] [--json OUT.json]

A line of a file has `gold` or `answer`, `problem` or `question` where it has one, and a `response` to it where it has one. Each generator runs for `--minutes` of processor time:

fixed    a text that knows neither question nor gold, against golds that all differ: which texts equal two golds or more?
shared   a text made of two golds that differ: is it equal to both?
changed  a gold after an edit that changes its meaning: is it still equal?
denials  a response that is paid, with a denial from the grammar of tests/data/denials.json: is it still paid? And is one that got a harmless
         addition lost? One half of the grammar's words and forms is `held`: its figures are shown and its findings are not
copies   a formula of the question after edits that keep its value, strict mode: what share of a set does one way to edit earn?
crashes  random, changed and nonsensical pairs: which raise an error, or take more than 50 ms of processor time?

Ctrl-C ends a generator and shows what it found. What is equal by a convention of docs/reference/verifier.md is found as well, so the
findings are read, not counted against a limit. The exit code is 1 where a pair crashed or took too long, else 0.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

from tqdm import tqdm

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))
from random_answers import draw_pair, grown

from compass.verifier import Mode, judge, verify
from compass.verifier.form import gives_away
from compass.verifier_attack import make_edit_policy

TABLE = 120
"""Golds that a fixed text is tried on."""
LIMIT_MS = 50.0
"""Processor time of this process for one pair; sympy's process has its own deadline."""
SHOWN = 200
"""Denials whose outcome is wrong that are kept."""
_DIGITS = re.compile(r"(?<![_\d])(?<!_\{)\d+")
_LEAF = re.compile(r"(?<!_)(?<!_\{)(?<![.\d])[1-9](?![\d.])|(?<![A-Za-z\\{~])[A-Za-z](?![A-Za-z]|\s?=)|[<>!]")
_LETTER = re.compile(r"(?<![A-Za-z\\{])[A-Za-z](?![A-Za-z])")
_SIGN = re.compile(r"[+*/<>=]|(?<![\[({,])-|\\(?:le|ge|leq|geq|cup|cap|cdot|times|pm)(?![a-z])")
_TURNED = {"+": "-", "-": "+", "*": "+", "/": "*", "<": ">", ">": "<", "=": "<", "\\le": ">", "\\ge": "<", "\\leq": ">", "\\geq": "<"}  # fmt: skip
_JOINS = ("{}, {}", "{} or {}", r"{} \text{{ or }} {}", r"\{{{}, {}\}}", "({}, {})", "{} = {}", "{} ({})", r"{} \approx {}", "{}; {}", "{} and {}", "{}/{}", "{} {}", r"{} \ne {}",
          "not {}, {}", r"{} \pm {}", "{}: {}", "{} | {}", "{} -> {}", r"\boxed{{{}}} \boxed{{{}}}", "{}\n{}", r"[{}, {}]", "{} to {}", "either {} or {}", "{} if {}", "{}_{{{}}}", "{}^{{{}}}")  # fmt: skip
_WORDS = ("B", "(A)", "yes", "no", "x", "t", "C", "k", "all", "none", "any", "even", r"\mathbb{R}", r"\mathbb{Z}", r"\emptyset", r"\infty", "DNE", "same", "answer", "or", "and", "+C", r"t \in \mathbb{R}", r"\forall x")  # fmt: skip
_AFTER = (" + 7", ", 655", " dozen", " million", "!", " squared", r" \cdot 0", "^2", "'", r" \approx 9", " (A)", r"\text{ less}", " = 5", r" \ne 3")  # fmt: skip


GRAMMAR: dict[str, Any] = json.loads(
    (Path(__file__).resolve().parents[1] / "tests/data/denials.json").read_text(encoding="utf-8")
)
"""`words` by name, and forms with places for them by kind and place: `denials` after which an answer is no longer given, harmless `additions`."""
_ANNOUNCEMENTS = (
    ("What is the sum?", "The sum is {}"), ("Find the value of it.", "So the value is {}"), ("How large is the area?", "Thus the area equals {}"), ("", "The answer is {}"),
    ("", r"Therefore the final answer is \boxed{{{}}}"), ("", "**Answer:** {}"), ("", "#### {}"), ("", "Hence we get {}"), ("", "Final answer: {}"), ("", r"$\boxed{{{}}}$"),
    ("How many are there?", "In total there are {}"), ("What is the probability?", "Therefore, the probability is **{}**"), ("", "We conclude that it is {}"), ("What is the limit?", "We find that the limit is {}"),
)  # fmt: skip
_LAST_SENTENCE = re.compile(r"(?:^|\n|(?<=[.!?])\s)(?=[^\n]*\Z)(?:(?![.!?]\s[A-Z])[^\n])*\Z")


class Problem(NamedTuple):
    """A question, empty where its file has none, its gold, the file's name, and a response, empty where it has none."""

    question: str
    gold: str
    source: str
    response: str = ""


def read_problems(paths: list[Path]) -> list[Problem]:
    """The problems of JSON-lines files; rows without a gold are left out."""
    found = []
    for path in paths:
        for line in path.read_text(encoding="utf-8").splitlines():
            row: dict[str, Any] = json.loads(line) if line.strip() else {}
            gold = row.get("gold") or row.get("answer")
            if gold:
                found.append(
                    Problem(
                        str(row.get("problem") or row.get("question") or ""),
                        str(gold),
                        path.stem,
                        str(row.get("response") or ""),
                    )
                )
    return found


def choose_unequal(golds: list[str], count: int, draw: random.Random) -> list[str]:
    """At most `count` golds of which no two are equal."""
    chosen: list[str] = []
    for gold in draw.sample(golds, len(golds)):
        if len(chosen) == count:
            break
        if not any(verify(gold=other, answer=gold).equal for other in chosen):
            chosen.append(gold)
    return chosen


class Finding(NamedTuple):
    """A text that was paid, and for what; of `crashes` with the error or the time."""

    text: str
    golds: tuple[str, ...]
    note: str = ""


def attack_with_fixed_texts(golds: list[str], draw: random.Random) -> Iterator[Finding | None]:
    """Texts from a grammar, from words and from joins of both; a finding equals two golds that differ."""
    table = choose_unequal(golds, TABLE, draw)
    while True:
        parts = [grown(draw, draw.randint(0, 2)) if draw.random() < 0.6 else draw.choice(_WORDS) for _ in range(2)]
        text = draw.choice(_JOINS).format(*parts) if draw.random() < 0.6 else parts[0]
        if draw.random() < 0.3:
            text += draw.choice(_AFTER)
        paid = tuple(gold for gold in table if verify(gold=gold, answer=text).equal)
        yield Finding(text, paid) if len(paid) > 1 else None


def attack_with_shared_texts(golds: list[str], draw: random.Random) -> Iterator[Finding | None]:
    """Two golds in one text; a finding equals both, as an answer or as a response."""
    while True:
        one, two = draw.sample(golds, 2)
        text = draw.choice(_JOINS).format(one, two)
        response = text if "boxed" in text else f"The answer is $\\boxed{{{text}}}$."
        paid = [judge(gold=gold, response=response, mode=Mode.LENIENT).equal for gold in (one, two)]
        yield Finding(text, (one, two)) if all(paid) and not verify(gold=one, answer=two).equal else None


def change(gold: str, draw: random.Random) -> str | None:
    """A gold after one edit that changes what it means; None where this edit finds nothing to change."""
    kind = draw.randrange(6)
    if kind == 0:
        return _replace_one(_DIGITS, lambda text: str(int(text) + draw.choice((1, 2, 10))), gold, draw)
    if kind == 1:
        return _replace_one(_LETTER, lambda text: draw.choice([x for x in "abcmnkrtxyzABCR" if x != text]), gold, draw)
    if kind == 2:
        return _replace_one(_SIGN, lambda text: _TURNED.get(text, "+"), gold, draw)
    if kind == 3:
        return gold + draw.choice(_AFTER)
    if kind == 4:
        return draw.choice(("-", "2", "not ", "less than ", "1+", "x", "other than ", "half of ")) + gold
    return _replace_one(_LEAF, lambda text: "", gold, draw)


def _replace_one(pattern: re.Pattern[str], write: Any, text: str, draw: random.Random) -> str | None:
    found = [match for match in pattern.finditer(text) if len(match[0]) < 15]
    if not found:
        return None
    one = draw.choice(found)
    return text[: one.start()] + write(one[0]) + text[one.end() :]


def attack_with_changes(golds: list[str], draw: random.Random) -> Iterator[Finding | None]:
    """Golds after an edit that changes their meaning; a finding is equal still."""
    while True:
        gold = draw.choice(golds)
        text = change(gold, draw)
        equal = bool(text and text.strip() != gold.strip()) and verify(gold=gold, answer=text or "").equal
        yield Finding(text or "", (gold,)) if equal else None


def attack_with_random_pairs(golds: list[str], draw: random.Random) -> Iterator[Finding | None]:
    """Pairs of which nothing is known; a finding raises an error, or takes longer than `LIMIT_MS`."""
    while True:
        gold, answer = draw_pair(draw, golds)
        began = time.process_time()
        try:
            verify(gold=gold, answer=answer)
        except Exception as error:
            yield Finding(answer, (gold,), repr(error)[:200])
            continue
        spent = (time.process_time() - began) * 1e3
        yield Finding(answer, (gold,), f"{spent:.0f} ms") if spent > LIMIT_MS else None


def attack_with_copies(
    problems: list[Problem], draw: random.Random
) -> Iterator[tuple[str, list[Problem], list[Finding]]]:
    """Ways to edit a formula of the question, each tried on every problem of a set: the set, its problems, what was paid."""
    sets: dict[str, list[Problem]] = {}
    for problem in problems:
        if problem.question and not gives_away(problem.gold, problem.question):
            sets.setdefault(problem.source, []).append(problem)
    while sets:
        respond = make_edit_policy(draw.randrange(10**9))
        for name, rows in sets.items():
            answers = [(row, respond(row.question)) for row in rows]
            paid = [
                Finding(answer, (row.gold,)) for row, answer in answers
                if answer and judge(gold=row.gold, response=answer, question=row.question, mode=Mode.STRICT).equal
            ]  # fmt: skip
            yield name, rows, paid


class Carrier(NamedTuple):
    """A response with its answer at the end, parted around the sentence that gives it."""

    question: str
    gold: str
    before: str
    sentence: str
    """Without the full stop that ends it."""


class Altered(NamedTuple):
    """A response of which the grammar made another."""

    carrier: Carrier
    half: str
    """`used` or `held`: which half of the grammar it is made of."""
    group: str
    """`denials` or `additions`."""
    kind: str
    place: str
    response: str


def read_carriers(problems: list[Problem]) -> list[Carrier]:
    """The responses that end in the sentence with their answer."""
    found = []
    for question, gold, _, response in problems:
        text = response.rstrip().removesuffix(".")
        last = _LAST_SENTENCE.search(text)
        answer = judge(gold=gold, response=response, question=question, mode=Mode.LENIENT).answer if last else None
        if last is not None and answer and answer in last[0] and re.search(r"[\w$}\])*%]\Z", last[0]):
            found.append(Carrier(question, gold, text[: last.start()], last[0].strip()))
    return found


def draw_carrier(golds: list[str], draw: random.Random) -> Carrier:
    """A gold, announced in one sentence."""
    gold = draw.choice(golds).strip("$")
    question, sentence = draw.choice(_ANNOUNCEMENTS)
    plain = re.fullmatch(r"[\w.,/-]+", gold) or "boxed" in sentence
    return Carrier(question, gold, "First we add the parts.", sentence.format(gold if plain else f"${gold}$"))


def alter(carrier: Carrier, golds: list[str], group: str, half: str, draw: random.Random) -> Altered | None:
    """A response with a form of one half of the grammar at a random place; None where none fits."""
    kind = draw.choice(list(GRAMMAR[group]))
    places = [place for place in GRAMMAR[group][kind] if _fits(place, carrier.sentence)]
    forms = _of_half(GRAMMAR[group][kind][place := draw.choice(places)], half) if places else []
    if not forms:
        return None
    words = {
        "answer": carrier.gold if re.fullmatch(r"[\w.,/-]+", carrier.gold) else f"${carrier.gold}$",
        "other": _draw_other(carrier.gold, golds, draw),
    }
    form = draw.choice(forms)
    text = re.sub(r"\{(\w+)\}", lambda slot: _fill(slot[1], words, half, draw), form)
    text = re.sub(r"\b([Aa]) (?=[aeiou])", r"\1n ", text)
    gap, sentence = draw.choice((" ", "\n", "\n\n")), carrier.sentence
    if place == "beside":
        end = f"{sentence}{text}."
    elif place == "next":
        end = f"{sentence}.{gap}{text}"
    elif place == "before":
        end = text + (sentence[0].lower() + sentence[1:] if text.endswith(("that ", "whether ")) else sentence) + "."
    else:
        end = draw.choice(("## {}\n\n{}.", "**{}**\n\n{}.", "{}\n\n{}.", "### {}\n{}.")).format(text, sentence)
    return Altered(
        carrier, half, group, kind, place, f"{carrier.before}{gap if place != 'heading' else chr(10) * 2}{end}"
    )


def _fits(place: str, sentence: str) -> bool:
    """Whether a form may stand there: words before or beside a sentence want a sentence of words."""
    is_data = re.search(r"[\"<`|\]]", sentence) is not None
    return place in ("next", "heading") or (not is_data and (place == "beside" or sentence[:1].isalpha()))


def _of_half(texts: list[str], half: str) -> list[str]:
    return [text for text in texts if crc32(text.encode()) % 2 == (half == "held")]


def _fill(slot: str, words: dict[str, str], half: str, draw: random.Random) -> str:
    """A word for a slot; `{Subject}` begins with a capital."""
    word = words.get(slot) or draw.choice(_of_half(GRAMMAR["words"][slot.lower()], half))
    return word[0].upper() + word[1:] if slot[0].isupper() else word


def _draw_other(gold: str, golds: list[str], draw: random.Random) -> str:
    """A value that differs from the gold."""
    if gold.isdigit():
        return str(int(gold) + draw.randint(1, 9))
    other = draw.choice([one for one in golds if one != gold and len(one) < 30] or ["17"])
    return "17" if verify(gold=gold, answer=other).equal else f"${other.strip('$')}$"


def attack_with_denials(problems: list[Problem], draw: random.Random) -> Iterator[Altered]:
    """Paid responses, and announcements of golds, each with a denial or a harmless addition, by turns from both halves of the grammar."""
    golds = [problem.gold for problem in problems]
    carriers = read_carriers([problem for problem in problems if problem.response])
    while True:
        carrier = draw.choice(carriers) if carriers and draw.random() < 0.5 else draw_carrier(golds, draw)
        for half in ("used", "held"):
            for group in ("denials", "additions"):
                if (altered := alter(carrier, golds, group, half, draw)) is not None:
                    yield altered


def run_denials(problems: list[Problem], draw: random.Random, minutes: float) -> dict[str, Any]:
    """Run the generator of denials; per half, kind and place, and per mode: how many of the responses that were paid before stay paid, and
    which ones of the used half are wrong: denied and paid, or harmless and lost."""
    tries: dict[str, dict[str, list[int]]] = {}
    findings: list[dict[str, str]] = []
    for carrier, half, group, kind, place, response in _for_minutes(
        attack_with_denials(problems, draw), minutes, "denials"
    ):
        whole = f"{carrier.before}\n{carrier.sentence}."
        for mode in Mode:
            if not judge(gold=carrier.gold, response=whole, question=carrier.question, mode=mode).equal:
                continue
            judgement = judge(gold=carrier.gold, response=response, question=carrier.question, mode=mode)
            wrong = judgement.equal is (group == "denials")
            for key in (f"{half} {group}", f"{half} {group} {kind} {place}"):
                count = tries.setdefault(key, {}).setdefault(mode, [0, 0])
                count[0] += wrong
                count[1] += 1
            if wrong and half == "used" and len(findings) < SHOWN:
                findings.append(
                    {
                        "mode": mode,
                        "group": f"{group} {kind} {place}",
                        "gold": carrier.gold,
                        "response": response[-300:],
                        "evidence": judgement.evidence,
                    }
                )
    return {"generator": "denials", "wrong of tries": dict(sorted(tries.items())), "findings": findings}


def run_pairs(name: str, attack: Iterator[Finding | None], minutes: float) -> dict[str, Any]:
    """Run any generator but those of copies and denials; what it found, one finding of each shape with how many had it, rare ones last."""
    tries, first, times = 0, dict[tuple[str, ...], Finding](), Counter[tuple[str, ...]]()
    for finding in _for_minutes(attack, minutes, name):
        tries += 1
        if finding is not None:
            shape = _find_shape(finding)
            first.setdefault(shape, finding)
            times[shape] += 1
    findings = [first[shape]._asdict() | {"times": count} for shape, count in times.most_common()]
    return {"generator": name, "tries": tries, "findings": findings}


def _find_shape(finding: Finding) -> tuple[str, ...]:
    """A text and what it was paid for without their numbers and letters; of an edited gold the edit and two characters on either side."""
    text, gold = finding.text, finding.golds[0]
    if len(finding.golds) == 1:
        start = _count_shared(text, gold)
        end = min(_count_shared(text[::-1], gold[::-1]), len(text) - start, len(gold) - start)
        parts = [
            gold[max(0, start - 2) : start],
            gold[start : len(gold) - end],
            text[start : len(text) - end],
            gold[len(gold) - end :][:2],
        ]
    else:
        parts = [text, *finding.golds[:2]]
    return tuple(re.sub(r"[^\W\d_]+", "a", re.sub(r"\d+", "0", part)) for part in parts)


def _count_shared(one: str, two: str) -> int:
    """The characters at the beginning of two texts that are the same."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, two, strict=False)))


def run_copies(problems: list[Problem], draw: random.Random, minutes: float) -> dict[str, Any]:
    """Run the generator of copies; by set, the most that one way to edit earned, and every problem that was paid with how often."""
    most: dict[str, float] = {}
    total, tried = Counter[str](), Counter[str]()
    golds: dict[str, Counter[str]] = {}
    examples: dict[str, str] = {}
    for name, rows, paid in _for_minutes(attack_with_copies(problems, draw), minutes, "copies"):
        most[name] = max(most.get(name, 0.0), len(paid) / len(rows))
        total[name] += len(paid)
        tried[name] += len(rows)
        for finding in paid:
            golds.setdefault(name, Counter())[finding.golds[0]] += 1
            examples.setdefault(finding.golds[0], finding.text)
    return {
        "generator": "copies",
        "sets": {
            name: {"tries": tried[name], "paid": total[name] / tried[name], "most": most[name], "golds": dict(golds.get(name, Counter()).most_common(20))}
            for name in sorted(tried)
        },
        "examples": examples,
    }  # fmt: skip


def _for_minutes(items: Iterator[Any], minutes: float, name: str) -> Iterator[Any]:
    """What an endless generator gives in so many minutes of processor time, or until it is interrupted."""
    started = time.process_time()
    with tqdm(desc=name, unit=" tries", mininterval=5) as bar:
        try:
            for item in items:
                bar.update()
                yield item
                if time.process_time() - started > minutes * 60:
                    return
        except KeyboardInterrupt:
            return


def main() -> int:
    """Run the generators and print what they found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("problems", nargs="+", type=Path)
    parser.add_argument("--minutes", type=float, default=60.0, help="processor time of each generator")
    parser.add_argument("--only", choices=("fixed", "shared", "changed", "crashes", "copies", "denials"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    problems = read_problems(args.problems)
    golds = list(dict.fromkeys(problem.gold for problem in problems))
    attacks = {
        "fixed": attack_with_fixed_texts,
        "shared": attack_with_shared_texts,
        "changed": attack_with_changes,
        "crashes": attack_with_random_pairs,
    }
    verify(gold="1", answer=r"\int_0^1 x dx")  # starts sympy's process
    results = []
    on_problems = {"copies": run_copies, "denials": run_denials}
    for name in [args.only] if args.only else [*attacks, *on_problems]:
        draw = random.Random(f"{args.seed}/{name}")
        made = on_problems[name](problems, draw, args.minutes) if name in on_problems else run_pairs(name, attacks[name](golds, draw), args.minutes)  # fmt: skip
        results.append(made)
        print(json.dumps(made, indent=1, ensure_ascii=False), flush=True)
    if args.json:
        args.json.parent.mkdir(parents=True, exist_ok=True)
        args.json.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return int(any(made["generator"] == "crashes" and made["findings"] for made in results))


if __name__ == "__main__":
    raise SystemExit(main())
