"""The record of what a comparison leans on; `answer_pairs.jsonl` says which verdicts lean on what."""

from __future__ import annotations

import threading

from compass.verifier.verdict import Leniency, lean, list_leniencies, mark, rewind


def test_a_record_belongs_to_its_thread_and_can_go_back() -> None:
    rewind()
    lean(Leniency.UNIT)
    marked = mark()
    lean(Leniency.NAME)
    seen = []
    thread = threading.Thread(target=lambda: seen.append(mark()))
    thread.start()
    thread.join()
    assert seen == [0]
    assert list_leniencies(rewind(marked)) == (Leniency.UNIT, Leniency.NAME)
    assert list_leniencies(rewind()) == (Leniency.UNIT,)
    assert list_leniencies(mark()) == ()
