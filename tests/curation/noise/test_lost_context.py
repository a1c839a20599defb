"""Problems that lean on another problem, part, theorem or passage which they do not hold."""

from __future__ import annotations

import pytest

from compass.curation.noise.lost_context import lost_context
from compass.settings import Denoise

LOST = [
    "Let $N$ be the answer to problem 12. What is the remainder of $N$ modulo 7?",
    "Let $T$ be the answer to the previous problem. Find the number of divisors of $T$.",
    "Let $T = TNYWR$. What is the area of a square with perimeter $T$?",
    "Using the result of part (a), find the sum of the first hundred terms.",
    "In the setting of the preceding exercise, how many edges has the graph?",
    "By the above theorem, what is the limit of $a_n$?",
    "According to the passage, how many ships left the harbour in June?",
    "What is the mean of the ages of everyone who wrote a problem of this contest?",
    "If you multiply the answers of Questions 3 and 4, what do you get?",
    "Suppose now that the balls of Exercise 2.3 are drawn without replacement. What is the chance of two red ones?",
    "Let $A$ be the number you will receive from your teammate. Compute $A^2 + 1$.",
    "Use Theorem 4.2 to find the radius of convergence of $\\sum x^n/n$.",
    "Under the same assumptions as in the last question, what is the variance?",
    "How many points did your team earn in the first round of this contest?",
    "The answer of this question is the sum of the answers of the other two questions in the set. What is it?",
    "Continuing the previous part, determine the speed after 4 seconds.",
    "Read the article above. How many people live in the town?",
    "For the function defined in problem 5, find $f(3)$.",
    "Let $T = T N Y W R$. Find the number of divisors of $T$.",
    "Let T = TNFTPP. Compute the sum of the digits of $T$.",
    "Fill in the table by the rules (attached to this problem) and give the total.",
    "How long is the longer wall? [center]<see attached>[/center]",
]

WHOLE = [
    "In an exam, problem 9 gives three times as many points as problem 2, and both give 20 in all. How many does problem 9 give?",
    "Tim solved problem 12 of his homework in 4 minutes and problem 13 in twice that time. How long did both take?",
    "The answer to a riddle is twice 7. What is it?",
    "A test has 25 problems. Problem 1 is worth 1 point, problem 2 is worth 2 points, and so on. How many points are there?",
    "The sum of the previous two terms is the next one. What follows 3, 5, 8, 13?",
    "Each year the price is 10% above that of the previous year. By what factor does it grow in two years?",
    "By the Pythagorean theorem, how long is the diagonal of a square of side 1?",
    "Use the binomial theorem to find the coefficient of $x^2$ in $(1+x)^7$.",
    "Rolle's theorem gives a $c$ in $(0, 2)$ for $f(x) = x^2 - 2x$. What is $c$?",
    "(a) Let $f(x) = x^2$. (b) What is $f(3)$, with $f$ as in part (a)?",
    "Part of the problem is that he has no ladder. He needs 3 m for each of 4 floors. How long must it be?",
    "He guesses the answers to the last three questions of a quiz with 2 choices each. What is the chance that all are right?",
    "Four contestants shook hands with one another. How many handshakes were there?",
    "The numbers 3 and 4 stand on the board. In each step the sum of the above numbers is added. What is there after two steps?",
    "In the last question of a quiz Ann bets all her 300 points and doubles them. How many points has she then?",
    "Let $x$ satisfy $x^2 = 2x + 1$. If the equation above has roots $r$ and $s$, what is $r + s$?",
    "What is the largest answer that this calculation can have: $3 \\cdot 4 + a$ with $a < 2$?",
    "In the first round 8 teams play. Half of them go on to the next round. How many are left after two rounds?",
    "Ann passes her answer 7 to Bob, who doubles it. Which number does Bob say?",
    "The number of people in the above-average group is 12, a third of the class. How big is the class?",
]

DOUBTED = [
    "As before, a coin is tossed 5 times. What is the probability of 3 heads?",
    "The answer to this problem is an integer $n$ with $n^2 = 2n$ and $n > 0$. What is it?",
]


@pytest.mark.parametrize("problem", LOST)
def test_what_the_problem_leans_on_is_lost(problem):
    finding = lost_context({"problem": problem}, Denoise())
    assert finding is not None
    assert finding.drops("likely")


@pytest.mark.parametrize("problem", WHOLE)
def test_stories_about_problems_and_named_theorems_are_whole(problem):
    assert lost_context({"problem": problem}, Denoise()) is None


@pytest.mark.parametrize("problem", DOUBTED)
def test_a_reference_that_may_not_matter_is_a_doubt(problem):
    assert lost_context({"problem": problem}, Denoise()).strength == "possible"
