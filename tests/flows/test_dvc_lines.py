"""What happens to stages is read from DVC's own lines."""

from flows.dvc_lines import DvcLines, Event, last_words


def events(*lines: str) -> list[Event]:
    reader = DvcLines()
    return [event for line in lines for event in reader.read(line)]


def test_a_stage_that_runs() -> None:
    assert events(
        "Running stage 'base':", "> python -m stages.base", "base: done", "Updating lock file 'dvc.lock'"
    ) == [
        Event("begins", "base"),
        Event("line", "base", "> python -m stages.base"),
        Event("line", "base", "base: done"),
        Event("done", "base"),
    ]


def test_stages_that_do_not_run() -> None:
    said = events(
        "Stage 'collect' didn't change, skipping", "Stage 'dedup' is cached - skipping run, checking out outputs"
    )
    assert said == [Event("unchanged", "collect"), Event("restored", "dedup")]


def test_the_next_stage_ends_the_one_before() -> None:
    said = events("Running stage 'a':", "Running stage 'b':", "Stage 'c' didn't change, skipping")
    kinds = [(event.kind, event.stage) for event in said]
    assert kinds == [("begins", "a"), ("done", "a"), ("begins", "b"), ("done", "b"), ("unchanged", "c")]


def test_a_stage_that_fails() -> None:
    failure = "ERROR: failed to reproduce 'rl-1': failed to run: python -m stages.rl rl-1, exited with 1"
    assert events("Running stage 'rl-1':", "rl-1: no problems", failure)[1:] == [
        Event("line", "rl-1", "rl-1: no problems"),
        Event("line", "rl-1", failure),
        Event("failed", "rl-1"),
    ]
    # A stage that DVC cannot even begin is a stage that failed.
    kinds = [event.kind for event in events("ERROR: failed to reproduce 'base': missing data 'source'")]
    assert kinds == ["begins", "line", "failed"]


def test_lines_outside_of_stages_are_dvcs_own() -> None:
    assert events("To track the changes with git, run:") == [Event("line", None, "To track the changes with git, run:")]


def test_the_last_words_of_a_traceback_are_its_error_and_where_it_was() -> None:
    said = [
        "rl-1: begins",
        "Traceback (most recent call last):",
        '  File "a.py", line 1, in <module>',
        "    f()",
        '  File "b.py", line 9, in f',
        "    return 1 / 0",
        "ZeroDivisionError: division by zero",
        "ERROR: failed to reproduce 'rl-1': failed to run: python, exited with 1",
    ]
    assert last_words(said) == [
        '  File "b.py", line 9, in f',
        "    return 1 / 0",
        "ZeroDivisionError: division by zero",
    ]
    assert last_words(["x"] * 30 + ["rl-1: too few problems"], at_most=2) == ["x", "rl-1: too few problems"]


def test_the_last_words_of_a_stage_are_its_own_message_where_it_wrote_one() -> None:
    failure = "ERROR: failed to reproduce 'grade': failed to run: python, exited with 1"
    assert last_words(
        ["grade: begins", "a library's warning", "grade: no problems", "  look at x", failure], "grade"
    ) == [
        "grade: no problems",
        "  look at x",
    ]
    assert last_words(["ERROR: failed to reproduce 'base': missing data 'source'"], "base") == [
        "ERROR: failed to reproduce 'base': missing data 'source'"
    ]
