"""The reward that verl calls for every response."""

import inspect
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from compass.checks.before_run import find_reward_problems
from compass.checks.doctor import describe_rewards
from compass.rl.config import SHAPING
from compass.rl.course import course
from compass.rl.dataset import ROWS
from compass.rl.reward_canary import CANARIES, EXTRA_INFO
from compass.rl.reward_function import RESPONSE_TOKENS, RewardError, compute_score, load_reward, score_by_function
from compass.settings import RlStage, Settings, SettingsError, load_settings
from compass.settings.recipe import Reward
from stages._rl_entries import check_names, reward_deps, start_deps, write_entries
from tests.conftest import changed_profile, make_random_model


def test_every_setting_of_the_reward_is_one_of_verls_or_an_argument_of_the_function() -> None:
    taken = set(inspect.signature(compute_score).parameters)
    assert set(Reward.model_fields) - set(SHAPING) <= taken
    assert taken.isdisjoint(SHAPING)


def test_a_right_answer_pays_and_the_problem_id_travels_with_it() -> None:
    assert compute_score("tiny", r"\boxed{12}", "12", {"id": "abc"}) == {
        "score": 1.0,
        "acc": 1.0,
        "pred": "12",
        "outcome": "equal",
        "method": "text",
        "leaned": "",
        "problem_id": "abc",
    }


def test_the_question_reaches_the_verifier() -> None:
    question = r"Simplify $\sqrt{50}+\sqrt{18}$."
    copied = r"\boxed{\sqrt{50}+\sqrt{18}}"
    assert compute_score("tiny", copied, r"8\sqrt{2}", {"question": question})["score"] == -1.0
    assert compute_score("tiny", r"\boxed{8\sqrt2}", r"8\sqrt{2}", {"question": question})["score"] == 1.0


def test_what_a_right_verdict_leans_on_travels_with_it() -> None:
    assert compute_score("tiny", r"\boxed{x = 12\text{ cm}}", "12")["leaned"] == "unit,name"
    assert compute_score("tiny", r"\boxed{13\text{ cm}}", "12")["leaned"] == ""


def test_alternatives_and_a_tolerance_reach_the_verifier() -> None:
    import numpy as np

    info = {"alternatives": np.array(["7"], dtype=object), "tolerance": "0.1"}
    paid = [compute_score("tiny", rf"\boxed{{{answer}}}", "12", info)["score"] for answer in ("12", "7", "12.05", "9")]
    assert paid == [1.0, 1.0, 1.0, -1.0]
    assert compute_score("tiny", r"\boxed{12.05}", "12", info)["leaned"] == "tolerance"
    info = {"alternatives": "2/3", "tolerance": 0.01}
    paid = [compute_score("tiny", rf"\boxed{{{answer}}}", 0.25, info)["score"] for answer in ("2/3", "0.255", "2", "3")]
    assert paid == [1.0, 1.0, -1.0, -1.0]


def test_no_gold_is_no_word() -> None:
    with pytest.raises(TypeError, match="`ground_truth` must be text, found None"):
        compute_score("tiny", r"\boxed{none}", None)  # type: ignore[arg-type]
    assert compute_score("tiny", r"\boxed{7}", "12", {"alternatives": [], "tolerance": ""})["score"] == -1.0


@pytest.mark.parametrize(("info", "id_"), [({"id": "abc"}, "abc"), (None, ""), ({}, "")])
def test_a_wrong_answer_costs_and_an_id_may_be_missing(info: dict[str, str] | None, id_: str) -> None:
    scored = compute_score("tiny", r"\boxed{13}", "12", info)
    found = [scored[name] for name in ("score", "acc", "pred", "problem_id")]
    assert found == [-1.0, 0.0, "13", id_]


