"""Check a ray along which a model falls without end, in fractions: python ray_checker.py RAY

RAY is a file, or - for standard input. Only the standard library is used. With s + t·d in the place
of the variables, every affine expression is a line gt + c, and every piecewise linear one is a line
from some t on, so that lines are compared by g, then by c. The objective is at² + bt + O(1). It
falls without end if a < 0, or a = 0 and b < 0, and if all rows hold from some t on.
docs/theory/unbounded.md has the proof. Prints `PROVED: ...` and a digest of the model (exit code
0), or `FAILED: why` (exit code 1).
"""

from __future__ import annotations

import hashlib
import json
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

FORMAT = "indefinite_opt ray 1"
MALFORMED = (LookupError, TypeError, ValueError, ArithmeticError, RecursionError, AttributeError)
Line = tuple[Fraction, Fraction]
ZERO = (Fraction(0), Fraction(0))


class FailedRay(Exception):
    """Why a ray proves nothing."""


def total(lines: list[Line]) -> Line:
    """The sum of some lines."""
    return sum((g for g, _ in lines), Fraction(0)), sum((c for _, c in lines), Fraction(0))


def image(u: Any, x: list[Line]) -> list[Line]:
    """The lines of Ax + b; a row of A is a list of pairs of a place in x and a coefficient."""
    found = []
    for row, b in zip(u["A"], u["b"], strict=True):
        if any(not 0 <= j < len(x) for j, _ in row):
            raise FailedRay("a row has a variable that is not there")
        parts = [(Fraction(a) * x[j][0], Fraction(a) * x[j][1]) for j, a in row]
        found.append(total([*parts, (Fraction(0), Fraction(b))]))
    return found


def hidden(one: Any, u: list[Line]) -> list[Line]:
    """The lines of piecewise linear atoms; the group j has the entries j, size + j, ... of u."""
    kind, size, count = one["kind"], one["size"], one["count"]
    if kind == "abs":
        return [max(v, (-v[0], -v[1])) for v in u]
    if kind == "pos":
        return [max(v, ZERO) for v in u]
    if kind not in ("max", "largest") or not (1 <= count <= len(u) // size) or len(u) % size:
        raise FailedRay(f"nothing is known of the atom {kind!r}")
    return [total(sorted(u[j::size], reverse=True)[:count]) for j in range(size)]


def growth(model: Any, x: list[Line]) -> tuple[Fraction, Fraction | None]:
    """a and b of the objective at² + bt + O(1); b is None if it is not known."""
    a, b, known = Fraction(0), Fraction(0), True
    for one in model["hidden"]:
        x = x + hidden(one, image(one["u"], x))
    for j, cost in enumerate(model["cost"]):
        b += Fraction(cost) * x[j][0]
    for form in model["forms"]:
        u, weight = image(form["u"], x), Fraction(form["weight"])
        v = u if form["v"] is None else image(form["v"], x)
        v = v if form["P"] is None else image({"A": form["P"], "b": [0] * len(u)}, v)
        a += weight * sum(g * h for (g, _), (h, _) in zip(u, v, strict=True))
        b += weight * sum(g * k + c * h for (g, c), (h, k) in zip(u, v, strict=True))
    for term in model["terms"]:
        for number, line in zip(term["weights"], image(term["u"], x), strict=True):
            weight, kind, (g, c) = Fraction(number), term["kind"], max(line, ZERO)
            if kind == "pos2":
                a, b = a + weight * g * g, b + 2 * weight * g * c
            elif kind in ("pos", "logistic"):
                b += weight * g
            elif kind in ("abs", "huber"):
                b += weight * abs(line[0]) * (1 if kind == "abs" else 2 * Fraction(term["bend"]))
            elif kind == "lipschitz":
                known = known and line[0] == 0
            else:
                raise FailedRay(f"nothing is known of the term {kind!r}")
    for row in model["rows"]:
        for line in image(row["u"], x):
            if line != ZERO if row["equal"] else line > ZERO:
                raise FailedRay(f"the ray leaves {row['name']!r}")
    return a, b if known else None


def check(document: Any) -> tuple[Fraction, Fraction | None]:
    """a and b of the objective at² + bt + O(1) along the ray; `FailedRay` if it proves nothing."""
    try:
        if document["format"] != FORMAT:
            raise FailedRay(f"its format is not {FORMAT!r}")
        ends = (document["direction"], document["start"])
        d, s = ([Fraction(p, q) for p, q in end] for end in ends)
        if {len(d), len(s)} != {document["model"]["variables"]}:
            raise FailedRay("the ray has another number of variables")
        a, b = growth(document["model"], [*zip(d, s, strict=True)])
    except MALFORMED as error:
        raise FailedRay(f"it cannot be read: {error!r}") from None
    if a > 0 or (a == 0 and (b is None or b >= 0)):
        raise FailedRay("the objective does not fall along the ray")
    return a, b


def main(path: str) -> int:
    """Print what is proved, and return the exit code."""
    try:
        text = sys.stdin.read() if path == "-" else Path(path).read_text(encoding="utf-8")
        document = json.loads(text)
        a, _ = check(document)
    except (FailedRay, OSError, *MALFORMED) as error:
        print(f"FAILED: {str(error)[:400]}")
        return 1
    model = json.dumps(document["model"], separators=(",", ":"), sort_keys=True)
    print(f"PROVED: the model is unbounded; its objective falls like -{'t²' if a else 't'}")
    print(f"model {hashlib.sha256(model.encode()).hexdigest()}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]) if sys.argv[1:] else __doc__)
