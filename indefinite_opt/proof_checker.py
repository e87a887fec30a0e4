"""Check the proof of a bound in exact arithmetic: python proof_checker.py PROOF

Only the standard library is used. docs/optimality-conditions.md proves every rule and describes the
file. Numbers are doubles, every double is a fraction, and nothing is computed in floating point.
Prints `PROVED value` (exit code 0) and a digest of the program and its objective, or `FAILED: where
and why` (exit code 1).
"""

from __future__ import annotations

import hashlib
import json
import sys
from fractions import Fraction
from math import inf
from operator import gt, le, mul
from pathlib import Path
from typing import Any, NamedTuple

FORMAT = "indefinite_opt proof 2"
MALFORMED = (LookupError, TypeError, ValueError, ArithmeticError)
ENDS, NUMBERS, PRODUCT, TRIANGLE = (
    [(int, float)],
    [float],
    (int, int, float),
    (int, int, int, float),
)
STEP = {
    "rule": str, "lower": ENDS, "upper": ENDS, "binary": [int], "empty": int, "variable": int,
    "at": float, "products": [PRODUCT], "triangles": [TRIANGLE], "across": [NUMBERS],
    "point": NUMBERS, "value": float,
}  # fmt: skip
DOCUMENT = {
    "format": str, "kind": str, "claim": None, "program": object, "proof": object,
    "objective": {"sense": float, "constant": float, "ray": float},
}  # fmt: skip
PROGRAMS = {
    "boxes": {"H": [NUMBERS], "c": NUMBERS, "lower": NUMBERS, "upper": NUMBERS, "rows": [NUMBERS],
              "rhs": NUMBERS},
    "linear": {"cost": NUMBERS, "lower": [None], "upper": [None], "row_lower": [None],
               "row_upper": [None], "rows": [ENDS]},
    "proxy": {"K": [NUMBERS], "y": NUMBERS, "C": float, "rho": float, "radius": float},
}  # fmt: skip
PROOFS = {
    "boxes": {"nodes": [[object]]},
    "linear": {"multipliers": [(int, int, int)]},
    "proxy": {"factor": [NUMBERS], "point": NUMBERS, "offset": float},
}
Numbers = list[Fraction]
Affine = tuple[Any, dict[int, Any]]


class FailedProof(Exception):
    """What does not follow, and where."""


def require(condition: bool, message: str) -> None:
    """Fail unless the condition holds."""
    if not condition:
        raise FailedProof(message)


def parsed(value: Any, form: Any) -> Any:
    """The value with fractions for its numbers, if it has the form, where int is one from 0 on."""
    if isinstance(form, dict):
        require(type(value) is dict and value.keys() <= form.keys(), "an object has other keys")
        return {key: parsed(entry, form[key]) for key, entry in value.items()}
    if isinstance(form, list | tuple):
        require(type(value) is list, "a list is missing")
        forms = form if isinstance(form, tuple) else form * len(value)
        return [parsed(*pair) for pair in zip(value, forms, strict=True)]
    if form is object or (form is None and value is None):
        return value
    if form in (int, str):
        require(type(value) is form and (form is str or value >= 0), f"no {form.__name__}")
        return value
    limit = {int: 2**53, float: sys.float_info.max}.get(type(value))
    require(limit is not None and abs(value) <= limit, "a finite number is missing")
    return Fraction(value)


def symmetric(rows: list[Numbers]) -> list[Numbers]:
    """A symmetric matrix from the rows of its lower triangle."""
    n = len(rows)
    require([len(row) for row in rows] == [*range(1, n + 1)], "it is not a lower triangle")
    return [[rows[max(i, j)][min(i, j)] for j in range(n)] for i in range(n)]


def dot(one: Numbers, other: Numbers) -> Fraction:
    """Σ one_i other_i, as far as both go."""
    return sum(map(mul, one, other), Fraction(0))