def test_a_defect_of_the_verifier_is_not_a_reward(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(**_: object) -> None:
        raise ZeroDivisionError("a defect")

    monkeypatch.setattr("compass.rl.reward_function.judge", broken)
    with pytest.raises(ZeroDivisionError, match="a defect"):
        compute_score("math", r"\boxed{4}", "4", anything=2)


ROOT = Path(__file__).resolve().parents[2]
SIGNATURE = "data_source, solution_str, ground_truth, extra_info"


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Write a module `mine`, whose function `reward` has this body, into a folder on Python's path."""

    def write(body: str, head: str = f"def reward({SIGNATURE}):") -> str:
        (tmp_path / "mine.py").write_text(f"{head}\n    {body}\n")
        sys.modules.pop("mine", None)
        load_reward.cache_clear()
        return "mine:reward"

    monkeypatch.syspath_prepend(str(tmp_path))
    yield write
    sys.modules.pop("mine", None)
    load_reward.cache_clear()


def stage(function: str) -> RlStage:
    return settings(function).rl.stages["rl-1"]


def settings(function: str, canary: str = "stop") -> Settings:
    values = {"rl.reward.function": function, "rl.guards.reward_canary": {"level": canary}}
    return Settings.model_validate(changed_profile("tiny", values))


def test_a_number_is_the_reward_and_the_verifier_says_what_is_right(module: Any) -> None:
    function = module("return 0.25 * len(solution_str)")
    scored = compute_score("tiny", r"\boxed{12}", "12", {"id": "a"}, function=function)
    assert (scored["score"], scored["acc"], scored["pred"], scored["problem_id"]) == (2.5, 1.0, "12", "a")
    assert compute_score("tiny", r"\boxed{13}", "12", function=function)["acc"] == 0.0


def test_a_mapping_decides_both(module: Any) -> None:
    function = module("return {'score': 2, 'acc': ground_truth in solution_str, 'more': 'x'}")
    scored = compute_score("tiny", "it is 12", "12", {"id": "a"}, function=function)
    assert (scored["score"], scored["acc"], type(scored["score"])) == (2.0, 1.0, float)
    assert "more" not in scored


def test_the_functions_own_error_propagates(module: Any) -> None:
    with pytest.raises(ZeroDivisionError):
        compute_score("tiny", "", "12", function=module("return 1 / len(solution_str)"))


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return float('nan')", r"`score` is nan"),
        ("return None", r"`score` is None"),
        ("return '1'", r"`score` is '1'"),
        ("return {'score': 1.0}", r"`acc` is None"),
        ("return {'score': 1.0, 'acc': 2.0}", r"`acc` is 2.0"),
        ("return {'score': 1.0, 'acc': 0.3}", r"`acc` is 0.3"),
        ("return {'score': float('inf'), 'acc': 1.0}", r"`score` is inf"),
    ],
)
def test_what_is_no_reward_is_refused(module: Any, body: str, message: str) -> None:
    with pytest.raises(RewardError, match=rf"`rl\.reward\.function` mine:reward: {message}"):
        score_by_function(module(body), True, data_source="", solution_str="", ground_truth="", extra_info={})


@pytest.mark.parametrize(
    ("head", "body", "message"),
    [
        ("def other():", "return 1", "mine.py has no function reward"),
        ("def rewrad():", "return 1", "mine.py has no function reward"),
        (f"async def reward({SIGNATURE}):", "return 1", "reward is async"),
        ("def reward(response, gold):", "return 1", "its arguments are not those it is called with"),
        ("import nothing_of_this_name\nif True:", "pass", "importing it raised ModuleNotFoundError"),
        (f"def reward({SIGNATURE}):", "return 1 / len(solution_str)", "with the response '' .* ZeroDivisionError"),
        (f"def reward({SIGNATURE}):", "return float('nan')", "`score` is nan"),
        (f"def reward({SIGNATURE}):", "return 1.0", "the wrong response .* gets \\+1"),
    ],
)
def test_the_check_before_a_run_tells_what_cannot_train(
    module: Any, tmp_path: Path, head: str, body: str, message: str
) -> None:
    module(body, head)
    (problem,) = find_reward_problems(settings("mine:reward"), tmp_path)
    assert problem.where == "rl.reward.function"
    assert problem.remedy
    assert "did you mean rewrad" in problem.remedy or "rewrad" not in head
    import re

    assert re.search(message, problem.found)


def test_an_error_says_what_the_function_is_called_with(module: Any, tmp_path: Path) -> None:
    module("return extra_info['tokens']")
    (problem,) = find_reward_problems(settings("mine:reward"), tmp_path)
    assert "it raised KeyError: 'tokens'" in problem.found
    assert problem.remedy.startswith("return a reward for every response; `extra_info` has id, level, ")
    assert RESPONSE_TOKENS in problem.remedy


