import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from compass.sampling.engine import request_seed
from compass.sampling.model_source import Model, SamplingError, find_model, model_digest
from compass.sampling.progress import SamplingProgress
from compass.sampling.response import PROMPT_TOO_LONG, RESPONSES, Response
from compass.sampling.resume import sample_responses, work_key
from compass.settings import Sampling

PROBLEMS = {f"p{number}": f"What is {number} + 1?" for number in range(10)}
SAMPLING = Sampling(batch=4)


@pytest.fixture
def model(tmp_path) -> Model:
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    (folder / "model.safetensors").write_bytes(b"weights")
    return find_model(str(folder))


class Counting:
    """An engine that echoes and counts what it was asked; it stops with an error before part `dies_at`."""

    def __init__(self, dies_at: int = -1) -> None:
        self.opened = 0
        self.asked: list[list[str]] = []
        self.dies_at = dies_at

    def __call__(self, model, sampling):
        self.opened += 1
        return self

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def sample(self, problems, *, n, greedy, seed, progress):
        if len(self.asked) == self.dies_at:
            raise KeyboardInterrupt
        self.asked.append(list(problems))
        progress.advance(len(problems) * (n + greedy), 1)
        return [
            Response(name, sample, is_greedy, 3, "stop", f"{seed} {problem}")
            for name, problem in problems.items()
            for sample, is_greedy in [(number, False) for number in range(n)] + [(0, True)] * greedy
        ]


def sample(model, folder, engine, **changes):
    options = {"sampling": SAMPLING, "n": 2, "greedy": True, "seed": 0} | changes
    return sample_responses(PROBLEMS, model=model, folder=folder, open_engine=engine, **options)


def test_responses_come_in_the_order_of_the_problems(model, tmp_path):
    found = sample(model, tmp_path / "work", Counting())
    assert found.column("id").to_pylist() == [name for name in PROBLEMS for _ in range(3)]
    assert found.column("greedy").to_pylist() == [False, False, True] * 10


def test_a_stopped_run_goes_on_and_samples_no_finished_part_again(model, tmp_path):
    stopped, second = Counting(dies_at=2), Counting()
    with pytest.raises(KeyboardInterrupt):
        sample(model, tmp_path / "work", stopped)
    found = sample(model, tmp_path / "work", second)
    assert stopped.asked == [["p0", "p1", "p2", "p3"], ["p4", "p5", "p6", "p7"]]
    assert second.asked == [["p8", "p9"]]
    assert found.equals(sample(model, tmp_path / "other", Counting()))


def test_a_finished_run_starts_no_engine(model, tmp_path):
    engine = Counting()
    sample(model, tmp_path / "work", Counting())
    sample(model, tmp_path / "work", engine)
    assert engine.opened == 0


@pytest.mark.parametrize(
    "changes",
    [{"seed": 1}, {"n": 3}, {"greedy": False}, {"sampling": Sampling(batch=4, temperature=0.5)}],
)
def test_other_inputs_are_sampled_anew(model, tmp_path, changes):
    engine = Counting()
    sample(model, tmp_path / "work", Counting())
    sample(model, tmp_path / "work", engine, **changes)
    assert len(engine.asked) == 3


def test_memory_and_parallelism_do_not_change_the_work(model):
    shared = {"model": model, "n": 1, "greedy": False, "seed": 0}
    other = Sampling(batch=4, memory=0.3, kv_cache_gib=4, tensor_parallel=2)
    assert work_key(PROBLEMS, sampling=SAMPLING, **shared) == work_key(PROBLEMS, sampling=other, **shared)


def test_every_other_setting_changes_the_work(model):
    shared = {"model": model, "n": 1, "greedy": False, "seed": 0}
    keys = [
        work_key(PROBLEMS, sampling=SAMPLING, **shared),
        work_key({**PROBLEMS, "p9": "?"}, sampling=SAMPLING, **shared),
        work_key(dict(reversed(PROBLEMS.items())), sampling=SAMPLING, **shared),
        *(
            work_key(PROBLEMS, sampling=SAMPLING, **shared | change)
            for change in ({"n": 2}, {"greedy": True}, {"seed": 1})
        ),
    ]
    assert len(set(keys)) == 6
    assert all(len(key) == 16 for key in keys)


