"""Estimation contests and live games: points for closeness, or for what others do, instead of one answer."""

from __future__ import annotations

import pytest

from compass.curation.noise.estimation import estimation, scoring
from compass.settings import Denoise

ESTIMATED = [
    "Estimate the number of digits of $2024!$. If your estimate is $E$ and the answer is $A$, you receive $\\max(0, 20 - |A-E|)$ points.",
    "Estimate the number of primes below ten million. An estimate of $E$ earns $\\lfloor 20 \\min(E/A, A/E) \\rfloor$ points.",
    "How many grains of rice fill a bath? Your score will be $20 - 5|\\log_{10}(E/A)|$, where $A$ is the true number.",
    "Let $N$ be the number of words in this contest's papers. Submit an integer $E$; you will earn $\\max(0, 25 - |N - E|)$ points.",
    "Estimate how many times the letter e stands in the booklet of rules.",
    "Estimate $\\sum_{n=1}^{1000} \\sqrt[n]{n}$. Your answer will be scored as $\\left\\lfloor 20 - |S - E| \\right\\rfloor$.",
    "Give an approximation $E$ of the volume of the earth's oceans in litres. You get $\\max\\{0, 30 - |E - A|\\}$ points.",
    "Estimate the area of the region of all points that three random walkers reach in 100 steps.",
    "An ant walks at random on a cube of side 9. Estimate its mean number of steps to the opposite corner. If the correct answer is $C$ and you say $A$, you get $\\lfloor 30 - |A-C| \\rfloor$ points.",
    "Approximate the number of zeros in all whole numbers below one million. A guess of $G$ is worth $\\max(0, 15 - |G - T|)$ points.",
    "Guess the population of the town. You will be awarded $20 - d$ points, where $d$ is the distance of your guess from the truth.",
    "Estimate $\\pi^{\\pi^{\\pi}}$. If $E$ is your estimate and $A$ the answer, your score for this problem is $20 \\min(A/E, E/A)^4$.",
    "Estimate the probability that a random deck has no two kings side by side after 7 shuffles.",
    "Estimate, to four decimal places, the fraction of integers below $10^{12}$ with an even sum of digits. Points are $\\max(0, 20 - 10^4|A - E|)$.",
    "Find an approximate value of the number of trees on earth; your team receives $\\lfloor 25/\\max(1, r) \\rfloor$ points for an error of $r$ per cent.",
]

PLAYED = [
    "Write down a positive integer. Your score is your integer if nobody else wrote it, and 0 points otherwise.",
    "Each team submits a subset of $\\{1, \\ldots, 10\\}$. The team whose subset is chosen least often earns 12 points.",
    "Choose a number between 0 and 100. You earn 10 points if it is nearest to two thirds of the mean of all teams' numbers.",
    "List as many prime numbers as you can. You will get 1 point for each right one and lose 5 points for each wrong one.",
    "Draw a closed curve that meets itself as often as possible. Your score will be the number of crossings, divided by the largest score.",
]

ASKED = [
    "Estimate $49 \\times 21$ by rounding each factor to the nearest ten.",
    "In a sample of 50 fish 5 are marked. If 100 fish are marked in the lake, estimate the number of fish in the lake.",
    "Use the trapezoidal rule with four intervals to estimate $\\int_0^2 x^2\\,dx$.",
    "What is $\\sqrt{50}$, approximately, to the nearest tenth?",
    "Ann estimates the length as 40 cm, and it is 50 cm. By how many per cent is her estimate wrong?",
    "A test has 20 questions; a right answer earns 5 points and a wrong one costs 2. Tim scores 72 points. How many did he get right?",
    "A basketball team scores 2 points for a basket. How many baskets make 36 points?",
    "In a game you roll a die and receive as many points as it shows. What is the expected number of points?",
    "Alice's score is the maximum of 0 and 20 minus her error. Her error is 13. What is her score?",
    "Find the unbiased estimate of the mean of 3, 5 and 10.",
    "Let $f(x) = \\max(0, 20 - |x|)$. For how many integers is $f$ positive?",
    "The cost was estimated at 300 dollars, a third too low. What was it in fact?",
    "Approximate the root of $x^3 = 2$ by one step of Newton's method from $x = 1$.",
    "Players write down a number each. The sum of the numbers of Ann and Ben is 12 and their product is 35. What is the larger?",
    "How many points do 7 lines have in common at most?",
    "Find the best linear approximation of $\\sqrt{x}$ at $x = 4$ and its value at $x = 4.1$.",
]


@pytest.mark.parametrize("problem", ESTIMATED)
def test_points_for_closeness_are_estimation(problem):
    finding = estimation({"problem": problem}, Denoise())
    assert finding.drops("likely")
    assert finding.evidence["span"]


@pytest.mark.parametrize("problem", PLAYED)
def test_points_that_hang_on_others_or_on_effort_are_scoring(problem):
    assert scoring({"problem": problem}, Denoise()).drops("likely")
    assert estimation({"problem": problem}, Denoise()) is None


@pytest.mark.parametrize("problem", ASKED)
def test_rounding_methods_and_stories_about_points_have_one_answer(problem):
    for judge in (estimation, scoring):
        finding = judge({"problem": problem}, Denoise())
        assert finding is None or not finding.drops("likely")


def test_an_estimate_from_data_is_a_doubt_at_most():
    assert estimation({"problem": ASKED[1]}, Denoise()).strength == "possible"
    assert estimation({"problem": ASKED[0]}, Denoise()) is None
