"""Several questions with one gold, and one question that is asked twice or in two steps."""

from __future__ import annotations

import pytest

from compass.curation.noise.multi_question import multi_question
from compass.settings import Denoise

SEVERAL = [
    ("How many days are there in a leap year? How many hours are there in a week?", "168"),
    ("What is the area of a square of side 5? What is the perimeter of a circle of radius 2?", "25"),
    ("Find the sum of the first ten odd numbers. Also, find their product.", "100"),
    ("Who finishes first? How many minutes later does the second runner finish?", "7"),
    ("Tom has 3 apples and 4 pears. How many fruits has he? How many would he have after eating two?", "5"),
    ("How far does the train go in an hour? Also, find its speed in metres per second.", "20"),
    ("How tall is Ann? How old is Ben? How heavy is Carl?", "12"),
    ("What are the roots of $x^2 = 4$? Where is the vertex of $y = x^2$?", "2"),
    ("The centre of the circle is ____, and its radius is ____.", "3"),
    ("How many boys are in the class? And how many girls are there?", "12"),
    ("What is the price of a pen? In another shop, what is the price of a book?", "3"),
    ("What is the largest prime below 100? Additionally, determine the smallest one above it.", "97"),
    ("When do they meet? Which of them has walked farther?", "noon"),
    ("How much is each share? How many people get nothing?", "4"),
    ("Find the median of 3, 4 and 8. Furthermore, calculate the mean.", "5"),
    ("A cone has base radius 3 and slant height 5. Find the height and the volume of the cone.", "12\\pi"),
    ("The marks are 5, 7 and 9. Calculate the mean and the variance of the marks.", "7"),
    ("On $[0, 4]$, find the maximum and minimum values of $f(x) = x^2 - 2x$.", "8"),
    ("A box holds red and green pens, 30 in all. How many red pens are there, and how many of them are new?", "12"),
    ("Find the vertex of the parabola $y = x^2 - 4x$ and calculate the value of $y$ at $x = 5$.", "5"),
    ("Let $f(x) = x^2 + 1$. Find $f(2)$ and $f(3)$.", "5"),
    ("What is the speed of the train in km/h, and what is the length of the train?", "240"),
    ("Find the least value of the function $y = x^2 - 2x$ on $[0, 3]$ and the corresponding value of $x$.", "1"),
    ("The wire needed is \xa0\xa0\xa0\xa0 cm. The paper needed is \xa0\xa0\xa0\xa0 cm.", "94"),
    ("Two lines meet at $(1, 2)$. Determine the slope as well as the intercept.", "4"),
]

ONE = [
    ("In how many orders can they come? That is, in how many ways can four people be arranged in a row?", "24"),
    ("Is it possible to cover the board? If so, what is the least number of tiles?", "8"),
    ("Which number am I? In other words, what is the number that is twice its half plus zero?", "4"),
    ("What is $x$ if $3x = 12$? Express your answer as an integer.", "4"),
    ("The fraction is $m/n$ in lowest terms. What is $m/n$? What is $m+n$?", "7"),
    ("What? The sum of 3 and 4 is what number?", "7"),
    ("How many? Ann has 3 apples and Ben has 4 apples. How many apples do they have together?", "7"),
    ('"How old are you?" asks Tim. "Twice as old as my sister, who is 9." How old is the speaker?', "18"),
    ("Can you find the number? Its half is 7. What is the number?", "14"),
    (
        "How many tiles are needed? (How many tiles cover one square metre is said above: 9.) The floor has 3 square metres.",
        "27",
    ),
    (
        "Ann asks herself: why is the sky blue? She counts 7 clouds and then 4 more. How many clouds does she count?",
        "11",
    ),
    ("What is the least $n$ with $n^2 > 50$? i.e. what is the smallest integer whose square is above 50?", "8"),
    ("What is the sum of 3 and 4? (A) 6 (B) 7 (C) 8 Which option is correct?", "B"),
    ("Does the series converge? If it does, what is its sum?", "2"),
    (
        "What is the probability that both are red? Give a fraction. What is this probability as a common fraction?",
        "\\frac{1}{2}",
    ),
    ("If $x = 3?$ and $3? = 3 \\cdot 2 \\cdot 1$, what is $x$?", "6"),
    ("Find the sum of the height and the width of the door.", "3"),
    ("Find the height and the volume of the cone.", "4, 12\\pi"),
    ("Find the area of the region bounded by the curve and the axis.", "4"),
    ("Find the distance between the centre and the vertex.", "4"),
    ("Find the area of a triangle whose base is 4 and the height is 5.", "10"),
    ("Determine the number of words and find the remainder when this number is divided by 10.", "2"),
    ("Find the radius and the height. What is their product?", "12"),
    ("Find the maximum and the minimum value of $f$. Give their difference.", "12"),
    ("Determine the values of $x$ and $y$ and find the value of $xy$ modulo 5.", "3"),
    ('Ben asks Ann "How many coins do you have?" and counts them. The number of her coins is ____.', "7"),
]

DOUBTED = [
    ("What are the length and width of it? What is the area?", "l = 3, w = 4, 12"),
    ("How many boys are there? How many girls are there?", "12 boys and 13 girls"),
    ("Do they meet? How long does the faster one need?", "4"),
]


@pytest.mark.parametrize(("problem", "answer"), SEVERAL)
def test_several_asks_with_one_gold_are_dropped(problem, answer):
    finding = multi_question({"problem": problem, "answer": answer}, Denoise())
    assert finding is not None
    assert finding.drops("likely")


@pytest.mark.parametrize(("problem", "answer"), ONE)
def test_restated_and_followed_up_questions_are_one(problem, answer):
    finding = multi_question({"problem": problem, "answer": answer}, Denoise())
    assert finding is None or not finding.drops("likely")


@pytest.mark.parametrize(("problem", "answer"), DOUBTED)
def test_a_gold_with_several_values_may_answer_them_all(problem, answer):
    assert multi_question({"problem": problem, "answer": answer}, Denoise()).strength == "possible"


def evidence(problem: str, answer: str | None = "7") -> dict | None:
    finding = multi_question({"problem": problem, "answer": answer}, Denoise())
    return finding and finding.evidence


@pytest.mark.parametrize(
    ("problem", "questions"),
    [
        ("How many are odd? How many are even?", ["How many are odd?", "How many are even?"]),
        ("Is it odd? Why or when?", None),
        ("The sum? The product then?", None),
        ("How many are odd? 7?", None),
        ("What is it worth? Additionally, there is one. Calculate it.", ["What is it worth?", "Calculate it."]),
        ("How much is it as a/b? What is a + b?", None),
        ("How many are odd?", None),
        ("Find a. Also find b.", ["Also find b."]),
        ("Find a. And find b.", None),
        ("How many are odd? And find b.", ["How many are odd?", "And find b."]),
        ("What is it? Additionally, there is one. Calculate it.", ["What is it?", "Calculate it."]),
        ("There is one. Calculate it. Additionally, what is it?", None),
        ('He asks "How many are odd?" and she asks "How many are even?"', None),
        ("How many are odd? (How many are even?)", None),
    ],
)
def test_several_questions(problem, questions):
    told = evidence(problem)
    assert (told and told["questions"]) == questions


def test_four_questions_of_120_characters_are_evidence():
    questions = [f"How many {letter * 150} {letter}{letter} are odd?" for letter in "abcde"]
    told = evidence(" ".join(questions))
    assert told["questions"] == [question[-120:] for question in questions[:4]]
