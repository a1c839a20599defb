"""docs/reference/estimators.md: every estimator has its line and a snippet that can be pasted, and each snippet is one that verl accepts."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml

from compass.settings import Settings
from compass.settings.advantage import GROUP_BASED, OTHER_NAMES, Advantage
from compass.settings.recipe import Loss

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/reference/estimators.md").read_text(encoding="utf-8")
SNIPPETS = re.findall(r"^#+ (.+?)$|```yaml\n(.*?)```", PAGE, re.MULTILINE | re.DOTALL)
ESTIMATORS = get_args(Advantage.model_fields["estimator"].annotation)


def pasted(profile: str, snippet: dict[str, Any]) -> Settings:
    """A profile with a snippet's values in the place of its own."""
    tree = yaml.safe_load((ROOT / f"profiles/{profile}.yaml").read_text())
    for group, values in snippet["rl"].items():
        tree["rl"][group] = tree["rl"][group] | values
    return Settings.model_validate(tree)


def snippets() -> list[Any]:
    """Each snippet of the page, named by its section and its place there."""
    found, section, place = [], "", 0
    for heading, text in SNIPPETS:
        section, place = (heading, 0) if heading else (section, place + 1)
        if text:
            found.append(pytest.param(yaml.safe_load(text), id=f"{section} {place}"))
    return found


@pytest.mark.parametrize("profile", ["tiny", "paper"])
@pytest.mark.parametrize("snippet", snippets())
def test_a_snippet_can_be_pasted(snippet: dict[str, Any], profile: str, accepted: Callable[..., Any]) -> None:
    stage = pasted(profile, snippet).rl.stages["rl-1"]
    accepted("rl-1", stage)
    for group, values in snippet["rl"].items():
        assert values.items() <= getattr(stage, group).model_dump().items()


def test_every_estimator_has_a_snippet_and_a_line_that_says_whether_it_needs_groups() -> None:
    shown = {snippet.values[0]["rl"].get("advantage", {}).get("estimator") for snippet in snippets()}
    assert shown >= set(ESTIMATORS)
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in PAGE.splitlines() if "](#" in line]
    lines = {row[1].strip("`"): (row[3], row[4]) for row in cells if len(row) == 6}
    assert lines == {name: ("yes", "yes") if name in GROUP_BASED else ("no", "refused") for name in ESTIMATORS}
    assert not set(OTHER_NAMES) & set(ESTIMATORS)


@pytest.mark.parametrize("name", get_args(Loss.model_fields["aggregation"].annotation))
def test_every_aggregation_has_a_line(name: str) -> None:
    assert f"\n| `{name}` |" in PAGE


@pytest.mark.parametrize("name", get_args(Loss.model_fields["kl_estimator"].annotation))
def test_every_estimator_of_kl_is_told(name: str) -> None:
    assert f"`{name}`" in PAGE
