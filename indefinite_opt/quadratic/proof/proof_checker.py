"""Check the proof of a bound in exact arithmetic: python proof_checker.py PROOF

PROOF is a file, or - for standard input. Only the standard library is used.
docs/quadratic/proof-format.md describes the file, and docs/quadratic/optimality-conditions.md
proves every rule. The numbers of the file are doubles, which are read as fractions; nothing is
computed in floating point. Prints `PROVED: optimal value <= v` of a maximum, or >= of a minimum, or
that the program is unbounded or infeasible (exit code 0), and a digest of the program and its
objective, or `FAILED: where and why` (exit code 1).
"""

from __future__ import annotations

import hashlib
import json
import sys
from fractions import Fraction
from itertools import combinations
from math import inf
from operator import gt, le, mul
from pathlib import Path
from typing import Any, NamedTuple

FORMAT = "indefinite_opt proof 2"
MALFORMED = (LookupError, TypeError, ValueError, ArithmeticError, RecursionError, AttributeError)
Numbers = list[Fraction]
Affine = tuple[Fraction, dict[int, Any]]
ONE: Affine = (Fraction(1), {})


class FailedProof(Exception):
    """A step that does not follow; the message says which and why."""


def require(condition: bool, message: str) -> None:
    """Fail unless the condition holds."""
    if not condition:
        raise FailedProof(message)


def exact(value: Any) -> Any:
    """The content of a document, with its numbers, all of which are doubles, as fractions."""
    if type(value) is dict and value:
        raw = ("format", "kind", "rule", "multipliers", "direction", "start")
        return {key: entry if key in raw else exact(entry) for key, entry in value.items()}
    if type(value) is list:
        return [exact(entry) for entry in value]
    require(type(value) in (int, float, type(None)), "there is something other than numbers")
    require(type(value) is not int or abs(value) <= 2**53, "a number is too large")
    return None if value is None else Fraction(value)


def index(value: Any, n: int) -> int:
    """A whole number from 0 to n - 1."""
    require(value is not None and value in range(n), f"an index below {n} is missing")
    return int(value)


def symmetric(rows: list[Numbers]) -> list[Numbers]:
    """A symmetric matrix from the rows of its lower triangle."""
    n = len(rows)
    require([len(row) for row in rows] == [*range(1, n + 1)], "it is not a lower triangle")
    return [[rows[max(i, j)][min(i, j)] for j in range(n)] for i in range(n)]


class ExactProgram:
    """min ½xᵀHx + cᵀx over lower ≤ x ≤ upper, rows·x = rhs."""

    def __init__(self, data: Any) -> None:
        self.H, self.c, self.n = symmetric(data["H"]), data["c"], len(data["c"])
        self.lower, self.upper, rows = data["lower"], data["upper"], data["rows"]
        sizes = {len(vector) for vector in (self.H, self.lower, self.upper, *rows)}
        require(sizes == {self.n}, "a vector or a matrix has another size")
        require(all(map(le, self.lower, self.upper)), "an interval is empty")
        sparse = [{i: a for i, a in enumerate(row) if a != 0} for row in rows]
        self.rows: list[Any] = list(zip(sparse, data["rhs"], strict=True))
        self.columns = [{k: r[i] for k, r in enumerate(sparse) if i in r} for i in range(self.n)]

    def exclusive(self, i: int, j: int) -> bool:
        """Whether i and j cannot both be inside at the minimiser; for i = j, whether i cannot."""
        own, other, both = self.H[i][i], self.H[j][j], self.H[i][j]
        one, two = self.columns[i], self.columns[j]
        if i == j or not one:
            return not one and not two and (own <= 0 if i == j else own * other <= both**2)
        a, b = next(iter(one.values())), next(iter(two.values()), 0)
        parallel = one.keys() == two.keys() and all(b * one[k] == a * two[k] for k in one)
        return parallel and own * b**2 + other * a**2 <= 2 * both * a * b


