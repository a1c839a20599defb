"""The recipe on a model card: what acted, and nothing that did not."""

from pathlib import Path
from typing import Any

from compass.model_cards import rl_card
from compass.settings import RlStage, load_settings
from compass.settings.advantage import Advantage, Critic

STAGE = load_settings(Path(__file__).parents[1] / "profiles/tiny.yaml").rl.stages["rl-1"]


def rows(stage: RlStage) -> dict[str, str]:
    """The table of the recipe."""
    metrics: list[dict[str, Any]] = [{}, {}]
    card = rl_card("rl-1", stage, profile="tiny", seed=0, step=20, problems=9, metrics=metrics)
    cells = [line.split("|") for line in card.splitlines() if line.startswith("| `")]
    return {name.strip(" `"): value.strip() for _, name, value, _ in cells}


def test_settings_that_others_switch_off_are_left_out() -> None:
    told = rows(STAGE)
    assert told["advantage.estimator"] == "grpo"
    assert told["loss.kl_coef"] == "0.0"
    assert not {"advantage.lam", "advantage.critic.alone", "loss.kl_estimator", "reward.kl_target"} & told.keys()


def test_the_card_says_what_was_paid() -> None:
    def said(**reward: Any) -> str:
        stage = STAGE.model_copy(update={"reward": STAGE.reward.model_copy(update=reward)})
        return rl_card("rl-1", stage, profile="tiny", seed=0, step=20, problems=9, metrics=[{}, {}])

    assert "The reward is +1 for an answer that equals" in said()
    own = said(function="rewards.mine:reward", overlong_buffer=28, overlong_penalty=0.5, kl_coef=0.1)
    assert "The reward is what the function `rewards.mine:reward` pays." in own
    assert "+1 for an answer" not in own
    assert "Beyond 20 tokens a penalty grows evenly, to 0.5 at 48." in own
    assert "with the coefficient 0.1" in own


def test_a_critics_settings_have_a_line_each() -> None:
    advantage = Advantage(estimator="gae", lam=0.95, critic=Critic(learning_rate=2e-5, alone=3))
    told = rows(STAGE.model_copy(update={"advantage": advantage}))
    assert told["advantage.lam"] == "0.95"
    assert (told["advantage.critic.learning_rate"], told["advantage.critic.alone"]) == ("2e-05", "3")
    assert "advantage.normalise_by_std" not in told
