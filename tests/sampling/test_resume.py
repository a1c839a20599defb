import itertools
import json
import shutil
import time
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from compass.progress import Step, send_reports
from compass.sampling import resume
from compass.sampling.model_source import Model, SamplingError, find_model
from compass.sampling.response import PROMPT_TOO_LONG, UNFINISHED, Response
from compass.sampling.resume import sample_responses, stream_responses
from compass.settings import Sampling

PROBLEMS = {f"p{number}": f"What is {number} + 1?" for number in range(10)}
SAMPLING = Sampling()


@pytest.fixture
def model(tmp_path) -> Model:
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    (folder / "model.safetensors").write_bytes(b"weights")
    return find_model(str(folder))


class Echo:
    """An engine that echoes and notes what it was asked; of every response it first gives a beginning, and it dies after `dies_after`."""

    def __init__(self, dies_after: int = -1) -> None:
        self.opened = 0
        self.asked: list = []
        self.left = dies_after

    def __call__(self, model, sampling):
        self.opened += 1
        return self

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def sample(self, wanted, *, seed):
        for one in wanted:
            self.asked.append(one)
            if not one.begun:
                yield self._spend(Response(one, 2, UNFINISHED, "", (7, 8)))
            yield self._spend(Response(one, 3, "stop", f"{seed} {one.problem}"))

    def _spend(self, response):
        if self.left == 0:
            raise KeyboardInterrupt
        self.left -= 1
        return response

    @property
    def keys(self):
        return [(one.id, one.sample, one.greedy) for one in self.asked]


def sample(model, folder, engine, problems=PROBLEMS, **changes):
    options = {"sampling": SAMPLING, "n": 2, "greedy": True, "seed": 0} | changes
    return sample_responses(problems, model=model, folder=folder, open_engine=engine, **options)


def texts(found):
    return found.drop_columns("seconds")


def test_responses_come_in_the_order_of_the_problems(model, tmp_path):
    found = sample(model, tmp_path / "work", Echo())
    assert found.column("id").to_pylist() == [name for name in PROBLEMS for _ in range(3)]
    assert found.column("sample").to_pylist() == [0, 1, 0] * 10
    assert found.column("greedy").to_pylist() == [False, False, True] * 10


def test_a_stopped_run_goes_on_with_the_beginnings_and_samples_nothing_again(model, tmp_path):
    stopped, second = Echo(dies_after=11), Echo()
    with pytest.raises(KeyboardInterrupt):
        sample(model, tmp_path / "work", stopped)
    found = sample(model, tmp_path / "work", second)
    # Five are finished, and of the sixth there is a beginning; greedy responses come last.
    everything = [(name, number, False) for name in PROBLEMS for number in range(2)]
    assert second.keys == everything[5:] + [(name, 0, True) for name in PROBLEMS]
    assert [one.begun for one in second.asked] == [(7, 8)] + [()] * 24
    assert texts(found).equals(texts(sample(model, tmp_path / "other", Echo())))


def test_responses_are_reported_as_they_end_those_of_a_stopped_run_included(model, tmp_path, monkeypatch):
    with pytest.raises(KeyboardInterrupt):
        sample(model, tmp_path / "work", Echo(dies_after=11))
    monkeypatch.setattr(resume, "time", SimpleNamespace(monotonic=itertools.count().__next__))
    steps = []
    with send_reports(steps.append):
        sample(model, tmp_path / "work", Echo(), what="rollouts")
    assert steps[:2] == [Step(phase="rollouts: starting the engine"), Step(5, 30, "responses", "rollouts")]
    assert [step.done for step in steps[2:5]] == [6, 6, 7]  # a begun response ends, the next begins and ends
    assert (steps[-1].done, steps[-1].total) == (30, 30)
    assert steps[2].detail == "1 tokens/s"


def test_whole_problems_are_handed_on_in_their_order_while_others_are_sampled(model, tmp_path, monkeypatch):
    monkeypatch.setattr(resume, "FLUSH_BYTES", 1)
    monkeypatch.setattr(resume, "PIECE_BYTES", 2_000)
    options = {"model": model, "sampling": SAMPLING, "n": 2, "seed": 0, "folder": tmp_path / "work"}
    engine = Echo()
    asked = []
    pieces = []
    for piece in stream_responses(PROBLEMS, open_engine=engine, **options):
        asked.append(len(engine.asked))
        pieces.append(piece.column("id").to_pylist())
    assert pieces == [[f"p{number}"] * 2 + [f"p{number + 1}"] * 2 for number in range(0, 10, 2)]
    assert asked == [4, 8, 12, 16, 20]
    assert [piece.column("id").to_pylist() for piece in stream_responses(PROBLEMS, **options)] == pieces


def test_only_what_is_handed_on_is_read_and_never_the_wanted_as_a_whole(model, tmp_path, monkeypatch):
    monkeypatch.setattr(resume, "FLUSH_BYTES", 1)
    engine = Echo()
    pieces = stream_responses(
        PROBLEMS, model=model, sampling=SAMPLING, n=1, seed=0, folder=tmp_path / "work", open_engine=engine
    )
    monkeypatch.setattr(resume, "PIECE_BYTES", 1)
    next(pieces)
    assert engine.keys == [("p0", 0, False)]
    pieces.close()


def test_a_finished_run_starts_no_engine(model, tmp_path):
    engine = Echo()
    first = sample(model, tmp_path / "work", Echo())
    assert sample(model, tmp_path / "work", engine).equals(first)
    assert engine.opened == 0