class Program:
    """min ½xᵀHx + cᵀx over lower ≤ x ≤ upper, rows·x = rhs, no variable in two rows."""

    def __init__(self, data: Any) -> None:
        self.H, self.c, self.n = symmetric(data["H"]), data["c"], len(data["c"])
        self.lower, self.upper, rows = data["lower"], data["upper"], data["rows"]
        sizes = {len(vector) for vector in (self.H, self.lower, self.upper, *rows)}
        require(sizes == {self.n}, "a vector or a matrix has another size")
        require(all(map(le, self.lower, self.upper)), "an interval is empty")
        sparse = [{i: a for i, a in enumerate(row) if a} for row in rows]
        held = [i for row in sparse for i in row]
        require(len(held) == len(set(held)), "a variable is in two rows")
        alone = {i: Fraction(1) for i in range(self.n) if i not in held}
        self.rows = list(zip(sparse, data["rhs"], strict=True))
        self.groups: list[tuple[dict[int, Fraction], Any]] = [(alone, None), *self.rows]

    def exclusive(self, i: int, j: int) -> bool:
        """Whether i and j are not both inside at the minimiser; for i = j whether i is not."""
        own, other, both = self.H[i][i], self.H[j][j], self.H[i][j]
        row, target = next(group for group in self.groups if i in group[0])
        if j not in row or (i == j and target is not None):
            return False
        if target is None:
            return own <= 0 if i == j else own * other <= both**2
        return own * row[j] ** 2 + other * row[i] ** 2 <= 2 * both * row[i] * row[j]


class Box(NamedTuple):
    """A part of the feasible set; which variables are at an end of their range, which inside."""

    lower: Numbers
    upper: Numbers
    binary: set[int]
    inside: set[int]

    def empty(self) -> bool:
        """Whether an interval is."""
        return any(map(gt, self.lower, self.upper))


# What a rule leaves of a box that holds the minimiser with the fewest variables inside.


def by_rows(p: Program, box: Box) -> Box:
    """What each row leaves for one variable, the others being in their intervals."""
    lower, upper = box.lower.copy(), box.upper.copy()
    for row, target in p.rows:
        ends = {i: sorted((a * box.lower[i], a * box.upper[i])) for i, a in row.items()}
        least, most = (sum(end[side] for end in ends.values()) for side in (0, 1))
        for i, a in row.items():
            left = sorted([(target - most + ends[i][1]) / a, (target - least + ends[i][0]) / a])
            lower[i], upper[i] = max(lower[i], left[0]), min(upper[i], left[1])
    return box._replace(lower=lower, upper=upper)


def by_second_order(p: Program, box: Box) -> Box:
    """Partners of a variable inside are at an end, and what is at an end is at one of the two."""
    found = {i for i in range(p.n) if any(p.exclusive(i, j) for j in {i, *box.inside})}
    lower, upper, binary = box.lower.copy(), box.upper.copy(), box.binary | found
    for i in binary:
        if box.lower[i] > p.lower[i] or i in box.inside:
            lower[i] = p.upper[i]
        if box.upper[i] < p.upper[i] or i in box.inside:
            upper[i] = p.lower[i]
    return Box(lower, upper, binary, box.inside)


def by_first_order(p: Program, box: Box) -> Box:
    """What is above the level of its row is at the end where it fills the row, else at the other."""
    lower, upper = box.lower.copy(), box.upper.copy()
    for row, target in p.groups:
        least: Any = 0 if target is None else -inf
        most: Any = 0 if target is None else inf
        v = {}
        for i, a in row.items():
            ends = [sorted((h * box.lower[j], h * box.upper[j])) for j, h in enumerate(p.H[i]) if h]
            v[i] = sorted(-(p.c[i] + sum(end[side] for end in ends)) / a for side in (0, 1))
        if target is not None:
            room = target - sum(min(a * p.lower[i], a * p.upper[i]) for i, a in row.items())
            width = {i: abs(a) * (p.upper[i] - p.lower[i]) for i, a in row.items()}
            for low, high in v.values():
                if sum(width[i] for i in row if v[i][0] >= low) > room:
                    least = max(least, low)
                if sum(width[i] for i in row if v[i][1] > high) < room:
                    most = min(most, high)
        for i, a in row.items():
            if v[i][0] > most or v[i][1] < least:
                rises = (v[i][0] > most) == (a > 0)
                if rises or i in box.inside:
                    lower[i] = p.upper[i]
                if not rises or i in box.inside:
                    upper[i] = p.lower[i]
    return box._replace(lower=lower, upper=upper)


RULES = {"rows": by_rows, "second order": by_second_order, "first order": by_first_order}


