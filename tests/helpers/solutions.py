"""What the solutions of the exercises in the notebooks print, where their texts say it."""

from __future__ import annotations

import re
from collections.abc import Callable

__all__ = ["NUMBER_IN_TEXT", "SOLVES"]

NUMBER_IN_TEXT = re.compile(r"(?<![\w.])[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?(?![\w.]*[A-Za-z])")

Check = Callable[[str, list[float]], bool]
"""Whether a printed text, with its numbers, is what the solution says."""

SOLVES: dict[str, tuple[Check, Check, Check]] = {
    "01": (
        # Gershgorin's discs prove that the second kernel is positive definite.
        lambda text, x: (
            re.search(r"10\) nonconvex LOCAL .*\n\(99, 0\) convex GLOBAL", text) is not None
            and x[2] > 1.0 > x[5] > 0.0
        ),
        # The point, both ends of the bracket, and the gap.
        lambda text, x: x[3] <= x[0] * (1.0 + 1e-6) and x[3] <= x[4] <= x[3] * (1.0 + 1e-3),
        lambda text, x: len(x) == 3 and x[0] < min(x[1:]),
    ),
    "02": (
        lambda text, x: text.endswith("LOCAL\n") and abs(x[2] - x[0]) + abs(x[2] - x[1]) < 1e-5,
        lambda text, x: 0.4 < x[0] / x[1] < 0.6,
        # Shor's relaxation with x_i² ≤ u x_i, by Clarabel: 1.79272. The smallest eigenvalue of H is
        # ½ - √1.45, which gives 1.9146.
        lambda text, x: 1.7927 <= x[0] < 1.80 and x[1:] == [1.915, 1.793],
    ),
    "03": (
        lambda text, x: text.endswith("True\n") and x[0] <= x[1],
        # 14 words: Brouwer et al. (1990), A(8, 4, 4).
        lambda text, x: 13.99 < x[0] <= 14.0 + 1e-6 <= x[1] + 2e-6 and x[1] < 15.0,
        lambda text, x: (
            re.findall(r"(\w+) (\w+)\n", text)
            == [("nonconvex", "LOCAL")] * 2 + [("convex", "GLOBAL")] * 2
        ),
    ),
    "04": (
        # ⟨(u, v), (u', v')⟩ = uu' - vv'.
        lambda text, x: x == [0.0, 1.0, -1.0, 1.0, 3.0, 0.0, -1.0, 0.0, -3.0],
        lambda text, x: all(abs(value - 2.0 / 3.0) < 1e-6 for value in x) and len(x) == 2,
        lambda text, x: (
            text.startswith("16 {'LOCAL'}\n0 ") and all(abs(end - 0.5) < 1e-4 for end in x[2:])
        ),
    ),
    "05": (
        lambda text, x: (
            x[0] == 1.0
            and x[1] < 1e-9
            and 1e-3 < x[3] < 0.1
            and x[2] == x[4] == 0.0
            and min(x[5], x[7]) > 0.5
            and x[8] > 0.0
        ),
        lambda text, x: x[0] < 1e-4 and x[1] > 1.0,
        # The ranks 4, 8, 16 and 60, each with its share.
        lambda text, x: x[4] == 16.0 and x[1] < x[7] < x[5],
    ),
    "06": (
        lambda text, x: x[0] >= 0.0,
        lambda text, x: x[0] < 1e-4,
        lambda text, x: len(x) == 3 and max(x) - min(x) <= 0.02,
    ),
    "07": (
        lambda text, x: "≤ 0, so the objective is unbounded along that weight" in text,
        # The matrix is definite on one side of the infimum alone.
        lambda text, x: abs((x[0] + x[2]) / 2.0 - 0.964) < 1e-3 and x[1] < -0.01 and x[3] > 0.0,
        lambda text, x: (
            len(shares := [float(one) for one in re.findall(r"^0 +(0\.\d+)", text, re.MULTILINE)])
            == 2
            and abs(shares[0] - shares[1]) <= 0.1
        ),
    ),
    "08": (
        # For each form five values of C, each with its accuracy; that of C = 1 is the best.
        lambda text, x: x[5] == max(x[1:10:2]) > 0.9 and x[15] == max(x[11::2]) > 0.9,
        # The powers, with their signatures and shares.
        lambda text, x: x[3] > x[7] > x[11] > x[15] == 0.0 and x[14] == 0.0,
        lambda text, x: x[1] < x[3] < x[5] and x[1] > 0.6 and x[5] > 0.85,
    ),
    "09": (
        # Starts, steps, hits and instances in each line; the second line has ten times as many
        # steps as the first, and the last one ten times as many starts.
        lambda text, x: x[2] <= x[6] < x[14] <= x[15],
        lambda text, x: text.startswith("1 FAILED"),
        lambda text, x: text.startswith("MISSED BY 0.0"),
    ),
    "10": (
        lambda text, x: (
            re.findall(r"^([A-Z]+) (\d+)% of the points", text, re.MULTILINE)[0][0] == "GLOBAL"
            and "\nLOCAL " in text
            and ": converged" in text
        ),
        lambda text, x: text.startswith("InfeasibleProblem: "),
        lambda text, x: text.startswith("True\n") and abs(x[0] - x[1]) <= 1e-6 * abs(x[0]),
    ),
    "11": (
        # For each scale of the starts: itself, the share at the optimum, the different ends.
        lambda text, x: x[5] <= x[2] and 0.0 < x[1] < 1.0 and 0.0 < x[4] < 1.0,
        lambda text, x: 0 < x[1] < x[0] <= 72,
        # 1 start at least, and with p = 1/50 at most log 0.01 / log 0.98 = 228.
        lambda text, x: len(x) == 12 and min(x) >= 1.0 and max(x) <= 228.0,
    ),
    "12": (
        lambda text, x: x == [-1.0, -1.5],
        # n cos(π/n) for n = 5 and 7.
        lambda text, x: (
            x == [4.0, -4.0, -4.0, 5.0, -3.0, -4.0451, 6.0, -6.0, -6.0, 7.0, -5.0, -6.3068]
        ),
        lambda text, x: text.startswith("FEASIBLE") and 0.4 < x[0] / x[1] < 0.6,
    ),
    "13": (
        # vᵀKv = -2, times γ/2 = 4.
        lambda text, x: text == "[-1.  1.] -8\n",
        lambda text, x: re.findall(r"(True|False)\n", text) == ["True", "False"],
        lambda text, x: text.startswith("FAILED: the objective does not fall along the ray"),
    ),
}
"""By the numbers of the notebooks, for each of their three exercises."""