class ExactBox(NamedTuple):
    """A part of the feasible set: intervals, and the variables at an end or inside of theirs."""

    lower: Numbers
    upper: Numbers
    binary: set[int]
    inside: set[int]

    def copy(self) -> ExactBox:
        """A copy, which the rules reduce to what they leave of the box."""
        return ExactBox(
            self.lower.copy(), self.upper.copy(), self.binary.copy(), self.inside.copy()
        )


def by_rows(p: ExactProgram, box: ExactBox, left: ExactBox) -> None:
    """Reduce each interval to what a row allows, as the other variables are in theirs."""
    for row, target in p.rows:
        ends = {i: sorted((a * box.lower[i], a * box.upper[i])) for i, a in row.items()}
        low, high = (target - sum(end[side] for end in ends.values()) for side in (1, 0))
        for i, a in row.items():
            least, most = sorted([(low + ends[i][1]) / a, (high + ends[i][0]) / a])
            left.lower[i], left.upper[i] = max(left.lower[i], least), min(left.upper[i], most)


def by_second_order(p: ExactProgram, box: ExactBox, left: ExactBox) -> None:
    """Put variables at an end that cannot be inside, and at the other end if one is cut off."""
    found = {i for i in range(p.n) if any(p.exclusive(i, j) for j in {i, *box.inside})}
    left.binary.update(found)
    for i in left.binary:
        if box.lower[i] > p.lower[i] or i in box.inside:
            left.lower[i] = p.upper[i]
        if box.upper[i] < p.upper[i] or i in box.inside:
            left.upper[i] = p.lower[i]


def by_first_order(p: ExactProgram, box: ExactBox, left: ExactBox) -> None:
    """Put variables at an end where the slope of the objective and of their row has one sign."""
    slopes: list[list[Any]] = []
    for row, c in zip(p.H, p.c, strict=True):
        ends = [sorted((h * a, h * b)) for h, a, b in zip(row, box.lower, box.upper, strict=True)]
        slopes.append([c + sum(end[side] for end in ends) for side in (0, 1)])
    multipliers: list[list[Any]] = [[-inf, inf] for _ in p.rows]
    for i, ((low, high), column) in enumerate(zip(slopes, p.columns, strict=True)):
        # At the minimiser g + aν >= 0 if x is below its range's end, and <= 0 if it is above.
        below = box.upper[i] < p.upper[i] or i in box.inside
        above = box.lower[i] > p.lower[i] or i in box.inside
        for k, a in column.items() if len(column) == 1 else ():
            least, most = sorted([(-high if below else -inf) / a, (-low if above else inf) / a])
            multipliers[k] = [max(multipliers[k][0], least), min(multipliers[k][1], most)]
    for i, ((low, high), column) in enumerate(zip(slopes, p.columns, strict=True)):
        pulls = sorted(a * end for k, a in column.items() for end in multipliers[k]) or [0, 0]
        known, inside = len(column) <= 1, i in box.inside
        rising, falling = known and low + pulls[0] > 0, known and high + pulls[-1] < 0
        if rising or (falling and inside):
            left.upper[i] = p.lower[i]
        if falling or (rising and inside):
            left.lower[i] = p.upper[i]


