"""Two texts compared by their final answers."""

from __future__ import annotations

import pytest

from compass.verifier import Mode, extract_answer, final_answer, same_final_answer, verify

SAME = [
    ("42", "Die Antwort lautet 42."),
    ("3/4", "La respuesta correcta es 3/4."),
    ("45", "Resposta: O carro custa 45 €."),
    ("12", "Ответ: 12 см"),
    ("7", "答：小明还剩下7个苹果。"),
    ("24", "所以一共需要 4 × 6 = 24 辆车。"),
    ("16", "Donc le périmètre est de 2 * (5 + 3) = 16 cm"),
    ("68", "Le prix après réduction est de 80 - 12 = 68 €."),
    ("36", "因此，周长为36厘米。"),
    ("81", "Risposta: 81"),
    ("15", "Svar: 15"),
    ("9", "정답은 9 입니다"),
    ("30", "Đáp án: 30"),
    ("3", "答え: 3"),
    ("105", "La réponse est (45 + 60 = 105)."),
    ("3/4", "Thus the ratio simplifies to $= 9/12 = 3/4$"),
    ("x>4", "We see that the inequality holds for $x > 4$."),
    (r"\begin{bmatrix}1&-1\\0&1\end{bmatrix}", r"Here is the inverse: $\begin{pmatrix}1&-1\\0&1\end{pmatrix}$"),
    ("D", "It can't be C, so I believe it's D"),
    ("9", "When we add we get 9, so the answer is 9"),
    (r"Doubling gives $2x = 8$, hence $x = \boxed{4}$.", "4"),
    ("Ben is slower, and the answer is\n(A) Ann", "A"),
    (r"the unread \frac{", r"the unread \frac{"),
    ("all even $n$", "all even $n$"),
]
OTHER = [
    ("20", "Réponse: Paul doit 35 $ à Marie et 20 $ à Luc."),
    ("5", "Die Antwort ist nicht 5."),
    ("5", "答案可能是5"),
    ("5", "La respuesta es 5 o 6."),
    ("3", "We get $x=2$ and $x=3$."),
    ("4", "The region does not include $x=4$"),
    ("3", "Since $a=3$ the area is 12"),
    ("6", "所以他们有5个苹果和6个梨"),
    ("5", "Is it $5$?"),
    ("9", "If we trusted him the answer is 9"),
    ("C", "It can't be C, so I believe it's D"),
    ("-5", "Answer: the value is minus 5 or 5"),
]


@pytest.mark.parametrize(("gold", "answer"), SAME)
def test_texts_with_the_same_final_answer(gold: str, answer: str) -> None:
    assert same_final_answer(gold=gold, answer=answer).equal, final_answer(answer)


@pytest.mark.parametrize(("gold", "answer"), OTHER)
def test_texts_with_other_final_answers_or_none(gold: str, answer: str) -> None:
    assert not same_final_answer(gold=gold, answer=answer).equal, final_answer(answer)


def test_a_formula_at_the_end_of_a_sentence_counts_in_the_lenient_mode_alone() -> None:
    text = "First we square. We see that the inequality holds for $x > 4$."
    assert extract_answer(text) == "x > 4"
    assert extract_answer(text, Mode.STRICT) is None


def test_the_only_amount_of_money_among_spans_of_time() -> None:
    text = "Le prêt dure deux ans. En tout Paul devra encore verser 35 $ dans 6 semaines"
    assert verify(gold="35", answer=extract_answer(text) or "").equal
