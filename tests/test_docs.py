"""What README.md and docs/ promise exists: files, links, commands with their flags, settings, answers that are equal."""

import contextlib
import filecmp
import importlib.util
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import pytest
import yaml
from cyclopts import MissingArgumentError

import compass
from compass.cli import COMMANDS, build_app
from compass.report.study import compare_runs
from compass.settings import load_settings
from compass.studies.study import read_study
from compass.verifier import verify
from flows.overrides import compare_files
from flows.studies import find_done, plan_runs, read_runs

if TYPE_CHECKING:
    from playwright.sync_api import Page

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "benchmarks").glob("*.md"))]
TEXT = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in PAGES}
FILES = "compass|stages|flows|tests|benchmarks|docs|profiles|requirements"
INVENTED = re.compile(r"NAME|mine\.yaml|opinion\.py")
"""Parts of paths that a page only invents."""


def import_script(path: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(Path(path).stem, ROOT / path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def made_pages() -> dict[str, str]:
    """The pages of the site that are made from the code."""
    module = import_script("docs/site_pages.py")
    return {f"reference/{name}.md": getattr(module, f"{name}_page")() for name in ("commands", "settings", "api")}


MADE = made_pages()


def lines_of_code(text: str) -> list[str]:
    """Indented and fenced lines of a page, without comments."""
    text = re.sub(r" \\\n\s*", " ", text)  # a command over several lines
    fenced = re.findall(r"^```\w*\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    indented = re.findall(r"^(?: {4}|\t)(.+)$", text, re.MULTILINE)
    return [line.split("  #")[0].strip() for line in [*"\n".join(fenced).splitlines(), *indented]]


def commands(word: str) -> list[tuple[str, str]]:
    """(page, command line) of every command that starts with `word`, in code lines and between backticks."""
    found = []
    for page, text in TEXT.items():
        quoted = re.findall(r"`([^`\n]+)`", text)
        for line in [*lines_of_code(text), *quoted]:
            for part in re.split(r"\s*(?:&&|;)\s*", line):
                if re.match(rf"(?:\w+=\S+ )*{word} \S", part):
                    found.append((page, part[part.index(word) :]))
    return found


@pytest.mark.parametrize("page", TEXT)
def test_every_relative_link_leads_to_a_file_and_a_heading(page: str) -> None:
    targets = re.findall(r"\]\((?!https?:)([^)\s]+)\)", TEXT[page])
    for target in targets:
        name, _, heading = target.partition("#")
        path = ((ROOT / page).parent / name).resolve() if name else ROOT / page
        made = MADE.get(os.path.relpath(path, ROOT / "docs"))
        assert made or path.exists(), f"{page}: no file {target}"
        if heading:
            text = made or path.read_text(encoding="utf-8")
            titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
            slugs = {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}
            assert heading in slugs, f"{page}: no heading {target}"


LONGEST_LINE = 120
"""Characters of a line of Markdown; a row of a table cannot break and may be longer."""

TEN_MINUTES = 2000
"""Words that a reader who also tries the commands gets through."""

SEVERAL_TASKS = "docs/guides/changing.md"
"""Has a task under each heading, to be read alone."""


def test_no_line_of_markdown_is_longer_than_the_code_s() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "*.md"], cwd=ROOT, capture_output=True, text=True
    )
    long = [
        f"{path}:{number}: {len(line)} characters"
        for path in listed.stdout.split()
        if (ROOT / path).exists()
        for number, line in enumerate((ROOT / path).read_text(encoding="utf-8").splitlines(), start=1)
        if len(line) > LONGEST_LINE and not line.lstrip().startswith("|")
    ]
    assert listed.stdout
    assert not long


@pytest.mark.parametrize("page", [page for page in TEXT if page.startswith("docs/guides/")])
def test_a_guide_takes_no_longer_than_ten_minutes(page: str) -> None:
    parts = TEXT[page].split("\n## ") if page == SEVERAL_TASKS else [TEXT[page]]
    assert all(len(part.split()) <= TEN_MINUTES for part in parts)


@pytest.mark.parametrize("page", [*TEXT, ".dvcignore", ".gitignore", "Dockerfile", "Makefile", "pyproject.toml"])
def test_every_path_in_backticks_exists(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    named = re.findall(rf"`((?:{FILES})/[\w./-]*|[\w-]+\.(?:toml|yaml)|Makefile|Dockerfile)`", text)
    missing = [name for name in named if not INVENTED.search(name) and not (ROOT / name).exists()]
    assert not missing, f"{page}: {missing}"


def test_every_module_that_pages_run_exists() -> None:
    for page, line in commands("python"):
        words = shlex.split(line)
        path = words[2].replace(".", "/") + ".py" if words[1] == "-m" else words[1]
        if words[1] == "-m" and words[2] == "pytest":
            path = words[3].partition("::")[0]
        assert (ROOT / path).exists(), f"{page}: {line}"


@pytest.mark.parametrize(("page", "line"), commands("compass"))
def test_every_compass_command_and_option_exists(page: str, line: str) -> None:
    """Those in running text as well, where a value may be left out (`compass curate --out`)."""
    words = shlex.split(line.replace("…", "x").replace("...", "x"))
    if words[1] in ("--help", "COMMAND"):
        return
    assert words[1] in COMMANDS, f"{page}: {line}"
    if len(words) > 2:
        with contextlib.suppress(MissingArgumentError):
            build_app(words[1]).parse_args(words[1:], exit_on_error=False, print_error=False)


def test_the_commands_that_the_readme_lists_exist() -> None:
    """A choice of them: the reference, which is made from the commands, has all."""
    section = TEXT["README.md"].split("## The `compass` command")[1].split("\n## ")[0]
    rows = [line.split(" | ")[0] for line in section.splitlines() if line.startswith("| `")]
    assert set(re.findall(r"`(.+?)`", " ".join(rows))) <= set(COMMANDS)


@pytest.mark.parametrize(("page", "line"), commands("make"))
def test_every_make_rule_exists(page: str, line: str) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    rules = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    asked = [word for word in shlex.split(line)[1:] if "=" not in word and not word.startswith("-")]
    assert set(asked) <= rules, f"{page}: {line}"


def settings_keys() -> list[tuple[str, str]]:
    """(page, key) of every `-S key=value`."""
    return [(page, key) for page, text in TEXT.items() for key in re.findall(r"-S ([\w.-]+)=", text)]


@pytest.mark.parametrize(("page", "key"), settings_keys())
def test_every_setting_that_a_command_changes_is_in_the_parameters(page: str, key: str) -> None:
    values = yaml.safe_load((ROOT / "params.yaml").read_text(encoding="utf-8"))
    for word in key.split("."):
        assert word in values, f"{page}: -S {key}"
        values = values[word]


def merged(old: object, new: object) -> object:
    """`new` laid over `old`, dictionaries key by key; `collect` and `base` are replaced whole."""
    if not isinstance(old, dict) or not isinstance(new, dict):
        return new
    return {**old, **{key: merged(old.get(key), value) for key, value in new.items()}}


def test_the_profile_of_the_page_on_own_data_is_valid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = re.findall(r"^```yaml\n(.*?)^```", TEXT["docs/guides/own_data.md"], re.MULTILINE | re.DOTALL)
    collect, sizes, base = (yaml.safe_load(block) for block in blocks)
    tiny = yaml.safe_load((ROOT / "profiles/tiny.yaml").read_text(encoding="utf-8"))
    small = yaml.safe_load((ROOT / "profiles/small.yaml").read_text(encoding="utf-8"))
    monkeypatch.setenv("COMPASS_MODEL", "model")
    for name, values in (("mine", {**merged(tiny, sizes), **collect}), ("real", {**small, **collect, **base})):
        path = tmp_path / f"{name}.yaml"
        path.write_text(yaml.safe_dump(values), encoding="utf-8")
        assert load_settings(path).collect.sources[0].name == "mine"
    assert {key.split(".")[0] for key, _, _ in compare_files(ROOT / "profiles/tiny.yaml", tmp_path / "mine.yaml")} == {
        "collect",
        *sizes,
    }


def answers() -> list[tuple[str, bool, str]]:
    """(gold, whether they are equal, answer) of every example in docs/reference/verifier.md."""
    text = TEXT["docs/reference/verifier.md"]
    rules = re.findall(r"`([^`\n]+)`\s([=≠])\s+(?=`([^`\n]+)`)", text)
    table = re.findall(r"^\| `([^`]+)` \| (.*?) \| (accepted|refused) \|", text, re.MULTILINE)
    judged = [(gold, here == "accepted", one) for gold, many, here in table for one in re.findall(r"`([^`]+)`", many)]
    return [*((gold, sign == "=", answer) for gold, sign, answer in rules), *judged]


@pytest.mark.parametrize(("gold", "equal", "answer"), answers())
def test_the_verifier_decides_as_its_page_says(gold: str, equal: bool, answer: str) -> None:
    assert verify(gold=gold, answer=answer).equal == equal


def test_the_readme_shows_every_stage() -> None:
    stages = list(yaml.safe_load((ROOT / "dvc.yaml").read_text(encoding="utf-8"))["stages"])
    picture = (ROOT / "docs/images/stages.svg").read_text(encoding="utf-8")
    for stage in stages:
        assert re.search(rf"\b{stage}\b", TEXT["README.md"]) or stage.startswith("rl-"), stage
        assert f">{stage}</text>" in picture, f"{stage}: run docs/figures.py"


def test_pictures_show_what_the_pages_say(tmp_path: Path) -> None:
    figures = import_script("docs/figures.py")
    for name in ("stages", "accuracy", "studies"):
        getattr(figures, f"draw_{name}")(tmp_path / f"{name}.svg")
        assert filecmp.cmp(tmp_path / f"{name}.svg", ROOT / f"docs/images/{name}.svg", shallow=False), (
            f"{name}.svg: run docs/figures.py"
        )


def test_the_table_of_studies_says_what_their_results_hold() -> None:
    table = import_script("docs/figures.py").study_differences(TEXT["docs/measurements/studies.md"])
    verdicts = {"too few seeds": "cannot be told apart", "cannot tell": "cannot be told apart"}
    for path in sorted((ROOT / "studies/results").glob("*.json")):
        study = read_study(path.stem, ROOT)
        done = find_done(plan_runs(path.stem, study, ROOT), read_runs(path.stem, ROOT))
        if any(result is None or result["failed"] for _, result in done):
            assert path.stem not in table, "not all of its runs are done"
            continue
        found = compare_runs(study, [(one.arm, one.seed, result) for one, result in done])
        for (_, *numbers, verdict), one in zip(table.pop(path.stem), found, strict=True):
            assert numbers == pytest.approx([100 * one.mean, *(100 * edge for edge in one.interval)], abs=0.0501), (
                one.arm
            )
            assert verdict == verdicts.get(one.verdict, one.verdict), one.arm
    assert not table, "studies without results"


def test_the_reference_has_every_command_and_every_setting() -> None:
    for name in COMMANDS:
        assert f"## `compass {name}`" in MADE["reference/commands.md"]
    values = yaml.safe_load((ROOT / "profiles/paper.yaml").read_text(encoding="utf-8"))

    def keys(values: dict, prefix: str) -> list[str]:
        return [
            name
            for key, value in values.items()
            for name in (keys(value, f"{prefix}{key}.") if isinstance(value, dict) and value else [prefix + key])
        ]

    for section in ("denoise", "dedup", "verify", "report"):
        for key in keys(values.get(section) or {}, f"{section}."):
            assert f"| `{key}` |" in MADE["reference/settings.md"], key
    for key in ("rl.loss.clip_high", "rl.guards.loops.limit", "evaluate.sampling.max_tokens", "base.pretrain.skill"):
        assert f"| `{key}` |" in MADE["reference/settings.md"], key


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The documentation, built as `make docs` builds it."""
    folder = tmp_path_factory.mktemp("docs") / "site"
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return folder


def test_the_site_asks_no_other_server(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) > 25
    loads = re.compile(
        r"""<(?:script|img|iframe|source)[^>]+src=["']?(?:https?:)?//|<link(?![^>]*canonical)[^>]+href=["']?(?:https?:)?//"""
    )
    for page in pages:
        assert not loads.search(page.read_text(encoding="utf-8")), page


def test_search_finds_a_page_from_the_disk(site: Path, look: Callable[..., "Page"]) -> None:
    page = look(site / "reference/settings.html")
    page.locator("input.md-search__input").press_sequentially("own reward")
    found = page.locator(".md-search-result__item h1")
    found.first.wait_for()
    assert found.first.inner_text() == "Your own reward"


def test_the_python_reference_has_every_name_with_its_arguments() -> None:
    text = MADE["reference/api.md"]
    for name in compass.__all__:
        assert f"## `compass.{name}`" in text
    assert "- `problem_field`: the field of the problem; guessed without it, as the next two." in text
    assert "    problem_field: str = ''," in text
    assert "- `UserError`: an argument, a parameter file" in text
    assert "- `warnings`: What to know about how the answers were read; empty where all is well." in text