class ExactMinorant:
    """const + slope·t + ½tᵀMt, at most f in a box, for the shares t of the intervals."""

    def __init__(self, p: ExactProgram, box: ExactBox, step: Any) -> None:
        self.const, self.slope = Fraction(0), [Fraction(0)] * p.n
        self.M = [[Fraction(0)] * p.n for _ in range(p.n)]
        x = [(box.lower[i], {i: box.upper[i] - box.lower[i]}) for i in range(p.n)]
        for i in range(p.n):
            self.add(p.c[i], x[i], ONE)
            for j in range(p.n):
                self.add(p.H[i][j] / 2, x[i], x[j])
        shares = [(Fraction(end), {i: 1 - 2 * end}) for i in range(p.n) for end in (0, 1)]
        for one, other, nu in step["products"]:
            first, second = index(one, 2 * p.n), index(other, 2 * p.n)
            at_end = first // 2 in box.binary and {first % 2, second % 2} == {0, 1}
            allowed = nu >= 0 or (at_end and first // 2 == second // 2)
            require(allowed, "a product has a negative multiplier")
            self.add(-nu, shares[first], shares[second])
        for *places, nu in step["triangles"]:
            require(nu >= 0, "a triangle has a negative multiplier")
            a, b, c = (shares[index(place, 2 * p.n)] for place in places)
            # a(1 - b)(1 - c) + (1 - a)bc = a - ab - ac + bc is a sum of products, so it is ≥ 0.
            for sign, left, right in ((-1, a, ONE), (1, a, b), (1, a, c), (-1, b, c)):
                self.add(sign * nu, left, right)
        for *places, nu in [*step.get("pentagons", []), *step.get("heptagons", [])]:
            clique, h = [index(place, 2 * p.n) for place in places], len(places) // 2
            require(nu >= 0, "an odd clique has a negative multiplier")
            different = len({place // 2 for place in clique}) == 2 * h + 1
            require(different, "a clique is not of an odd number of variables")
            # Of 2h + 1 zeros and ones at least h² pairs are equal: ab + (1 - a)(1 - b) is 1.
            self.const += h * h * nu
            for one, other in combinations(clique, 2):
                self.add(-nu, shares[one], shares[other])
                self.add(-nu, shares[one ^ 1], shares[other ^ 1])
        for (row, target), (constant, *slope) in zip(p.rows, step["across"], strict=True):
            missed = sum(a * box.lower[i] for i, a in row.items()) - target
            change = {i: a * (box.upper[i] - box.lower[i]) for i, a in row.items()}
            require(len(slope) == p.n, "a row has another number of multipliers")
            self.add(Fraction(1), (missed, change), (constant, dict(enumerate(slope))))

    def add(self, nu: Fraction, one: Affine, other: Affine) -> None:
        """Add nu times the product of two affine functions, each a constant and its slopes."""
        (a, first), (b, second) = one, other
        self.const += nu * a * b
        for i, s in first.items():
            self.slope[i] += nu * s * b
            for j, t in second.items():
                self.M[i][j] += nu * s * t
                self.M[j][i] += nu * s * t
        for j, t in second.items():
            self.slope[j] += nu * a * t

    def tangent(self, point: Numbers) -> tuple[Fraction, Numbers]:
        """V and s with f ≥ V + Σ|s_i|·(share of the interval from its better end) in the box."""
        require(all(0 <= t <= 1 for t in point), "the point is outside")
        pairs = [(t, sum(map(mul, row, point))) for row, t in zip(self.M, point, strict=True)]
        slope = [s + a for s, (_, a) in zip(self.slope, pairs, strict=True)]
        value = self.const - sum(t * a for t, a in pairs) / 2 + sum(min(s, 0) for s in slope)
        return value - len(point) * rounding(self.M) / 2, slope


def rounding(M: list[Numbers]) -> Fraction:
    """A tiny η with M + ηI positive semidefinite, or `FailedProof`.

    M/unit differs from an integer matrix N by at most ½ per entry, and each of m pivots adds at
    most 1 per entry. No eigenvalue is below minus the largest row sum of absolute values.
    """
    m, unit = len(M), max((abs(a) for row in M for a in row), default=Fraction(0)) / 2**100
    N = [[round(a / (unit or 1)) for a in row] for row in M]
    for k, row in enumerate(N):
        small = all(row[i] ** 2 <= row[k] * N[i][i] for i in range(k, m))
        require(row[k] >= 0 and small, "the minorant is not convex")
        for i in range(k + 1, m) if row[k] else ():
            for j in range(k + 1, i + 1):
                N[i][j] -= row[i] * row[j] // row[k]
                N[j][i] = N[i][j]
    return (m * m + m) * unit


def by_tangent(box: ExactBox, left: ExactBox, slope: Numbers, reach: Fraction) -> None:
    """Cut off a part in which the tangent exceeds its least value by at least `reach`."""
    for i, s in enumerate(slope):
        step = max(reach, Fraction(0)) * (box.upper[i] - box.lower[i]) / (s or 1)
        if s > 0 or reach <= 0:
            left.upper[i] = min(box.upper[i], box.lower[i] + step)
        if s < 0 or reach <= 0:
            left.lower[i] = max(box.lower[i], box.upper[i] + step)


def changed(box: ExactBox, step: Any, left: ExactBox) -> list[ExactBox]:
    """The box that a step claims, or no box; it may be larger than what the rule leaves."""
    if "empty" in step:
        require(any(map(gt, left.lower, left.upper)), "the rule leaves something of the box")
        return []
    after = box.copy()._replace(binary=left.binary)
    for sign, name in ((1, "lower"), (-1, "upper")):
        ends, known = getattr(after, name), getattr(left, name)
        for variable, end in step.get(name, []):
            i = index(variable, len(ends))
            follows = sign * ends[i] <= sign * end <= sign * known[i]
            require(follows, f"the {name} end of variable {i} does not follow")
            ends[i] = end
    return [after]


def parts(box: ExactBox, step: Any) -> list[ExactBox]:
    """Two boxes, one of which contains the minimiser if the box does."""
    one, other, i = box.copy(), box.copy(), index(step["variable"], len(box.lower))
    if "at" in step:
        require(box.lower[i] <= step["at"] <= box.upper[i], "the parts do not cover the box")
        one.upper[i] = other.lower[i] = step["at"]
    else:
        one.binary.add(i)
        other.inside.add(i)
    return [other, one]


def tree(data: Any, proof: Any) -> Any:
    """The least of the numbers that bound f in the parts; infinite if all boxes are empty.

    Every step treats the box on top of the stack, with a lower bound of f at the minimiser.
    """
    p = ExactProgram(data)
    least: Numbers = []
    stack: list[tuple[ExactBox, Numbers]] = [(ExactBox(p.lower, p.upper, set(), set()), [])]
    for k, step in enumerate(proof["steps"]):
        try:
            require(bool(stack), "no box is left")
            (box, known), rule = stack.pop(), step["rule"]
            left, boxes = box.copy(), []
            if rule == "close":
                require(bool(known), "the box has no bound")
                least += known
            elif rule == "divide":
                boxes = parts(box, step)
            elif rule == "tangent":
                bound, slope = ExactMinorant(p, box, step).tangent(step["point"])
                known = [max([bound, *known])]
                if "value" in step:
                    least.append(max(known[0], step["value"]))
                    by_tangent(box, left, slope, step["value"] - bound)
                boxes = changed(box, step, left)
            else:
                RULES[rule](p, box, left)
                boxes = changed(box, step, left)
            stack += [(after, known) for after in boxes]
        except (FailedProof, *MALFORMED) as error:
            raise FailedProof(f"step {k}: {error}") from None
    require(not stack, f"{len(stack)} boxes are not closed")
    return min(least, default=inf)


def fractions(pairs: Any) -> Numbers:
    """The numbers that pairs of integers stand for."""
    require({type(a) for pair in pairs for a in pair} <= {int}, "not a fraction")
    return [Fraction(above, below) for above, below in pairs]


def least_of_one(r: Any, s: Any, w: Any, low: Any, high: Any) -> Any:
    """The least of rx + ½s(x - w)² between two ends, None for a missing one."""
    if s > 0:
        x = w - r / s
        x = x if low is None else max(x, low)
        ends = [x if high is None else min(x, high)]
    else:
        ends = [low] * (s < 0 or r > 0) + [high] * (s < 0 or r < 0)
        require(None not in ends, "an end is missing")
    return min((r * x + s * (x - w) ** 2 / 2 for x in ends), default=Fraction(0))


def of_rows(data: Any, proof: Any) -> tuple[Any, Numbers]:
    """Σ (multiplier · its end of the row), and the reduced costs."""
    multipliers, reduced = fractions(proof["multipliers"]), data["cost"].copy()
    for row, multiplier in zip(data["rows"], multipliers, strict=True):
        for i, a in row:
            reduced[index(i, len(reduced))] -= multiplier * a
    sides = zip(multipliers, data["row_lower"], data["row_upper"], strict=True)
    return sum(least_of_one(multiplier, 0, 0, *ends) for multiplier, *ends in sides), reduced


def linear_bound(data: Any, proof: Any) -> Any:
    """Σ (multiplier · its end of the row) + Σ (reduced cost · its end of the variable)."""
    bound, reduced = of_rows(data, proof)
    sides = zip(reduced, data["lower"], data["upper"], strict=True)
    return bound + sum(least_of_one(cost, 0, 0, *ends) for cost, *ends in sides)


def convex_bound(data: Any, proof: Any) -> Any:
    """The same with the tangent of ½xᵀHx at a point w, and what ½Σ s_i(x_i - w_i)² adds to it.

    H - diag(s) must be positive semidefinite. A variable without products has no s.
    """
    H, w, s, cost = symmetric(data["H"]), proof["point"], proof["strength"], data["cost"]
    require(len(H) == len(w) == len(s) == len(cost), "a list has another length")
    image, used = [sum(map(mul, row, w)) for row in H], [i for i, row in enumerate(H) if any(row)]
    rest = rounding([[H[i][j] - (s[i] if i == j else 0) for j in used] for i in used])
    tangent = [a + b for a, b in zip(cost, image, strict=True)]
    bound, reduced = of_rows({**data, "cost": tangent}, proof)
    strong = [a - rest if i in used else 0 for i, a in enumerate(s)]
    sides = zip(reduced, strong, w, data["lower"], data["upper"], strict=True)
    return bound - sum(map(mul, w, image)) / 2 + sum(least_of_one(*one) for one in sides)


def proxy_bound(data: Any, proof: Any) -> Fraction:
    """Bound -max over α of min over K ⪰ 0 of eᵀα - ½zᵀKz + ρ‖K - K₀‖², z = y∘α, by one K = FFᵀ.

    With `radius` in place of ρ, ‖K - K₀‖² is at most that and not penalised. For any point, -½zᵀKz
    is at most its tangent there, and the offset b is a multiplier of yᵀα = 0.
    """
    y, kernel, F, z = data["y"], symmetric(data["K"]), proof["factor"], proof["point"]
    rho, n = data.get("rho", Fraction(0)), len(y)
    require(len(kernel) == len(F) == len(z) == n, "a list has another length")
    require(data["C"] >= 0 and rho >= 0, "C or rho is negative")
    K = [[sum(map(mul, one, other)) for other in F] for one in F]
    square = sum((K[i][j] - kernel[i][j]) ** 2 for i in range(n) for j in range(n))
    inside = "rho" in data if "radius" not in data else square <= data["radius"]
    require(inside, "the kernel is not in the ball")
    u = [sum(map(mul, row, z)) for row in K]
    above = sum(max(1 - y[i] * (u[i] + proof["offset"]), 0) for i in range(n))
    return -(sum(map(mul, u, z)) / Fraction(2) + data["C"] * above + rho * square)


def unbounded(data: Any, proof: Any) -> None:
    """From a feasible x the objective falls along d, which no bound and no row ends."""
    H, c = symmetric(data["H"]), data["cost"]
    d, x = fractions(proof["direction"]), fractions(proof["start"])
    require(len(H) == len(c) == len(d) == len(x), "a list has another length")
    rows = [[sum(a * v[index(i, len(c))] for i, a in row) for row in data["rows"]] for v in (d, x)]
    bounds = zip(d, x, data["lower"], data["upper"], strict=True)
    sides = zip(*rows, data["row_lower"], data["row_upper"], strict=True)
    for change, value, low, high in [*bounds, *sides]:
        require(low is None or (low <= value and change >= 0), "a lower end is not respected")
        require(high is None or (high >= value and change <= 0), "an upper end is not respected")
    image = [sum(map(mul, row, d)) for row in H]
    curvature, slope = sum(map(mul, image, d)), sum(map(mul, image, x)) + sum(map(mul, c, d))
    require(curvature < 0 or (curvature == 0 and slope < 0), "the objective does not fall")


def infeasible(data: Any, proof: Any) -> None:
    """Farkas: multipliers with which rows and bounds would prove 0 > 0."""
    bound = linear_bound({**data, "cost": [Fraction(0)] * len(data["cost"])}, proof)
    require(bound > 0, "the multipliers exclude no point")


WITHOUT_OPTIMUM = {"unbounded": unbounded, "infeasible": infeasible}
RULES = {"rows": by_rows, "first order": by_first_order, "second order": by_second_order}
KINDS = {"boxes": tree, "linear": linear_bound, "convex": convex_bound, "proxy": proxy_bound}


def reached(document: Any) -> Any:
    """The proved bound in the declared sense; infinite if there is no feasible point.

    The objective is sense·(minimum + constant), with -ray²/(4·minimum) in place of the minimum
    where that is the least q > 0 of a quadratic form at total weight 1: min over s of s²q - s·ray.
    """
    whole = exact(document)
    data, proof, objective = whole["program"], whole["proof"], whole["objective"]
    require(whole["format"] == FORMAT, f"the format is not {FORMAT!r}")
    least = KINDS[whole["kind"]](data, proof)
    require(objective["sense"] in (-1, 1), "the sense is neither 1 nor -1")
    if "ray" in objective:
        require(least > 0, "the form is not proved to be positive along every ray")
        least = -(objective["ray"] ** 2) / (4 * least)
    return objective["sense"] * (least + objective["constant"])


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of a document; a key that occurs twice would say two things."""
    require(len(dict(pairs)) == len(pairs), "a key occurs twice")
    return dict(pairs)


def check(document: Any) -> tuple[float | str, Any]:
    """The claimed bound, or "unbounded" or "infeasible", and the program; raises `FailedProof`."""
    try:
        kind = document["kind"]
        if kind in WITHOUT_OPTIMUM:
            whole = exact(document)
            require(whole["format"] == FORMAT, f"the format is not {FORMAT!r}")
            WITHOUT_OPTIMUM[kind](whole["program"], whole["proof"])
            return kind, document["program"]
        bound, claim = reached(document), float(exact(document["claim"]))
        beyond = document["objective"]["sense"] * (Fraction(claim) - bound) > 0
        require(not beyond, f"{claim!r} is claimed, {float(bound)!r} is proved")
    except MALFORMED as error:
        raise FailedProof(f"the document is malformed: {error}") from None
    return claim, document["program"]


def digest(document: Any) -> str:
    """A hash of program and objective that does not depend on how numbers are written."""
    said = {key: document[key] for key in ("kind", "program", "objective")}
    return hashlib.sha256(json.dumps(exact(said), default=str, sort_keys=True).encode()).hexdigest()


def statement(document: Any) -> str:
    """What a proof that holds says of its program; raises `FailedProof` for another one."""
    claim, _ = check(document)
    if isinstance(claim, str):
        return f"the program is {claim}"
    return f"optimal value {'>=' if document['objective']['sense'] > 0 else '<='} {claim!r}"


def main(path: str) -> int:
    """Print what is proved, and return the exit code."""
    try:
        text = sys.stdin.read() if path == "-" else Path(path).read_text(encoding="utf-8")
        document = json.loads(text, object_pairs_hook=unique)
        print(f"PROVED: {statement(document)}\nprogram {digest(document)}")
    except (OSError, FailedProof, *MALFORMED) as error:
        print(f"FAILED: {str(error)[:400]}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]) if sys.argv[1:] else __doc__)
