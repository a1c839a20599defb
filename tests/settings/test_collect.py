from typing import Any

import pytest
from pydantic import ValidationError

from compass.settings import Base, Collect, Pretrain, Source


@pytest.mark.parametrize(
    "place", [{"path": "a.jsonl"}, {"hub": "org/set", "revision": "main"}, {"hub": "org/set", "revision": "0123abc"}]
)
def test_a_source_is_a_path_or_a_hub_id_with_its_revision(place: dict[str, str]) -> None:
    assert Source(name="a", **place).name == "a"


@pytest.mark.parametrize(
    ("place", "told"),
    [
        ({}, "source 'a': give either `path` or `hub`"),
        ({"path": "a.jsonl", "hub": "org/set", "revision": "main"}, "source 'a': give either `path` or `hub`"),
        ({"hub": "org/set"}, "source 'a': `hub` needs a `revision`"),
    ],
)
def test_any_other_place_is_refused(place: dict[str, str], told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        Source(name="a", **place)


@pytest.mark.parametrize("kind", ["sources", "benchmarks"])
def test_a_name_is_used_once_among_sources_and_once_among_benchmarks(kind: str) -> None:
    one, two = ({"name": name, "path": "x"} for name in ("one", "two"))
    lists: dict[str, Any] = {"sources": [one, two], "benchmarks": [one, two]}
    assert [source.name for source in Collect(**lists).sources] == ["one", "two"]
    with pytest.raises(ValidationError, match="the name 'one' is used twice"):
        Collect(**{**lists, kind: [one, two, one]})


def test_the_base_is_brought_or_pretrained() -> None:
    assert Base(model="org/model").pretrain is None
    assert Base(pretrain=Pretrain()).model == ""
    for wrong in ({}, {"model": "org/model", "pretrain": Pretrain()}):
        with pytest.raises(ValidationError, match="not both and not neither"):
            Base(**wrong)
