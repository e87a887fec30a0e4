"""Check the proof of a bound in exact arithmetic: python proof_checker.py PROOF [PROGRAM]

Only the standard library is used. docs/optimality-conditions.md proves every rule and describes the
file. Numbers are doubles, and every double is a fraction: whatever decides is computed with
`Fraction`. Floating point only guesses, and what it has guessed is then verified.

Prints `PROVED value` (exit code 0) or `FAILED: where and why` (exit code 1), and a digest of the
program and its objective. With a second file those of both must be the same.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Iterable
from fractions import Fraction
from math import inf, sqrt
from operator import mul
from pathlib import Path
from typing import Any, NamedTuple

FORMAT = "indefinite_opt proof 1"
Numbers = list[Fraction]
Affine = tuple[Fraction | int, dict[int, Any]]


class FailedProof(Exception):
    """What does not follow, and where."""


def require(condition: bool, message: str) -> None:
    """Fail unless the condition holds."""
    if not condition:
        raise FailedProof(message)


def number(value: Any) -> Fraction:
    """A finite double or a whole number that is a double, exactly."""
    limit = {int: 2**53, float: sys.float_info.max}.get(type(value))
    require(limit is not None and abs(value) <= limit, "a finite number is missing")
    return Fraction(value)


def items(value: Any, length: int | None = None) -> list[Any]:
    """A list, of this length where one is given."""
    require(type(value) is list, "a list is missing")
    require(length in (None, len(value)), f"a list does not have {length} entries")
    return value


def numbers(value: Any, length: int) -> Numbers:
    """That many finite numbers."""
    return [number(entry) for entry in items(value, length)]


def dot(one: Iterable[Fraction], other: Iterable[Fraction]) -> Fraction:
    """Σ one_i other_i, as far as both go."""
    return sum(map(mul, one, other), Fraction(0))


def entry(mapping: Any, key: str) -> Any:
    """What an object has under a name."""
    require(type(mapping) is dict and key in mapping, f"{key!r} is missing")
    return mapping[key]


def index(value: Any, n: int) -> int:
    """A whole number from 0 to n - 1."""
    require(type(value) is int and 0 <= value < n, f"an index below {n} is missing")
    return value


def symmetric(value: Any, n: int) -> list[Numbers]:
    """A symmetric matrix from the rows of its lower triangle."""
    H = [numbers(row, i + 1) for i, row in enumerate(items(value, n))]
    return [[H[max(i, j)][min(i, j)] for j in range(n)] for i in range(n)]


class Program:
    """min ½xᵀHx + cᵀx over lower ≤ x ≤ upper, rows·x = rhs, no variable in two rows."""

    def __init__(self, data: Any) -> None:
        self.n = n = len(items(entry(data, "c")))
        self.H, self.c = symmetric(entry(data, "H"), n), numbers(data["c"], n)
        self.lower, self.upper = (numbers(entry(data, end), n) for end in ("lower", "upper"))
        dense = [numbers(row, n) for row in items(entry(data, "rows"))]
        self.rows = [{i: a for i, a in enumerate(row) if a} for row in dense]
        self.rhs = numbers(entry(data, "rhs"), len(dense))
        held = [i for row in self.rows for i in row]
        require(len(held) == len(set(held)), "a variable is in two rows")
        require(all(map(Fraction.__le__, self.lower, self.upper)), "an interval is empty")
        self.groups = [{i: Fraction(1) for i in range(n) if i not in set(held)}, *self.rows]
        self.partners = self._partners()

    def _partners(self) -> list[set[int]]:
        """j for each i, not both inside at the minimiser; i itself where it is at an end."""
        H = self.H
        found: list[set[int]] = [set() for _ in range(self.n)]
        for i in self.groups[0]:
            found[i] |= {i} if H[i][i] <= 0 else set()
            found[i] |= {j for j in self.groups[0] if i != j and H[i][i] * H[j][j] <= H[i][j] ** 2}
        for row in self.rows:
            for i, a in row.items():
                own = H[i][i] / a**2
                curved = {j: own + H[j][j] / b**2 - 2 * H[i][j] / (a * b) for j, b in row.items()}
                found[i] |= {j for j in row if i != j and curved[j] <= 0}
        return found


class Box(NamedTuple):
    """A part of the feasible set; which variables are at an end of their range, which inside."""

    lower: Numbers
    upper: Numbers
    binary: set[int]
    inside: set[int]

    def part(self, i: int, lower: Fraction, upper: Fraction) -> Box:
        """The part where lower ≤ x_i ≤ upper."""
        low, high = self.lower.copy(), self.upper.copy()
        low[i], high[i] = lower, upper
        return self._replace(lower=low, upper=high)

    @property
    def unless_empty(self) -> Box | None:
        """The box, or None where an interval is empty."""
        return self if all(map(Fraction.__le__, self.lower, self.upper)) else None


# What a rule leaves of a box that holds the minimiser with the fewest variables inside; None where
# it leaves nothing.


def by_rows(p: Program, box: Box) -> Box | None:
    """What each row leaves for one variable, the others being in their intervals."""
    lower, upper = box.lower.copy(), box.upper.copy()
    for row, target in zip(p.rows, p.rhs, strict=True):
        ends = {i: sorted((a * lower[i], a * upper[i])) for i, a in row.items()}
        least, most = (sum((end[side] for end in ends.values()), Fraction(0)) for side in (0, 1))
        if not least <= target <= most:
            return None
        for i, a in row.items():
            left = (target - most + ends[i][1]) / a, (target - least + ends[i][0]) / a
            lower[i], upper[i] = max(lower[i], min(left)), min(upper[i], max(left))
    return Box(lower, upper, box.binary, box.inside)


def by_second_order(p: Program, box: Box) -> Box | None:
    """Partners of a variable inside are at an end, and what is at an end is at one of the two."""
    binary = box.binary | {i for i in range(p.n) if i in p.partners[i]}
    binary = binary.union(*(p.partners[i] for i in box.inside))
    lower, upper = box.lower.copy(), box.upper.copy()
    for i in binary:
        lower[i] = lower[i] if lower[i] <= p.lower[i] else max(lower[i], p.upper[i])
        upper[i] = upper[i] if upper[i] >= p.upper[i] else min(upper[i], p.lower[i])
    return None if binary & box.inside else Box(lower, upper, binary, box.inside).unless_empty


def gradient_range(p: Program, box: Box, i: int) -> tuple[Fraction, Fraction]:
    """Least and greatest ∂f/∂x_i in the box."""
    low = high = p.c[i]
    for h, a, b in zip(p.H[i], box.lower, box.upper, strict=True):
        if h:
            one = h * a
            other = one if a == b else h * b
            low, high = low + min(one, other), high + max(one, other)
    return low, high


def level_range(p: Program, row: dict[int, Fraction], room: Fraction,
                v: dict[int, tuple[Fraction, Fraction]]) -> list[Fraction | float]:  # fmt: skip
    """Least and greatest level ν for a row: what is above it is full, what is below it empty."""
    found: list[Fraction | float] = [-inf, inf]
    for side in (0, 1):
        total = Fraction(0)
        for i in sorted(row, key=lambda i: v[i][side], reverse=True):
            total += abs(row[i]) * (p.upper[i] - p.lower[i])
            if (total > room) if side == 0 else (total >= room > 0):
                found[side] = v[i][side]
                break
    return found


def by_first_order(p: Program, box: Box) -> Box | None:
    """A variable whose multiplier has one sign in the whole box is at an end of its range."""
    lower, upper = box.lower.copy(), box.upper.copy()
    for k, row in enumerate(p.groups):
        v = {}
        for i, a in row.items():
            one, other = (-g / a for g in gradient_range(p, box, i))
            v[i] = (min(one, other), max(one, other))
        least: Fraction | float = 0
        most: Fraction | float = 0
        if k > 0:
            room = p.rhs[k - 1] - sum(min(a * p.lower[i], a * p.upper[i]) for i, a in row.items())
            least, most = level_range(p, row, room, v)
        for i, a in row.items():
            if v[i][0] > most or v[i][1] < least:
                if i in box.inside:
                    return None
                up = (v[i][0] > most) == (a > 0)
                lower[i] = max(lower[i], p.upper[i]) if up else lower[i]
                upper[i] = upper[i] if up else min(upper[i], p.lower[i])
    return Box(lower, upper, box.binary, box.inside).unless_empty


RULES = {"rows": by_rows, "second order": by_second_order, "first order": by_first_order}


def power(x: Fraction) -> Fraction:
    """A power of two near |x|."""
    return Fraction(2) ** (x.numerator.bit_length() - x.denominator.bit_length())


def deficit(M: list[Numbers]) -> Fraction:
    """ε ≥ 0 with M + εI positive semidefinite; M is given by its lower triangle.

    With whole numbers L, A ≈ M/unit and R = A + jI - LLᵀ, M/unit + jI = LLᵀ + R + (rounding of at
    most 1 an entry); a symmetric matrix is at least minus its largest row sum of absolute values.
    """
    m, largest = len(M), max((abs(a) for row in M for a in row), default=Fraction(0))
    if not largest:
        return Fraction(0)
    unit, one = power(largest) / 2**100, 2**100
    A = [[int(a / unit) for a in row] for row in M]
    floats = [[a / one for a in row] for row in A]
    jitter = 0
    while (factor := cholesky(floats, jitter / one)) is None:
        jitter = 16 * jitter or m * 2**48
    L = [[round(a * 2**50) for a in row] for row in factor]
    sums = [m] * m
    for i in range(m):
        for j in range(i + 1):
            rest = abs(A[i][j] + (jitter if i == j else 0) - sum(map(mul, L[i], L[j])))
            sums[i] += rest
            sums[j] += rest if i != j else 0
    return (max(sums) + jitter) * unit


def cholesky(A: list[list[float]], jitter: float) -> list[list[float]] | None:
    """L with LLᵀ ≈ A + jitter·I, or None."""
    L: list[list[float]] = []
    for i, row in enumerate(A):
        new: list[float] = []
        for j in range(i):
            new.append((row[j] - sum(map(mul, new, L[j]))) / L[j][j])
        pivot = row[i] + jitter - sum(map(mul, new, new))
        if not 1e-300 < pivot < inf:
            return None
        L.append([*new, sqrt(pivot)])
    return L


class Minorant:
    """const + slope·t + ½tᵀMt, at most f in a box, for the shares t of some intervals.

    x_i = lower_i + width_i t_i for these members, the others are taken at their middle. Multiples
    of products of shares t_i or 1 - t_i have been subtracted from f, multiples of the rows added.
    """

    def __init__(self, p: Program, box: Box, data: Any) -> None:
        self.members = [index(i, p.n) for i in items(entry(data, "members"))]
        require(len(set(self.members)) == len(self.members), "a member occurs twice")
        w = [box.upper[i] - box.lower[i] for i in self.members]
        half = {i: (box.upper[i] - box.lower[i]) / 2 for i in set(range(p.n)) - set(self.members)}
        low = [a + half.get(i, 0) for i, a in enumerate(box.lower)]
        away = [j for j in range(p.n) if low[j]]
        g = [p.c[i] + sum(p.H[i][j] * low[j] for j in away) for i in range(p.n)]
        self.const = sum((low[i] * (p.c[i] + g[i]) for i in away), Fraction(0)) / 2
        self.slope = [a * g[i] for a, i in zip(w, self.members, strict=True)]
        self.M = [
            [a * p.H[i][j] * b for j, b in zip(self.members[: k + 1], w, strict=False)]
            for k, (a, i) in enumerate(zip(w, self.members, strict=True))
        ]
        self.subtract_products(box, data)
        self.rows: list[tuple[dict[int, Fraction], Fraction, Fraction]] = []
        across = items(entry(data, "across"), len(p.rows))
        for row, target, v in zip(p.rows, p.rhs, across, strict=True):
            r = target - sum(a * low[i] for i, a in row.items())
            play = sum((abs(a) * half.get(i, 0) for i, a in row.items()), Fraction(0))
            R = {k: row[i] * w[k] for k, i in enumerate(self.members) if i in row and w[k]}
            self.add_row(R, r, play, numbers(v, len(w)))
        for i in half:
            # What f may fall where an interval that is no member is not at its middle.
            if half[i]:
                self.const -= half[i] * max(map(abs, gradient_range(p, box, i)))

    def add(self, nu: Fraction, one: Affine, other: Affine) -> None:
        """Add nu times the product of two affine functions, each a constant and its slopes."""
        (a, first), (b, second) = one, other
        self.const += nu * a * b
        for i, x in first.items():
            self.slope[i] += nu * x * b
            for j, y in second.items():
                self.M[max(i, j)][min(i, j)] += nu * x * y * (2 if i == j else 1)
        for j, y in second.items():
            self.slope[j] += nu * y * a

    def subtract_products(self, box: Box, data: Any) -> None:
        """Of two shares, of the two shares of one interval, and triangle inequalities."""
        m = len(self.members)
        pairs = iter(numbers(entry(data, "pairs"), 2 * m * (m - 1)))
        squares = numbers(entry(data, "squares"), m)
        for i in range(m):
            allowed = squares[i] >= 0 or self.members[i] in box.binary
            require(allowed, "a square has a negative multiplier")
            self.add(-squares[i], share(i, 0), share(i, 1))
            for j in range(i):
                for end, other in ((0, 0), (0, 1), (1, 0), (1, 1)):
                    require((nu := next(pairs)) >= 0, "a product has a negative multiplier")
                    if nu:
                        self.add(-nu, share(i, end), share(j, other))
        for triangle in items(entry(data, "triangles")):
            *places, last = items(triangle, 7)
            p, q, r = (share(index(places[a], m), index(places[a + 1], 2)) for a in (0, 2, 4))
            require((nu := number(last)) >= 0, "a triangle has a negative multiplier")
            # p(1 - q)(1 - r) + (1 - p)qr = p - pq - pr + qr is a sum of products, so it is ≥ 0.
            for first, second, sign in ((p, (1, {}), 1), (p, q, -1), (p, r, -1), (q, r, 1)):
                self.add(-sign * nu, first, second)

    def add_row(self, R: dict[int, Fraction], r: Fraction, play: Fraction, v: Numbers) -> None:
        """Add (R·t - r)(v·t), 0 where the row is met, for any v; it is met up to `play`."""
        if R:
            self.add(Fraction(1), (-r, R), (0, {k: a for k, a in enumerate(v) if a}))
            self.const -= play * sum(map(abs, v))
            self.rows.append((R, r, play))

    def tangent(self, data: Any) -> tuple[Fraction, Numbers]:
        """V and s with f ≥ V + Σ|s_i|·(share of the interval from its better end) in the box."""
        m = len(self.members)
        point, wanted = (numbers(entry(data, key), m) for key in ("point", "slope"))
        # ½ε(t² - t) ≤ 0 makes a convex function of it.
        epsilon = deficit(self.M)
        curved = [epsilon * t for t in point]
        for i, row in enumerate(self.M):
            curved[i] += dot(row, point)
            for j, a in enumerate(row[:i]):
                curved[j] += a * point[i]
        value = self.const - dot(point, curved) / 2
        slope = [s - epsilon / 2 + a for s, a in zip(self.slope, curved, strict=True)]
        for R, r, play in self.rows:
            # Any multiplier of the row is valid; this one makes the slope about what is wanted.
            i = max(R, key=lambda i: abs(R[i]))
            nu = Fraction(float((wanted[i] - slope[i]) / R[i]))
            value -= nu * r + abs(nu) * play
            for j, a in R.items():
                slope[j] += nu * a
        for s, a in zip(slope, wanted, strict=True):
            value += min(s - a, Fraction(0)) + min(a, Fraction(0))
        return value, wanted


def share(i: int, end: int) -> Affine:
    """t_i, or 1 - t_i."""
    return end, {i: 1 - 2 * end}


def changed(p: Program, box: Box, step: Any, implied: Box | None) -> Box | None:
    """The box that a step claims, within the last one; it may be larger than the implied one."""
    if "empty" in step:
        require(step["empty"] is True and implied is None, "the rule leaves something of the box")
        return None
    after = Box(box.lower.copy(), box.upper.copy(), set(box.binary), box.inside)
    exact = implied or after
    for end, ends, known, sign in (
        ("lower", after.lower, exact.lower, 1), ("upper", after.upper, exact.upper, -1)
    ):  # fmt: skip
        for change in items(step.get(end, [])):
            i, value = index(items(change, 2)[0], p.n), number(change[1])
            follows = implied is None or sign * ends[i] <= sign * value <= sign * known[i]
            require(follows, f"the {end} end of variable {i} does not follow")
            ends[i] = value
    after.binary.update(index(i, p.n) for i in items(step.get("binary", [])))
    require(implied is None or after.binary <= exact.binary, "a variable may be inside")
    require(after.unless_empty is not None, "an interval is empty, and it is not said so")
    return after


def cut(box: Box, step: Any, bound: Fraction, slope: Numbers) -> Box:
    """What is left of a box without points where the tangent proves f ≥ the value of the step."""
    lower, upper, value = box.lower.copy(), box.upper.copy(), number(entry(step, "value"))
    for i, s in zip(step["members"], slope, strict=True):
        reach = max(value - bound, Fraction(0)) * (box.upper[i] - box.lower[i])
        if s > 0:
            upper[i] = min(upper[i], lower[i] + reach / s)
        elif s < 0:
            lower[i] = max(lower[i], upper[i] + reach / s)
    return box._replace(lower=lower, upper=upper)


def parts(p: Program, box: Box, step: Any) -> list[Box]:
    """Boxes that hold the minimiser together, if the box holds it."""
    i, into = index(entry(step, "variable"), p.n), entry(step, "into")
    low, high = box.lower[i], box.upper[i]
    ends = [box.part(i, end, end) for end in (p.lower[i], p.upper[i]) if low <= end <= high]
    if into == "ends" and i in box.binary:
        return ends
    if into == "ends and inside":
        return [*ends, box._replace(inside=box.inside | {i})]
    if into == "intervals" and low <= (at := number(entry(step, "at"))) <= high:
        return [box.part(i, low, at), box.part(i, at, high)]
    raise FailedProof("the parts do not cover the box")


def tree(p: Program, nodes: list[Any]) -> Fraction | None:
    """The least of all numbers that the boxes need; None where no box is left.

    Nodes stand in the order of their boxes, parts directly behind what was divided. `known` is a
    lower bound of f at the minimiser, if that is in the box.
    """
    least: list[Fraction] = []
    stack: list[tuple[Box, Numbers]] = [(Box(p.lower, p.upper, set(), set()), [])]
    for place, node in enumerate(nodes):
        require(bool(stack), f"node {place} belongs to no box")
        box: Box | None
        box, known = stack.pop()
        for k, step in enumerate(items(node)):
            rule = entry(step, "rule")
            try:
                if box is None:
                    raise FailedProof("no box is left")
                if rule == "divide":
                    stack += [(part, known) for part in reversed(parts(p, box, step))]
                    box = None
                elif rule in ("tangent", "bound"):
                    bound, slope = Minorant(p, box, step).tangent(step)
                    known = [max([bound, *known])]
                    if rule == "tangent":
                        least.append(max(known[0], number(entry(step, "value"))))
                        box = changed(p, box, step, cut(box, step, bound, slope))
                else:
                    require(type(rule) is str and rule in RULES, "no such rule")
                    box = changed(p, box, step, RULES[rule](p, box))
            except FailedProof as error:
                raise FailedProof(f"node {place}, step {k} ({str(rule)[:40]}): {error}") from None
        if box is not None:
            require(bool(known), f"node {place} has no bound")
            least += known
    require(not stack, f"{len(stack)} boxes have no node")
    return min(least, default=None)


def linear_bound(data: Any, proof: Any) -> Fraction:
    """Σ (multiplier · its end of the row) + Σ (reduced cost · its end of the variable)."""
    n, m = len(items(entry(data, "cost"))), len(items(entry(data, "rows")))
    multipliers = [fraction(text) for text in items(entry(proof, "multipliers"), m)]
    reduced = numbers(data["cost"], n)
    for row, multiplier in zip(data["rows"], multipliers, strict=True):
        for i, a in (items(pair, 2) for pair in items(row)):
            reduced[index(i, n)] -= multiplier * number(a)
    bound = Fraction(0)
    for prices, names in ((multipliers, ("row_lower", "row_upper")), (reduced, ("lower", "upper"))):
        low, high = (items(entry(data, name), len(prices)) for name in names)
        for price, one, other in zip(prices, low, high, strict=True):
            bound += price * number(one if price > 0 else other) if price else 0
    return bound


def fraction(text: Any) -> Fraction:
    """A number, or two whole numbers as "p/q"."""
    if type(text) is not str:
        return number(text)
    require(bool(re.fullmatch(r"-?\d{1,4000}/0*[1-9]\d{0,4000}", text, re.ASCII)), "no fraction")
    return Fraction(text)


def proxy_bound(data: Any, proof: Any) -> Fraction:
    """Of -max over α of min over K ⪰ 0 of eᵀα - ½zᵀKz + ρ‖K - K₀‖², z = yα, by one K = FFᵀ.

    With `radius` in place of ρ the distance is at most that, and costs nothing. For any point and
    offset b, -½zᵀKz is at most its tangent, and yᵀα = 0 is met with the price b.
    """
    y, C = items(entry(data, "y")), number(entry(data, "C"))
    n = len(y)
    kernel, factor = symmetric(entry(data, "K"), n), items(entry(proof, "factor"), n)
    rho = number(data.get("rho", 0))
    require(n > 0 and C >= 0 and rho >= 0, "C or rho is negative, or there are no points")
    require(all(type(a) is int and a in (-1, 1) for a in y), "a label is not -1 or 1")
    F = [numbers(row, len(items(factor[0]))) for row in factor]
    square = sum(
        (1 if i == j else 2) * (dot(F[i], F[j]) - kernel[i][j]) ** 2
        for i in range(n) for j in range(i + 1)
    )  # fmt: skip
    if "rho" not in data:
        require(square <= number(entry(data, "radius")), "the kernel is not in the ball")
    z = list(map(mul, y, numbers(entry(proof, "point"), n)))
    offset = number(entry(proof, "offset"))
    u = [dot(z, column) for column in zip(*F, strict=True)]
    slope = [1 - label * (dot(row, u) + offset) for label, row in zip(y, F, strict=True)]
    return -(dot(u, u) / 2 + C * sum(max(s, Fraction(0)) for s in slope) + rho * square)


def proved(document: Any) -> Fraction | None:
    """A lower bound on the minimised program; None where it has no feasible point."""
    require(entry(document, "format") == FORMAT, f"the format is not {FORMAT!r}")
    kind, data, proof = (entry(document, key) for key in ("kind", "program", "proof"))
    if kind == "boxes":
        return tree(Program(data), items(entry(proof, "nodes")))
    if kind == "linear":
        return linear_bound(data, proof)
    require(kind == "proxy", "there is no such kind of proof")
    return proxy_bound(data, proof)


def reached(document: Any) -> Fraction | None:
    """The bound that is proved in the declared sense; None where there is no feasible point.

    The objective is sense·(minimum + constant), with -ray²/(4·minimum) in place of the minimum
    where that is the least q > 0 of a quadratic form at total weight 1: min over s of s²q - s·ray.
    """
    least, objective = proved(document), entry(document, "objective")
    sense, constant = entry(objective, "sense"), number(entry(objective, "constant"))
    require(type(sense) is int and sense in (-1, 1), "the sense is neither 1 nor -1")
    if least is None:
        return None
    if "ray" in objective:
        require(least > 0, "the form is not proved to be positive along every ray")
        least = -(number(objective["ray"]) ** 2) / (4 * least)
    return sense * (least + constant)


def check(document: Any) -> tuple[float, Any]:
    """The bound that a document claims, and the program it is about; raises `FailedProof`."""
    try:
        bound, claim = reached(document), number(entry(document, "claim"))
        if bound is not None:
            beyond = document["objective"]["sense"] * (claim - bound) > 0
            require(not beyond, f"{float(claim)!r} is claimed, {float(bound)!r} is proved")
    except OverflowError:
        raise FailedProof("numbers are too large for their guesses") from None
    return float(claim), document["program"]


def digest(document: Any) -> str:
    """A fingerprint of program and objective, of the values of the numbers however written."""
    said = {key: entry(document, key) for key in ("kind", "program", "objective")}
    plain = json.dumps(json.loads(json.dumps(said), parse_int=float), sort_keys=True)
    return hashlib.sha256(plain.encode()).hexdigest()


def read(path: str | Path) -> Any:
    """The document of a file; raises `FailedProof` where it is none."""
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise FailedProof(f"{path} cannot be read: {str(error)[:200]}") from None
    require(entry(document, "format") == FORMAT, f"the format of {path} is not {FORMAT!r}")
    return document


def main(arguments: list[str]) -> int:
    """The lines that are printed, and the exit code."""
    try:
        document, *others = map(read, arguments)
        value, _ = check(document)
        same = all(digest(other) == digest(document) for other in others)
        require(same, "the proof is about another program")
    except FailedProof as error:
        print(f"FAILED: {error}")
        return 1
    print(f"PROVED {value!r}\nprogram {digest(document)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:3]) if sys.argv[1:] else __doc__)
