"""What is said while sampling where nobody watches a terminal: a line now and then, and one at the end."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from compass.sampling import progress as module
from compass.sampling.progress import SamplingProgress


class Clock:
    def __init__(self):
        self.now = 100.0

    def monotonic(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(module, "time", clock)
    return clock


@pytest.fixture
def page():
    return io.StringIO()


def console(page, **options):
    return Console(file=page, width=200, **options)


def test_a_line_every_30_seconds_says_what_is_left_at_the_speed_so_far(clock, page):
    with SamplingProgress("rollouts", total=5000, done=1000, console=console(page)) as progress:
        clock.now += 29.9
        progress.advance(500, 60_000)
        assert page.getvalue() == ""
        clock.now += 0.1
        progress.advance(500, 60_000)
        assert page.getvalue() == "rollouts: 2,000 of 5,000 responses, 30 s, 90 s left, 4,000 tokens/s\n"
        clock.now += 29.9
        progress.advance(1, 0)
        assert page.getvalue().count("\n") == 1
    assert page.getvalue().splitlines()[1] == "rollouts: 2,001 of 5,000 responses, 60 s, 179 s left, 2,003 tokens/s"


def test_nothing_is_said_where_nothing_was_sampled_or_an_error_ended_it(clock, page):
    with SamplingProgress("rollouts", total=10, done=10, console=console(page)):
        pass
    progress = SamplingProgress("rollouts", total=9, console=console(page))
    progress.__enter__()
    progress.advance(3, 1)
    progress.__exit__(KeyboardInterrupt, None, None)
    assert page.getvalue() == ""


def test_a_terminal_has_a_bar_and_no_lines(clock, page):
    with SamplingProgress("rollouts", total=4, console=console(page, force_terminal=True)) as progress:
        clock.now += 60
        progress.advance(2, 600)
        assert progress.tokens_per_second == 10
    assert "2/4" in page.getvalue()
    assert "10 tokens/s" in page.getvalue()
    assert "responses" not in page.getvalue()