def test_the_bar_begins_where_the_stopped_run_ended(model, tmp_path, monkeypatch):
    bars = []

    class Bar(SamplingProgress):
        def __init__(self, what, **counts):
            bars.append((what, counts))
            super().__init__(what, **counts)

    monkeypatch.setattr("compass.sampling.resume.SamplingProgress", Bar)
    with pytest.raises(KeyboardInterrupt):
        sample(model, tmp_path / "work", Counting(dies_at=2))
    sample(model, tmp_path / "work", Counting(), what="rollouts")
    assert bars == [("responses", {"total": 30, "done": 0}), ("rollouts", {"total": 30, "done": 24})]


def test_no_problems_need_no_engine(model, tmp_path):
    engine = Counting()
    options = {"model": model, "sampling": SAMPLING, "n": 1, "seed": 0, "folder": tmp_path, "open_engine": engine}
    assert sample_responses({}, **options).schema.equals(RESPONSES)
    assert engine.opened == 0


def test_every_column_of_a_response_is_kept(model, tmp_path):
    found = sample(model, tmp_path / "work", Counting()).to_pylist()
    assert found[4] == {
        "id": "p1",
        "sample": 1,
        "greedy": False,
        "tokens": 3,
        "finish_reason": "stop",
        "response": "0 What is 1 + 1?",
    }


def test_a_damaged_part_is_named(model, tmp_path):
    sample(model, tmp_path / "work", Counting())
    part = next((tmp_path / "work").rglob("part-00001.parquet"))
    part.write_bytes(part.read_bytes()[:100])
    with pytest.raises(SamplingError, match=r"part-00001\.parquet: not a whole parquet file"):
        sample(model, tmp_path / "work", Counting())


def test_a_part_of_other_problems_is_refused(model, tmp_path):
    sample(model, tmp_path / "work", Counting())
    part = next((tmp_path / "work").rglob("part-00001.parquet"))
    shutil.copy(part.with_name("part-00000.parquet"), part)
    with pytest.raises(SamplingError, match=r"part-00001\.parquet: holds 12 responses, not 3 for each of its 4 "):
        sample(model, tmp_path / "work", Counting())
    pq.write_table(pq.read_table(part).slice(1), part)
    with pytest.raises(SamplingError, match=r"part-00001\.parquet: holds 11 responses, not 3 for each of its 4 "):
        sample(model, tmp_path / "work", Counting())


def test_no_half_written_part_is_left_under_its_name(model, tmp_path):
    with pytest.raises(KeyboardInterrupt):
        sample(model, tmp_path / "work", Counting(dies_at=1))
    assert [path.name for path in (tmp_path / "work").rglob("*.parquet")] == ["part-00000.parquet"]
    assert pq.read_table(next((tmp_path / "work").rglob("*.parquet"))).num_rows == 12


def test_only_prompts_that_are_too_long_is_an_error(model, tmp_path):
    class TooLong(Counting):
        def sample(self, problems, **options):
            return [Response(name, 0, False, 0, PROMPT_TOO_LONG, "") for name in problems]

    with pytest.raises(SamplingError, match=r"`max_model_len` - `max_tokens` = 128 tokens; raise `sampling\.max"):
        sample(model, tmp_path / "work", TooLong(), n=1, greedy=False)


def test_the_digest_follows_the_weights_and_the_chat_template_but_not_the_path(model, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(model.path, copy)
    assert model_digest(find_model(str(copy))) == model_digest(model)
    (copy / "chat_template.jinja").write_text("{{ messages }}")
    changed = model_digest(find_model(str(copy)))
    (copy / "model.safetensors").write_bytes(b"Weights")
    assert len({model_digest(model), changed, model_digest(find_model(str(copy)))}) == 3
    assert len(changed) == 32


def test_the_digest_of_a_hub_model_is_its_commit():
    one, other = (model_digest(Model("owner/model", revision)) for revision in ("a", "b"))
    assert one != other
    assert one == model_digest(Model("owner/model", "a"))
    assert len(one) == 32


def test_a_model_that_is_not_there_is_named():
    with pytest.raises(SamplingError, match=r"models/nowhere: no such folder"):
        find_model("models/nowhere")


def test_a_folder_without_a_config_is_no_model(tmp_path):
    with pytest.raises(SamplingError, match=r"holds no config\.json"):
        find_model(str(tmp_path))


def test_a_hub_id_needs_a_revision():
    assert find_model("owner/model", "0123abc") == Model("owner/model", "0123abc")
    assert not Path("owner/model").exists()


def test_seeds_of_problems_differ_and_leave_room_for_every_sample():
    seeds = sorted(request_seed(seed, f"p{number}") for number in range(2000) for seed in (0, 1))
    assert len(set(seeds)) == 4000
    assert seeds[-1] < 2**48
