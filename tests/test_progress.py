import time

from compass.progress import Step, listening, report, report_phase, reported


class Ear:
    def __init__(self) -> None:
        self.heard: list[Step] = []

    def hear(self, step: Step) -> None:
        self.heard.append(step)


def test_what_is_told_is_heard_inside_the_block_alone() -> None:
    ear = Ear()
    report(1, 2, "rows", "reading")
    with listening(ear):
        report(3, 4, "rows", "reading", detail="fast", shown=True)
        report_phase("writing")
    report(5, 6)
    assert ear.heard == [Step(3, 4, "rows", "reading", "fast", True), Step(phase="writing")]


def test_items_are_counted_when_the_next_one_is_asked_for() -> None:
    ear = Ear()
    with listening(ear):
        assert list(reported("ab", total=2, unit="letters", phase="spelling")) == ["a", "b"]
    assert [step.done for step in ear.heard] == [0, 1, 2]
    assert list(reported("ab", total=2, unit="letters", phase="spelling")) == ["a", "b"]
    assert len(ear.heard) == 3


def test_telling_costs_nothing_beside_the_work() -> None:
    began = time.perf_counter()
    with listening(Ear()):
        for number in range(10_000):
            report(number, 10_000, "rows", "reading")
    assert time.perf_counter() - began < 0.5  # 50 microseconds each: a row takes longer to parse