class Minorant:
    """const + slope·t + ½tᵀMt, at most f for the shares t of the intervals that are not points.

    Multiples of products of shares t or 1 - t, the literals, have been subtracted from f, and rows
    times affine functions added.
    """

    def __init__(self, p: Program, box: Box, step: Any) -> None:
        self.wide = [i for i in range(p.n) if box.lower[i] < box.upper[i]]
        m = len(self.wide)
        self.const, self.slope = Fraction(0), [Fraction(0)] * m
        self.M = [[Fraction(0)] * (k + 1) for k in range(m)]
        x: list[Affine] = [(low, {}) for low in box.lower]
        for k, i in enumerate(self.wide):
            x[i][1][k] = box.upper[i] - box.lower[i]
        for i in range(p.n):
            self.add(p.c[i], x[i], (1, {}))
            self.add(p.H[i][i] / 2, x[i], x[i])
            for j in range(i):
                self.add(p.H[i][j], x[i], x[j])
        literals: list[Affine] = [(end, {k: 1 - 2 * end}) for k in range(m) for end in (0, 1)]
        for k, other, nu in step["products"]:
            at_end = k != other and k // 2 == other // 2 and self.wide[k // 2] in box.binary
            require(nu >= 0 or at_end, "a product has a negative multiplier")
            self.add(-nu, literals[k], literals[other])
        for *places, nu in step["triangles"]:
            require(nu >= 0, "a triangle has a negative multiplier")
            one, two, three = (literals[k] for k in places)
            # p(1 - q)(1 - r) + (1 - p)qr = p - pq - pr + qr is a sum of products, so it is ≥ 0.
            self.add(nu, one, (-1, {}))
            self.add(nu, one, two)
            self.add(nu, one, three)
            self.add(-nu, two, three)
        for (row, target), (constant, *slope) in zip(p.rows, step["across"], strict=True):
            missed = sum(a * box.lower[i] for i, a in row.items()) - target
            change = {k: row[i] * x[i][1][k] for k, i in enumerate(self.wide) if i in row}
            require(len(slope) == m, "a row has another number of multipliers")
            self.add(Fraction(1), (missed, change), (constant, dict(enumerate(slope))))

    def add(self, nu: Fraction, one: Affine, other: Affine) -> None:
        """Add nu times the product of two affine functions, each a constant and its slopes."""
        (a, first), (b, second) = one, other
        self.const += nu * a * b
        for i, s in first.items():
            self.slope[i] += nu * s * b
            for j, t in second.items():
                self.M[max(i, j)][min(i, j)] += nu * s * t * (2 if i == j else 1)
        for j, t in second.items():
            self.slope[j] += nu * a * t

    def tangent(self, point: Numbers) -> tuple[Fraction, Numbers]:
        """V and s with f ≥ V + Σ|s_i|·(share of the interval from its better end) in the box."""
        inside = len(point) == len(self.slope) and all(0 <= t <= 1 for t in point)
        require(inside, "the point is outside")
        curved = [dot(row, point) for row in symmetric(self.M)]
        slope = [s + a for s, a in zip(self.slope, curved, strict=True)]
        value = self.const - dot(point, curved) / 2 + sum(min(s, 0) for s in slope)
        return value - len(point) * rounding(self.M) / 2, slope


def rounding(M: list[Numbers]) -> Fraction:
    """ε with M + εI positive semidefinite, which is next to nothing; M is a lower triangle.

    M/unit is A + (at most ½ an entry) with whole numbers A. Each of m pivots of A, with its column,
    leaves a smaller matrix and at most 1 an entry. A symmetric matrix is at least minus its largest
    row sum of absolute values.
    """
    m, largest = len(M), max((abs(a) for row in M for a in row), default=Fraction(0))
    unit = largest / 2**100
    A = [[round(a / (unit or 1)) for a in row] for row in M]
    for k in range(m):
        pivot, column = A[k][k], [row[k] if j >= k else 0 for j, row in enumerate(A)]
        small = all(column[i] ** 2 <= pivot * A[i][i] for i in range(k, m))
        require(pivot >= 0 and small, "the minorant is not convex")
        for i in range(k + 1, m):
            for j in range(k + 1, i + 1):
                A[i][j] -= column[i] * column[j] // max(pivot, 1)
    return (m * m + m) * unit


