"""Four worked examples for base models, written for this project: arithmetic, algebra, counting, geometry. Each ends in a box."""

from __future__ import annotations

SHOTS = (
    (
        "A baker fills 6 trays with 14 rolls each and sells 59 rolls before noon. How many rolls are left?",
        r"The trays hold $6 \cdot 14 = 84$ rolls. After the sale $84 - 59 = 25$ rolls are left. The answer is $\boxed{25}$.",
    ),
    (
        r"Find all real numbers $x$ with $2x^2 - 3x - 9 = 0$.",
        r"We factor: $2x^2 - 3x - 9 = (2x + 3)(x - 3)$. So $2x + 3 = 0$ or $x - 3 = 0$, which gives $x = -\frac{3}{2}$ or "
        r"$x = 3$. The answer is $\boxed{-\frac{3}{2}, 3}$.",
    ),
    (
        "Two different numbers are drawn at random from 1, 2, 3, 4, 5 and 6. What is the probability that their sum is 7?",
        r"There are $\binom{6}{2} = 15$ equally likely pairs. The pairs with sum 7 are $\{1,6\}$, $\{2,5\}$ and $\{3,4\}$, three "
        r"in all. The probability is $\frac{3}{15} = \frac{1}{5}$. The answer is $\boxed{\frac{1}{5}}$.",
    ),
    (
        "A right triangle has legs of length 9 and 12. What is the radius of its inscribed circle?",
        r"The hypotenuse is $\sqrt{9^2 + 12^2} = \sqrt{225} = 15$. The inscribed circle of a right triangle has the radius "
        r"$\frac{9 + 12 - 15}{2} = 3$. The answer is $\boxed{3}$.",
    ),
)
"""Question and answer of each example."""
