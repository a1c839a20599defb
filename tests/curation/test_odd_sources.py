from __future__ import annotations

import pytest

from compass.curation.odd_sources import OddSources
from compass.ledger import Drop, Reason, split
from compass.records import table
from compass.settings.denoise import NoiseReason


def warnings(drops: list[tuple[str, str, Drop | None]], share: float = 0.2) -> list[str]:
    """The warnings about rows of one source, given as (problem, gold, drop)."""
    rows = [{"id": str(n), "source": "shop", "problem": p, "answer": a} for n, (p, a, _) in enumerate(drops)]
    pieces = [split(table(rows), [drop for *_, drop in drops], "verify")]
    odd = OddSources("verify", share)
    assert list(odd.watch(pieces)) == pieces
    assert odd.metrics() == ({"warnings": odd.warnings()} if odd.warnings() else {})
    return odd.warnings()


GOOD = ("How many?", "7", None)


def lost(problem: str, gold: str, reason: str, **evidence) -> tuple[str, str, Drop]:
    return problem, gold, Drop(reason, evidence)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        # a fifth is not more than a fifth; few rows say nothing
        ([lost("", "", Reason.EMPTY_PROBLEM)] * 12 + [GOOD] * 48, None),
        ([lost("", "", Reason.EMPTY_PROBLEM)] * 9, None),
        ([lost("", "", Reason.EMPTY_PROBLEM)] * 13 + [GOOD] * 47, "empty_problem takes 13 of 60 rows (22%); name the fields"),
        # golds of one form count together, whatever their numbers and words
        (
            [lost("?", f"{n} (red pens)", Reason.UNREADABLE_GOLD) for n in range(11)]
            + [lost("?", "a, b", Reason.UNREADABLE_GOLD)],
            "unreadable_gold takes 12 of 12 rows (100%), 11 of them like '0 (red pens)'; write these golds",
        ),
        (
            [lost("In the figure, x.", "1", NoiseReason.FIGURE, span=[0, 13])] * 20,
            "20 of them like 'In the figure'; `denoise.skip_reasons: [figure]`",
        ),
        ([lost("Quanto?", "1", NoiseReason.LANGUAGE, language="it")] * 20, "like 'it'; `denoise.languages: "),
        ([lost("?", "1", Reason.LICENCE)] * 20, "licence takes 20 of 20 rows (100%); `collect.allow_licences` names"),
        ([lost("?", "1", Reason.DUPLICATE_ID)] * 20, "duplicate_id takes 20 of 20 rows (100%); `compass ledger"),
        ([lost("?", "1", "my_reason")] * 20, "(100%); a filter that `denoise.filters` names gives this reason; `compass"),
        ([lost("?", "1", Reason.EXACT_DUPLICATE, twin_source="best")] * 20, "20 of them like 'best'; expected"),
    ],
)  # fmt: skip
def test_a_reason_that_takes_much_of_a_source_is_a_warning_with_its_form_and_a_remedy(rows, said, capsys):
    found = warnings(rows)
    if said is None:
        assert found == []
    else:
        assert len(found) == 1
        assert said in found[0]
        assert found[0].endswith("--source shop --sample 5` shows some (with `--data OUT` after `compass curate`)")
        assert capsys.readouterr().out == f"verify: warning: {found[0]}\n"


def test_the_share_is_a_setting():
    rows = [lost("?", "1", NoiseReason.PROOF)] * 12 + [GOOD] * 8
    assert warnings(rows, share=0.6) == []
    assert len(warnings(rows, share=0.5)) == 1