def cut(box: Box, wide: list[int], slope: Numbers, reach: Fraction) -> Box:
    """What is left of a box without points where the tangent exceeds its least value by `reach`."""
    if reach <= 0:
        return box._replace(lower=box.upper, upper=box.lower)
    lower, upper = box.lower.copy(), box.upper.copy()
    for i, s in zip(wide, slope, strict=True):
        if s:
            step = reach * (box.upper[i] - box.lower[i]) / s
            upper[i] = min(upper[i], lower[i] + step) if s > 0 else upper[i]
            lower[i] = max(lower[i], upper[i] + step) if s < 0 else lower[i]
    return box._replace(lower=lower, upper=upper)


def changed(box: Box, step: Any, implied: Box) -> list[Box]:
    """The box that a step claims, or none; it may be larger than the implied one."""
    if "empty" in step:
        require(implied.empty(), "the rule leaves something of the box")
        return []
    lower, upper = box.lower.copy(), box.upper.copy()
    for i, end in step.get("lower", []):
        follows = lower[i] <= end <= implied.lower[i]
        require(follows, f"the lower end of variable {i} does not follow")
        lower[i] = end
    for i, end in step.get("upper", []):
        follows = implied.upper[i] <= end <= upper[i]
        require(follows, f"the upper end of variable {i} does not follow")
        upper[i] = end
    binary = box.binary.union(step.get("binary", []))
    require(binary <= implied.binary, "a variable may be inside")
    return [Box(lower, upper, binary, box.inside)]


def parts(box: Box, step: Any) -> list[Box]:
    """Two boxes that hold the minimiser together, if the box holds it."""
    i, lower, upper = step["variable"], box.lower.copy(), box.upper.copy()
    at = step.get("at", lower[i])
    require(lower[i] <= at <= upper[i], "the parts do not cover the box")
    if "at" not in step:
        return [box._replace(binary=box.binary | {i}), box._replace(inside=box.inside | {i})]
    lower[i] = upper[i] = at
    return [box._replace(upper=upper), box._replace(lower=lower)]


def tree(p: Program, nodes: list[list[Any]]) -> Fraction | None:
    """The least of all numbers that the boxes need; None where no box is left.

    Nodes stand in the order of their boxes, parts directly behind what was divided. `known` is a
    lower bound of f at the minimiser, if that is in the box.
    """
    least: Numbers = []
    stack: list[tuple[Box, Numbers]] = [(Box(p.lower, p.upper, set(), set()), [])]
    for place, node in enumerate(nodes):
        require(bool(stack), f"node {place} belongs to no box")
        box, known = stack.pop()
        boxes = [box]
        for k, unread in enumerate(node):
            try:
                step = parsed(unread, STEP)
                require(len(boxes) == 1, "no box is left")
                box = boxes.pop()
                if step["rule"] == "divide":
                    boxes = parts(box, step)
                elif step["rule"] == "tangent":
                    found = Minorant(p, box, step)
                    bound, slope = found.tangent(step["point"])
                    known = [max([bound, *known])]
                    boxes = [box]
                    if "value" in step:
                        least.append(max(known[0], step["value"]))
                        left = cut(box, found.wide, slope, step["value"] - bound)
                        boxes = changed(box, step, left)
                else:
                    require(step["rule"] in RULES, "no such rule")
                    boxes = changed(box, step, RULES[step["rule"]](p, box))
            except FailedProof as error:
                raise FailedProof(f"node {place}, step {k}: {error}") from None
            except MALFORMED as error:
                raise FailedProof(f"node {place}, step {k} is malformed: {error!r}") from None
        if len(boxes) == 1:
            require(bool(known), f"node {place} has no bound")
            least += known
        else:
            stack += [(part, known) for part in reversed(boxes)]
    require(not stack, f"{len(stack)} boxes have no node")
    return min(least, default=None)


def linear_bound(data: Any, proof: Any) -> Fraction:
    """Σ (multiplier · its end of the row) + Σ (reduced cost · its end of the variable)."""
    multipliers = [Fraction(up - down, below) for up, down, below in proof["multipliers"]]
    reduced = data["cost"].copy()
    for row, multiplier in zip(data["rows"], multipliers, strict=True):
        for i, a in row:
            reduced[i] -= multiplier * a
    bound = Fraction(0)
    for prices, *names in ((multipliers, "row_lower", "row_upper"), (reduced, "lower", "upper")):
        for price, low, high in zip(prices, *(data[name] for name in names), strict=True):
            end = low if price > 0 else high
            require(not price or end is not None, "an end is missing where it is needed")
            bound += price * (end or 0)
    return bound