def test_more_samples_more_problems_and_a_greedy_response_are_added(model, tmp_path):
    few = {name: PROBLEMS[name] for name in ("p3", "p7")}
    sample(model, tmp_path / "work", Echo(), problems=few, greedy=False)
    engine = Echo()
    sample(model, tmp_path / "work", engine, problems=few, n=3)
    assert engine.keys == [(name, *kind) for kind in ((2, False), (0, True)) for name in few]
    engine = Echo()
    sample(model, tmp_path / "work", engine, n=3)
    assert {name for name, *_ in engine.keys} == PROBLEMS.keys() - few.keys()
    engine = Echo()
    assert sample(model, tmp_path / "work", engine, n=1, greedy=False).num_rows == 10
    assert engine.opened == 0


def test_another_text_under_the_same_id_is_sampled_anew(model, tmp_path):
    sample(model, tmp_path / "work", Echo())
    engine = Echo()
    found = sample(model, tmp_path / "work", engine, problems=PROBLEMS | {"p4": "What is 4 + 2?"})
    assert {name for name, *_ in engine.keys} == {"p4"}
    assert found.column("response").to_pylist()[12:15] == ["0 What is 4 + 2?"] * 3


def test_another_setup_is_sampled_anew_and_kept_apart(model, tmp_path):
    first = sample(model, tmp_path / "work", Echo())
    engine = Echo()
    sample(model, tmp_path / "work", engine, seed=1)
    assert len(engine.asked) == 30
    assert len(list((tmp_path / "work").glob("*/setup.json"))) == 2
    assert sample(model, tmp_path / "work", Echo()).equals(first)


def test_finished_work_is_written_every_few_seconds(model, tmp_path, monkeypatch):
    monkeypatch.setattr(resume, "FLUSH_SECONDS", 0.05)

    class Slow(Echo):
        def _spend(self, response):
            time.sleep(0.02)
            return super()._spend(response)

        def sample(self, wanted, *, seed):
            ended = 0
            for response in super().sample(wanted, seed=seed):
                yield response
                ended += response.finish_reason == "stop"
                parts = sorted((tmp_path / "work").rglob("part-*.parquet"))
                reasons = [reason for part in parts for reason in pq.read_table(part)["finish_reason"].to_pylist()]
                assert ended - reasons.count("stop") <= 3

    sample(model, tmp_path / "work", Slow())


def test_every_column_of_a_response_is_kept(model, tmp_path):
    found = sample(model, tmp_path / "work", Echo())
    row = found.to_pylist()[4]
    assert row.pop("seconds") > 0
    assert row == {
        "id": "p1",
        "sample": 1,
        "greedy": False,
        "tokens": 3,
        "finish_reason": "stop",
        "response": "0 What is 1 + 1?",
    }
    assert found.schema.field("response").type == pa.large_string()  # all of them may hold more than 2 GiB


def test_a_problems_responses_are_found_in_many_parts(model, tmp_path):
    for number in range(1, 5):
        first = sample(model, tmp_path / "work", Echo(), problems={"p": "1+1"}, n=number)
    assert len(list((tmp_path / "work").rglob("part-*.parquet"))) == 4
    engine = Echo()
    assert sample(model, tmp_path / "work", engine, problems={"p": "1+1"}, n=4).equals(first)
    assert engine.opened == 0


def test_a_part_that_is_there_twice_does_no_harm(model, tmp_path):
    first = sample(model, tmp_path / "work", Echo())
    (part,) = (tmp_path / "work").rglob("part-*.parquet")
    shutil.copy(part, part.with_name("part-00007.parquet"))
    assert sample(model, tmp_path / "work", Echo()).equals(first)


def test_a_damaged_part_is_named(model, tmp_path):
    sample(model, tmp_path / "work", Echo())
    (part,) = (tmp_path / "work").rglob("part-*.parquet")
    whole = part.read_bytes()
    part.write_bytes(whole[:100])
    with pytest.raises(SamplingError, match=r"part-00000\.parquet: not a whole part .*; delete it and run again"):
        sample(model, tmp_path / "work", Echo())
    pq.write_table(pa.table({"other": [1]}), part)
    with pytest.raises(SamplingError, match=r"part-00000\.parquet: not a whole part"):
        sample(model, tmp_path / "work", Echo())
    part.unlink()
    engine = Echo()
    sample(model, tmp_path / "work", engine)
    assert len(engine.asked) == 30


def test_a_folder_that_says_another_setup_is_refused(model, tmp_path):
    sample(model, tmp_path / "work", Echo())
    (path,) = (tmp_path / "work").rglob("setup.json")
    facts = json.loads(path.read_text())
    assert facts["sampling"]["temperature"] == 1.0
    facts["sampling"]["temperature"] = 0.7
    path.write_text(json.dumps(facts))
    with pytest.raises(SamplingError, match=r"setup\.json: does not say what its folder's name stands for"):
        sample(model, tmp_path / "work", Echo())


def test_two_processes_do_not_write_to_one_store(model, tmp_path):
    class Second(Echo):
        def sample(self, wanted, *, seed):
            with pytest.raises(SamplingError, match="another process samples into it"):
                sample(model, tmp_path / "work", Echo())
            return super().sample(wanted, seed=seed)

    sample(model, tmp_path / "work", Second())


def test_only_prompts_that_are_too_long_is_an_error(model, tmp_path):
    class TooLong(Echo):
        def sample(self, wanted, **options):
            return [Response(one, 0, PROMPT_TOO_LONG, "") for one in wanted]

    with pytest.raises(SamplingError, match=r"`max_model_len` - `max_tokens` = 128 tokens; raise `sampling\.max"):
        sample(model, tmp_path / "work", TooLong(), n=1, greedy=False)
