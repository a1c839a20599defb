"""What the verifier pays for four responses to a problem with the gold 0.5, as TRL and as verl call it."""

from compass.integrations.trl import accuracy_reward
from compass.integrations.verl import compute_score

RESPONSES = (r"\boxed{\frac{1}{2}}", "The answer is 0.5.", r"\boxed{\frac{1}{3}}", "I do not know.")
GOLD = "0.5"


def show() -> None:
    """Print a line per response."""
    paid = accuracy_reward(list(RESPONSES), [GOLD] * len(RESPONSES))
    print(f"{'response':35} {'TRL':3}   verl")
    for response, reward in zip(RESPONSES, paid, strict=True):
        print(f"{response:35} {reward:.1f}   {compute_score('example', response, GOLD)['score']:+.1f}")


if __name__ == "__main__":
    show()
