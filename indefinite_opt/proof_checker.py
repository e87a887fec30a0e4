"""Check the proof of a bound in exact arithmetic: python proof_checker.py PROOF [PROGRAM]

Nothing but the standard library is used, and nothing of the package. What is proved, and why every
rule holds, and the format of the file, is in docs/optimality-conditions.md. Numbers of a
file are doubles, and every double is a fraction: whatever decides is computed with `Fraction`.
Floating point only guesses, and what it has guessed is then verified.

Prints `PROVED value` (exit code 0) or `FAILED: where and why` (exit code 1), and a digest of the
program that the proof is about. With a second file the programs of both must be the same.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterable
from fractions import Fraction
from math import inf, sqrt
from operator import mul
from pathlib import Path
from typing import Any

FORMAT = "indefinite_opt proof 1"
Numbers = list[Fraction]
Affine = tuple[Fraction | int, dict[int, Any]]
Implied = tuple[Numbers, Numbers, set[int]] | None


class FailedProof(Exception):
    """What does not follow, and where."""


def number(value: Any) -> Fraction:
    """A finite double or a whole number that is a double, exactly."""
    limit = {int: 2**53, float: sys.float_info.max}.get(type(value))
    if limit is None or not abs(value) <= limit:
        raise FailedProof("a finite number is missing")
    return Fraction(value)


def items(value: Any, length: int | None = None) -> list[Any]:
    """A list, of this length where one is given."""
    if type(value) is not list or (length is not None and len(value) != length):
        raise FailedProof(f"a list of {'any' if length is None else length} entries is missing")
    return value


def numbers(value: Any, length: int) -> Numbers:
    """That many finite numbers."""
    return [number(entry) for entry in items(value, length)]


def dot(one: Iterable[Fraction], other: Iterable[Fraction]) -> Fraction:
    """Σ one_i other_i, as far as both go."""
    return sum(map(mul, one, other), Fraction(0))


def entry(mapping: Any, key: str) -> Any:
    """What an object has under a name."""
    if type(mapping) is not dict or key not in mapping:
        raise FailedProof(f"{key!r} is missing")
    return mapping[key]


def index(value: Any, n: int) -> int:
    """A whole number from 0 to n - 1."""
    if type(value) is not int or not 0 <= value < n:
        raise FailedProof(f"an index below {n} is missing")
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
        if len(held) != len(set(held)) or any(map(Fraction.__gt__, self.lower, self.upper)):
            raise FailedProof("the program has overlapping rows or an empty interval")
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


class Box:
    """A part of the feasible set; which variables are at an end of their range, which inside."""

    def __init__(self, lower: Numbers, upper: Numbers, binary: set[int], inside: set[int]) -> None:
        self.lower, self.upper, self.binary, self.inside = lower, upper, binary, inside

    def part(self, i: int, lower: Fraction, upper: Fraction, inside: bool = False) -> Box:
        """The part where lower ≤ x_i ≤ upper, and x_i is inside its range if that is said."""
        low, high = self.lower.copy(), self.upper.copy()
        low[i], high[i] = lower, upper
        return Box(low, high, self.binary, self.inside | {i} if inside else self.inside)


# What a rule leaves of a box that holds the minimiser with the fewest variables inside; None where
# it leaves nothing.


def by_rows(p: Program, box: Box) -> Implied:
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
    return lower, upper, box.binary


def by_second_order(p: Program, box: Box) -> Implied:
    """Partners of a variable inside are at an end, and what is at an end is at one of the two."""
    binary = box.binary | {i for i in range(p.n) if i in p.partners[i]}
    binary = binary.union(*(p.partners[i] for i in box.inside))
    lower, upper = box.lower.copy(), box.upper.copy()
    for i in binary:
        lower[i] = lower[i] if lower[i] <= p.lower[i] else max(lower[i], p.upper[i])
        upper[i] = upper[i] if upper[i] >= p.upper[i] else min(upper[i], p.lower[i])
    if binary & box.inside or any(map(Fraction.__gt__, lower, upper)):
        return None
    return lower, upper, binary


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


def by_first_order(p: Program, box: Box) -> Implied:
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
    return None if any(map(Fraction.__gt__, lower, upper)) else (lower, upper, box.binary)


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
        if len(set(self.members)) < len(self.members):
            raise FailedProof("a member occurs twice")
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
            if squares[i] < 0 and self.members[i] not in box.binary:
                raise FailedProof("a square has a negative multiplier")
            self.add(-squares[i], share(i, 0), share(i, 1))
            for j in range(i):
                for end, other in ((0, 0), (0, 1), (1, 0), (1, 1)):
                    if (nu := next(pairs)) < 0:
                        raise FailedProof("a product has a negative multiplier")
                    if nu:
                        self.add(-nu, share(i, end), share(j, other))
        for triangle in items(entry(data, "triangles")):
            *places, last = items(triangle, 7)
            i, j, k = (index(place, m) for place in places[::2])
            p, q, r = (share(index(places[a], m), index(places[a + 1], 2)) for a in (0, 2, 4))
            if (nu := number(last)) < 0 or len({i, j, k}) < 3:
                raise FailedProof("a triangle has a negative multiplier, or a share twice")
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


def changed(p: Program, box: Box, step: Any, implied: Implied) -> Box | None:
    """The box that a step claims, within the last one; it may be larger than the implied one."""
    if "empty" in step:
        if step["empty"] is not True or implied is not None:
            raise FailedProof("the rule does not leave the box empty")
        return None
    lower, upper, binary = box.lower.copy(), box.upper.copy(), set(box.binary)
    exact = (lower, upper) if implied is None else implied[:2]
    for end, ends, known, sign in (("lower", lower, exact[0], 1), ("upper", upper, exact[1], -1)):
        for change in items(step.get(end, [])):
            i, value = index(items(change, 2)[0], p.n), number(change[1])
            # Inside the box before: the ends of a box lie in the range of the whole program.
            follows = implied is None or sign * value <= sign * known[i]
            if not follows or sign * value < sign * ends[i]:
                raise FailedProof(f"the {end} end of variable {i} does not follow")
            ends[i] = value
    binary |= {index(i, p.n) for i in items(step.get("binary", []))}
    if implied is not None and not binary <= implied[2]:
        raise FailedProof("variables are not known to be at an end")
    if any(map(Fraction.__gt__, lower, upper)):
        raise FailedProof("an interval is empty, and it is not said so")
    return Box(lower, upper, binary, box.inside)


def cut(p: Program, box: Box, step: Any, bound: Fraction, slope: Numbers) -> Implied:
    """What is left of a box without points where the tangent proves f ≥ the value of the step."""
    lower, upper, value = box.lower.copy(), box.upper.copy(), number(entry(step, "value"))
    for i, s in zip(step["members"], slope, strict=True):
        reach = max(value - bound, Fraction(0)) * (box.upper[i] - box.lower[i])
        if s > 0:
            upper[i] = min(upper[i], lower[i] + reach / s)
        elif s < 0:
            lower[i] = max(lower[i], upper[i] + reach / s)
    return lower, upper, box.binary


def parts(p: Program, box: Box, step: Any) -> list[Box]:
    """Boxes that hold the minimiser together, if the box holds it."""
    i, into = index(entry(step, "variable"), p.n), entry(step, "into")
    low, high = box.lower[i], box.upper[i]
    ends = [box.part(i, end, end) for end in (p.lower[i], p.upper[i]) if low <= end <= high]
    if into == "ends" and i in box.binary:
        return ends
    if into == "ends and inside":
        return [*ends, box.part(i, low, high, inside=True)]
    if into == "intervals" and low <= (at := number(entry(step, "at"))) <= high:
        return [box.part(i, low, at), box.part(i, at, high)]
    raise FailedProof("the parts do not cover the box")


def tree(p: Program, nodes: list[Any]) -> Fraction | None:
    """The least of all bounds that the boxes need; None where no box is left.

    The nodes stand in the order of their boxes, parts directly behind what was divided. On the way
    of one minimiser through the tree each bound is a bound of f there; see the document.
    """
    least: list[Fraction] = []
    stack: list[tuple[Box, Numbers]] = [(Box(p.lower, p.upper, set(), set()), [])]
    for place, node in enumerate(nodes):
        if not stack:
            raise FailedProof(f"node {place} belongs to no box")
        opened, known = stack.pop()
        box: Box | None = opened
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
                        box = changed(p, box, step, cut(p, box, step, bound, slope))
                elif type(rule) is str and rule in RULES:
                    box = changed(p, box, step, RULES[rule](p, box))
                else:
                    raise FailedProof("no such rule")
            except FailedProof as error:
                raise FailedProof(f"node {place}, step {k} ({str(rule)[:40]}): {error}") from None
        if box is not None and not known:
            raise FailedProof(f"node {place} has no bound")
        least += known if box is not None else []
    if stack:
        raise FailedProof(f"{len(stack)} boxes have no node")
    return min(least, default=None)


def linear_bound(data: Any, proof: Any) -> Fraction:
    """Σ (multiplier · its end of the row) + Σ (reduced cost · its end of the variable)."""
    n, m = len(items(entry(data, "cost"))), len(items(entry(data, "rows")))
    multipliers = [fraction(text) for text in items(entry(proof, "multipliers"), m)]
    reduced = numbers(data["cost"], n)
    for row, multiplier in zip(data["rows"], multipliers, strict=True):
        for i, a in map(items, items(row), [2] * len(row)):
            reduced[index(i, n)] -= multiplier * number(a)
    bound = Fraction(0)
    for prices, names in ((multipliers, ("row_lower", "row_upper")), (reduced, ("lower", "upper"))):
        low, high = (items(entry(data, name), len(prices)) for name in names)
        for price, one, other in zip(prices, low, high, strict=True):
            if price:
                bound += price * number(one if price > 0 else other)
    return bound


def fraction(text: Any) -> Fraction:
    """A number, or two whole numbers as "p/q"."""
    if type(text) is not str:
        return number(text)
    halves = text.removeprefix("-").split("/")
    if len(halves) != 2 or not all(half.isdecimal() and half.isascii() for half in halves):
        raise FailedProof(f"{text[:40]!r} is no fraction")
    if not halves[1].strip("0"):
        raise FailedProof("a fraction has the denominator 0")
    return Fraction(text)


def proxy_bound(data: Any, proof: Any) -> Fraction:
    """Of -max over α of min over K ⪰ 0 of eᵀα - ½zᵀKz + ρ‖K - K₀‖², z = yα, by one K = FFᵀ.

    With `radius` in place of ρ the distance is at most that, and costs nothing. For any point and
    offset b, -½zᵀKz is at most its tangent, and yᵀα = 0 is met with the price b.
    """
    y, C = items(entry(data, "y")), number(entry(data, "C"))
    n = len(y)
    kernel, factor = symmetric(entry(data, "K"), n), items(entry(proof, "factor"), n)
    if C < 0 or not all(type(label) is int and label in (-1, 1) for label in y) or not n:
        raise FailedProof("C is negative, or a label is not -1 or 1")
    F = [numbers(row, len(items(factor[0]))) for row in factor]
    square = sum(
        (1 if i == j else 2) * (dot(F[i], F[j]) - kernel[i][j]) ** 2
        for i in range(n) for j in range(i + 1)
    )  # fmt: skip
    if ("rho" in data) == ("radius" in data):
        raise FailedProof("either rho or radius is given")
    if "radius" in data and square > number(data["radius"]):
        raise FailedProof("the kernel is not in the ball")
    rho = number(data["rho"]) if "rho" in data else Fraction(0)
    if rho < 0:
        raise FailedProof("rho is negative")
    z = list(map(mul, y, numbers(entry(proof, "point"), n)))
    offset = number(entry(proof, "offset"))
    u = [dot(z, column) for column in zip(*F, strict=True)]
    slope = [1 - label * (dot(row, u) + offset) for label, row in zip(y, F, strict=True)]
    return -(dot(u, u) / 2 + C * sum(max(s, Fraction(0)) for s in slope) + rho * square)


def proved(document: Any) -> Fraction | None:
    """A lower bound on the minimised program; None where it has no feasible point."""
    if entry(document, "format") != FORMAT:
        raise FailedProof("the file has another format")
    kind, data, proof = (entry(document, key) for key in ("kind", "program", "proof"))
    if kind == "boxes":
        return tree(Program(data), items(entry(proof, "nodes")))
    if kind == "linear":
        return linear_bound(data, proof)
    if kind == "proxy":
        return proxy_bound(data, proof)
    raise FailedProof("there is no such kind of proof")


def reached(document: Any) -> Fraction | None:
    """The bound that is proved in the declared sense; None where there is no feasible point.

    The objective is sense·(minimum + constant), with -ray²/(4·minimum) in place of the minimum
    where that is the least q > 0 of a quadratic form at total weight 1: min over s of s²q - s·ray.
    """
    least, objective = proved(document), entry(document, "objective")
    sense, constant = entry(objective, "sense"), number(entry(objective, "constant"))
    if type(sense) is not int or sense not in (-1, 1):
        raise FailedProof("the sense is neither 1 nor -1")
    if least is None:
        return None
    if "ray" in objective:
        if least <= 0:
            raise FailedProof("the form is not proved to be positive along every ray")
        least = -(number(objective["ray"]) ** 2) / (4 * least)
    return sense * (least + constant)


def check(document: Any) -> tuple[float, Any]:
    """The bound that a document claims, and the program it is about; raises `FailedProof`."""
    try:
        bound, claim = reached(document), number(entry(document, "claim"))
        sense = document["objective"]["sense"]
        if bound is not None and sense * claim > sense * bound:
            raise FailedProof(f"{float(claim)!r} is claimed, {float(bound)!r} is proved")
        return float(claim), document["program"]
    except OverflowError:
        raise FailedProof("numbers are too large for their guesses") from None


def digest(program: Any) -> str:
    """A fingerprint of a program, of the values of its numbers and not of how they are written."""
    text = json.dumps(program, sort_keys=True)
    plain = json.dumps(json.loads(text, parse_int=float), sort_keys=True)
    return hashlib.sha256(plain.encode()).hexdigest()


def read(path: str | Path) -> Any:
    """The document of a file; raises `FailedProof` where it is none."""
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise FailedProof(f"{path} cannot be read: {str(error)[:200]}") from None
    if entry(document, "format") != FORMAT:
        raise FailedProof(f"{path} has another format than {FORMAT!r}")
    return document


def main(arguments: list[str]) -> int:
    """The lines that are printed, and the exit code."""
    try:
        value, program = check(read(arguments[0]))
        if len(arguments) > 1 and digest(read(arguments[1]).get("program")) != digest(program):
            raise FailedProof("the proof is about another program")
    except FailedProof as error:
        print(f"FAILED: {error}")
        return 1
    print(f"PROVED {value!r}\nprogram {digest(program)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:3]) if sys.argv[1:] else __doc__)