def test_doctor_shows_what_a_function_pays_and_calls_it_once(
    module: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    priced = "1 if judge(gold=ground_truth, response=solution_str).equal else -1"
    body = f"open('calls', 'a').write('x')\n    from compass.verifier import judge\n    return ({priced}) - 0.02 * extra_info['response_tokens']"
    module(body)
    paid: dict[str, list[float]] = {}
    assert find_reward_problems(settings("mine:reward"), tmp_path, paid) == []
    (finding,) = describe_rewards(paid)
    assert (finding.level, finding.where) == ("ok", "reward")
    assert finding.found == "mine:reward pays known right answers +0.82, wrong ones -1.18"
    assert (tmp_path / "calls").read_text() == "x" * len(CANARIES)


def test_the_check_before_a_run_finds_a_missing_module_and_passes_a_good_one(module: Any, tmp_path: Path) -> None:
    (problem,) = find_reward_problems(settings("nowhere.mine:reward"), tmp_path)
    assert "cannot be imported" in problem.found or "no module" in problem.found
    module("return {'score': 1.0, 'acc': 1} if 'boxed{12}' in solution_str and ground_truth == '12' else 0.0")
    assert find_reward_problems(settings("mine:reward"), tmp_path) == []
    assert find_reward_problems(settings(""), tmp_path) == []


def test_a_guard_that_is_off_compares_nothing_and_leaves_the_other_checks(module: Any, tmp_path: Path) -> None:
    ours = settings("mine:reward", canary="off")
    module("return 1.0")
    assert find_reward_problems(ours, tmp_path) == []
    module("return 1.0", "def reward(response, gold):")
    assert "its arguments are not those" in find_reward_problems(ours, tmp_path)[0].found


def test_a_function_may_read_all_that_comes_with_a_problem(module: Any, tmp_path: Path) -> None:
    """In training it has every field of verl's parquet and a response's length, so the known answers have them too."""
    assert set(EXTRA_INFO) == {field.name for field in ROWS.field("extra_info").type} | {"response_tokens"}
    module(
        "[extra_info[name] for name in ('question', 'tolerance', 'response_tokens')]; return float('boxed{12}' in solution_str)"
    )
    assert find_reward_problems(settings("mine:reward"), tmp_path) == []


def test_the_documented_example_passes(tmp_path: Path) -> None:
    function = "examples.own_reward.reward:brief"
    assert find_reward_problems(settings(function), ROOT) == []
    long = "so " * 200 + r"\boxed{12}"
    texts = (r"\boxed{12}", r"3+4=7,7+5=12.\boxed{12}", long, "no")
    paid = [compute_score("s", text, "12", function=function)["score"] for text in texts]
    assert paid == pytest.approx([1.0, 0.94, 0.5, -1.0])
    other = {"id": "a", "question": "", "alternatives": ["13"], "tolerance": ""}
    assert compute_score("s", r"\boxed{13}", "12", other, function=function)["score"] == 1.0


def test_a_changed_function_is_another_course(module: Any, tmp_path: Path) -> None:
    start = make_random_model(tmp_path / "base", 0)
    (tmp_path / "train.parquet").write_bytes(b"problems")

    def named(function: str) -> str:
        return course(stage(function), seed=0, start=start, training_set=tmp_path / "train.parquet")

    first = named(module("return 1.0"))
    assert named("mine:reward") == first != named("")
    assert named(module("return 2.0")) != first


def test_its_file_is_a_dependency_where_it_is_in_the_repository(tmp_path: Path) -> None:
    ours = settings("rewards.mine:reward")
    assert reward_deps(ours, tmp_path) == {"rl-1": "", "rl-2": "", "rl-3": ""}
    (tmp_path / "rewards").mkdir()
    (tmp_path / "rewards/mine.py").touch()
    deps = reward_deps(ours, tmp_path)
    assert deps == dict.fromkeys(deps, "rewards/mine.py")
    text = (ROOT / "dvc.yaml").read_text()
    (tmp_path / "dvc.yaml").write_text(write_entries(text, start_deps(ours)))
    with pytest.raises(SettingsError, match=r"rl-1 depends on rewards/mine\.py, (?s:.*)run `make deps`"):
        check_names(ours, tmp_path / "dvc.yaml")
    (tmp_path / "dvc.yaml").write_text(write_entries(text, start_deps(ours), deps))
    check_names(ours, tmp_path / "dvc.yaml")
    check_names(load_settings(ROOT / "profiles/tiny.yaml"), ROOT / "dvc.yaml")


@pytest.mark.parametrize("name", ["mine", "mine.reward", "mine:", "a-b:c", "os:system()", "compass.rl.x:f"])
def test_only_a_name_outside_the_pipeline_is_taken(name: str) -> None:
    with pytest.raises(ValidationError, match="must be"):
        stage(name)