def proxy_bound(data: Any, proof: Any) -> Fraction:
    """Of -max over α of min over K ⪰ 0 of eᵀα - ½zᵀKz + ρ‖K - K₀‖², z = yα, by one K = FFᵀ.

    With `radius` in place of ρ the distance is at most that, and costs nothing. For any point and
    offset b, -½zᵀKz is at most its tangent, and yᵀα = 0 is met with the price b.
    """
    y, kernel, F = data["y"], symmetric(data["K"]), proof["factor"]
    require(len(y) == len(kernel) == len(F), "a list has another length")
    require(all(label in (-1, 1) for label in y), "a label is not -1 or 1")
    require(min(data["C"], data.get("rho", 0)) >= 0, "C or rho is negative")
    K = [[dot(one, other) for other in F] for one in F]
    square = sum(
        (a - b) ** 2
        for row, line in zip(K, kernel, strict=True)
        for a, b in zip(row, line, strict=True)
    )
    if "rho" not in data or "radius" in data:
        require(square <= data["radius"], "the kernel is not in the ball")
    z = list(map(mul, y, proof["point"]))
    pulled = [dot(row, z) for row in K]
    lost = (1 - label * (a + proof["offset"]) for label, a in zip(y, pulled, strict=True))
    linear = data["C"] * sum(max(a, Fraction(0)) for a in lost)
    return -(dot(z, pulled) / 2 + linear + data.get("rho", 0) * square)


def reached(document: Any) -> Fraction | None:
    """The bound that is proved in the declared sense; None where there is no feasible point.

    The objective is sense·(minimum + constant), with -ray²/(4·minimum) in place of the minimum
    where that is the least q > 0 of a quadratic form at total weight 1: min over s of s²q - s·ray.
    """
    whole = parsed(document, DOCUMENT)
    kind, objective = whole["kind"], whole["objective"]
    require(whole["format"] == FORMAT, f"the format is not {FORMAT!r}")
    require(kind in PROGRAMS, "there is no such kind of proof")
    data, proof = parsed(whole["program"], PROGRAMS[kind]), parsed(whole["proof"], PROOFS[kind])
    if kind == "boxes":
        least = tree(Program(data), proof["nodes"])
    else:
        least = linear_bound(data, proof) if kind == "linear" else proxy_bound(data, proof)
    require(objective["sense"] in (-1, 1), "the sense is neither 1 nor -1")
    if least is None:
        return None
    if "ray" in objective:
        require(least > 0, "the form is not proved to be positive along every ray")
        least = -(objective["ray"] ** 2) / (4 * least)
    return objective["sense"] * (least + objective["constant"])


def check(document: Any) -> tuple[float, Any]:
    """The bound that a document claims, and the program it is about; raises `FailedProof`."""
    try:
        bound, claim = reached(document), parsed(document["claim"], float)
        if bound is not None:
            beyond = document["objective"]["sense"] * (claim - bound) > 0
            require(not beyond, f"{float(claim)!r} is claimed, {float(bound)!r} is proved")
    except MALFORMED as error:
        raise FailedProof(f"it is malformed: {error!r}") from None
    return float(claim), document["program"]


def digest(document: Any) -> str:
    """A fingerprint of program and objective, of the values of the numbers however written."""
    said = {key: document.get(key) for key in ("kind", "program", "objective")}
    plain = json.dumps(json.loads(json.dumps(said), parse_int=float), sort_keys=True)
    return hashlib.sha256(plain.encode()).hexdigest()


def read(path: str | Path) -> Any:
    """The document of a file; raises `FailedProof` where it is none."""
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
        require(document["format"] == FORMAT, f"the format of {path} is not {FORMAT!r}")
    except (OSError, RecursionError, *MALFORMED) as error:
        raise FailedProof(f"{path} cannot be read: {str(error)[:200]}") from None
    return document


def main(path: str) -> int:
    """Print what is proved; the exit code."""
    try:
        document = read(path)
        value, _ = check(document)
    except FailedProof as error:
        print(f"FAILED: {error}")
        return 1
    print(f"PROVED {value!r}\nprogram {digest(document)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]) if sys.argv[1:] else __doc__)
