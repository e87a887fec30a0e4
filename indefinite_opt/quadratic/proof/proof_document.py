"""Proofs as plain documents that `proof_checker` reads without this package.

Every number is written as the shortest decimal that is read back as the same double, so documents
are exact. docs/quadratic/proof-format.md describes them, and what their checker requires.
"""

from __future__ import annotations

import functools
import itertools
import json
import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.errors import DataError, ParameterError
from indefinite_opt.foundation import EPS, Array, read_json, write_bytes
from indefinite_opt.quadratic import answers
from indefinite_opt.quadratic.bracket.finite_form import required_form
from indefinite_opt.quadratic.bracket.minorant import Inequalities, Multipliers, pair_indices
from indefinite_opt.quadratic.bracket.optimality_conditions import Box, Conditions
from indefinite_opt.quadratic.bracket.proof import Part, Proof, Step, Tangent
from indefinite_opt.quadratic.bracket.scaled_box import Bound, BoxQuadratic, ScaledBox
from indefinite_opt.quadratic.data.standard_form import StandardForm
from indefinite_opt.quadratic.matrices.sparse import as_dense
from indefinite_opt.quadratic.programs.declaration import Declaration
from indefinite_opt.quadratic.programs.problem import Problem
from indefinite_opt.quadratic.programs.program import CompiledProgram
from indefinite_opt.quadratic.programs.qp import QP
from indefinite_opt.quadratic.proof.proof_checker import (
    FORMAT,
    WITHOUT_OPTIMUM,
    ExactBox,
    ExactMinorant,
    ExactProgram,
    FailedProof,
    check,
    exact,
    reached,
)
from indefinite_opt.quadratic.rows.multipliers import of_rows
from indefinite_opt.quadratic.rows.no_optimum import Conflict, Ray, met_exactly
from indefinite_opt.quadratic.rows.polyhedral_qp import PolyhedralQP
from indefinite_opt.quadratic.solving.solver import Task

Document = dict[str, Any]

MINIMUM: Document = {"sense": 1, "constant": 0}

_MAX_FREE = 8
"""Free columns up to which rows are scaled: each may make all fractions twice as long."""

_NOTHING_LEFT = 1e-12
"""Relative gap below which no other multipliers are tried."""

_ROUNDING_SHARE = 1e-9
"""Generous bound on the relative rounding error of a sum."""


def certificate_document(
    problem: Problem,
    formulation: Declaration,
    values: Mapping[str, Array],
    multipliers: Mapping[str, Array],
    witness: object = None,
) -> Document:
    """The proof of the bound of a certificate, which may differ from its bound by rounding.

    Convex minorants touch near the values; of a linear program the multipliers are used, of a
    nonconvex one the witness, a `Proof`. `ParameterError` if there is none, or for another program.
    """
    program = formulation.program(problem)
    task = Task(problem, formulation, program)
    return bound_document(program, task, values, multipliers, witness)


@functools.singledispatch
def bound_document(
    program: CompiledProgram[Any],
    task: Task[Any],
    values: Mapping[str, Array],
    multipliers: Mapping[str, Array],
    witness: object,
) -> Document:
    """`certificate_document` for one kind of program; others register theirs."""
    raise ParameterError(
        "formulation", "a linear program, a convex quadratic one or one with a proof",
        f"{task.formulation}", "A proof has no rule for cones." if program.has_cones else "",
    )  # fmt: skip


@bound_document.register(QP)
def _quadratic_bound(
    program: QP,
    task: Task[Any],
    values: Mapping[str, Array],
    multipliers: Mapping[str, Array],
    witness: object,
) -> Document:
    if isinstance(witness, Proof):
        return bracket_document(program, witness)
    if program.is_convex:
        return dual_document(program, program.from_values(dict(values)))
    return bound_document.dispatch(object)(program, task, values, multipliers, witness)


@bound_document.register(PolyhedralQP)
def _bound_of_rows(
    program: PolyhedralQP,
    task: Task[Any],
    values: Mapping[str, Array],
    multipliers: Mapping[str, Array],
    witness: object,
) -> Document:
    plain_rows = program.keeps_kinds and not program.constants and program.doubt == 0.0
    if not isinstance(witness, Proof) and plain_rows and program.is_convex:
        form, x = program.standard_form(), program.from_values(dict(values))
        near = program.at(program.feasible.project(x))
        value = program.declared(near.value)
        proved: list[Document] = []
        for own in (False, True):
            used = answers.optimality(program, near, None).stacked if own else multipliers
            found = convex_document(form, x, _pulls(program, used))
            proved += [found] if found is not None else []
            if proved and abs(value - proved[-1]["claim"]) <= _NOTHING_LEFT * abs(value):
                break
        if proved:
            return max(proved, key=lambda one: form.sense * one["claim"])
    return _quadratic_bound(program, task, values, multipliers, witness)


def _pulls(qp: PolyhedralQP, multipliers: Mapping[str, Array]) -> Array:
    """Multipliers of all rows, positive for lower ends."""
    return 0.0 - np.concatenate(of_rows(qp.feasible, dict(multipliers)))


def convex_document(form: StandardForm, x: Array, multipliers: Array) -> Document | None:
    """The proof of a bound on a convex program near x, from multipliers of its rows.

    Those of a linear program are made exactly feasible. None if they prove no bound, as where
    neither bounds nor curvature hold a variable whose reduced cost is only 0 up to rounding.
    """
    objective: Document = {"sense": form.sense, "constant": form.constant}
    usable = np.where(multipliers > 0.0, form.row_lower > -np.inf, form.row_upper < np.inf)
    near = np.where(usable, multipliers, 0.0)
    program = _linear_program(form)
    H = form.dense_hessian
    used = H.any(axis=0)
    if not used.any():
        for exactly in _exactly_feasible(form, near):
            found = _proved("linear", program, objective, {"multipliers": _pairs(exactly)})
            if found is not None:
                return found
        return None
    values = np.linalg.eigvalsh(H[np.ix_(used, used)])
    largest = float(np.abs(H).max())
    margin, least = 8.0 * int(used.sum()) * EPS * largest, float(values[0])
    strengths = [0.9 * least] if least > 2.0 * margin else []
    strengths += [min(least, 0.0) - margin * 10.0**k for k in range(4)]
    given = {"multipliers": _pairs([*map(Fraction, near.tolist())]), "point": plain(x)}
    for strength in strengths:
        content = given | {"strength": [strength] * x.size}
        found = _proved("convex", program | {"H": triangle(H)}, objective, content)
        if found is not None:
            return found
    return None


def _exactly_feasible(form: StandardForm, near: Array) -> Iterator[list[Fraction]]:
    """Multipliers of a linear program near some, whose reduced costs have the ends they need."""
    rows = form.dense_matrix
    reduced, terms = form.cost - near @ rows, np.abs(form.cost) + np.abs(near) @ np.abs(rows)
    lacking = np.where(reduced > 0.0, np.isinf(form.lower), np.isinf(form.upper))
    for share in (0.0, 1e-12, 1e-9, 1e-6):
        zero = lacking | (np.abs(reduced) <= share * terms)
        found = met_exactly(rows[:, zero].T, near, form.cost[zero])
        if found is not None:
            yield found
    if np.sum(np.isinf(form.lower) & np.isinf(form.upper)) <= _MAX_FREE:
        entries = [{j: float(row[j]) for j in np.flatnonzero(row).tolist()} for row in rows]
        yield _repaired(form, entries, near)


def _proved(
    kind: str, program: Document, objective: Document, content: Document
) -> Document | None:
    """The document, if its proof holds."""
    try:
        return document(kind, program, objective, content)
    except FailedProof:
        return None


def bracket_document(qp: QP, proof: Proof, claim: float | None = None) -> Document:
    """The proof of a bound of branch and bound; the claim is in the declared sense."""
    form = required_form(qp)
    objective: Document = {"sense": qp.sense, "constant": qp.constant}
    if form.ray is not None:
        objective["ray"] = form.ray
    return boxes_document(form.quadratic, proof, objective, claim)


def boxes_document(
    quadratic: BoxQuadratic, proof: Proof, objective: Document, claim: float | None = None
) -> Document:
    """The proof of a lower bound on a `BoxQuadratic`, and thus of a bound on an objective.

    The objective has a "sense", a "constant" and, if the program describes the rays of another one,
    a "ray". The claimed bound, in the declared sense, is by default the proved one.
    """
    program: Document = {
        "H": triangle(quadratic.H),
        "c": plain(quadratic.c),
        "lower": plain(quadratic.lower),
        "upper": plain(quadratic.upper),
        "rows": [plain(row) for row in quadratic.rows],
        "rhs": plain(quadratic.rhs),
    }
    exact_program = ExactProgram(exact(program))
    steps = proof.steps(Conditions(quadratic))
    content = {"steps": [entry for step in steps for entry in _written(exact_program, step)]}
    return document("boxes", program, objective, content, claim)


def dual_document(qp: QP, x: Array) -> Document:
    """The proof of a bound on a convex program: one box, and the tangent near x."""
    form = required_form(qp)
    conditions = Conditions(form.quadratic)
    box = conditions.begin()
    scaled = conditions.whole.scaled(box.lower, box.upper)
    tangent = Tangent(Multipliers.spectral(scaled.m), scaled.place(form.placed(x)))
    return bracket_document(qp, Proof(Part(last=tangent)))


def linear_document(form: StandardForm, multipliers: Array) -> Document:
    """The proof of a bound on a linear program, from row multipliers made exactly dual feasible."""
    content = _linear_program(form)
    rows: list[dict[int, float]] = [dict(row) for row in content["rows"]]
    parts = {"multipliers": _pairs(_repaired(form, rows, multipliers))}
    return document("linear", content, {"sense": form.sense, "constant": form.constant}, parts)


def no_optimum_document(form: StandardForm, proof: Ray | Conflict) -> Document:
    """The proof that a program is unbounded, by a ray and a point, or infeasible."""
    program = _linear_program(form)
    if isinstance(proof, Conflict):
        # The checker bounds 0 from below: with the signs of a lower bound, and none is above 0.
        parts = {"multipliers": _pairs([-multiplier for multiplier in proof.multipliers])}
        return document("infeasible", program, MINIMUM, parts)
    if proof.start is None:
        raise ParameterError("ray", "a ray from a point that satisfies all rows exactly", "none")
    n = form.cost.size
    H = np.zeros((n, n)) if form.hessian is None else as_dense("P", form.hessian)
    parts = {"direction": _pairs(proof.direction), "start": _pairs(proof.start)}
    return document("unbounded", program | {"H": triangle(H)}, MINIMUM, parts)


def _pairs(numbers: list[Fraction]) -> list[list[int]]:
    return [[*number.as_integer_ratio()] for number in numbers]


def _linear_program(form: StandardForm) -> Document:
    matrix = form.dense_matrix
    return {
        "cost": plain(form.cost),
        "lower": _ends(form.lower),
        "upper": _ends(form.upper),
        "row_lower": _ends(form.row_lower),
        "row_upper": _ends(form.row_upper),
        "rows": [[[int(j), float(row[j])] for j in np.flatnonzero(row)] for row in matrix],
    }


def write_document(document: Document, path: str | Path) -> Path:
    """Write a document to a file."""
    text = json.dumps(document, separators=(",", ":"), allow_nan=False)
    write_bytes(Path(path), f"{text}\n".encode())
    return Path(path)


def read_document(path: str | Path) -> Document:
    """The document in a file."""
    document = read_json(Path(path), "path")
    if isinstance(document, dict) and document.get("format") == FORMAT:
        return document
    raise DataError("path", f"a proof of the format {FORMAT!r}", f"{path}, which is another file")


def document(
    kind: str, program: Document, objective: Document, proof: Document, claim: float | None = None
) -> Document:
    document = {
        "format": FORMAT, "kind": kind, "claim": claim, "objective": objective, "program": program,
        "proof": proof,
    }  # fmt: skip
    if kind in WITHOUT_OPTIMUM:
        check(document)
    elif claim is None:
        best = reached(document)
        if math.isinf(best):
            raise ParameterError("formulation", "a feasible program", "one without a point")
        # The nearest double, or the next one on the safe side.
        nearest = float(best)
        beyond = objective["sense"] * (Fraction(nearest) - best) > 0
        away = -np.inf * objective["sense"]
        document["claim"] = float(np.nextafter(nearest, away)) if beyond else nearest
    return document


def _ends(values: Array) -> list[float | None]:
    return [value if np.isfinite(value) else None for value in values.tolist()]


def _repaired(
    form: StandardForm, rows: list[dict[int, float]], multipliers: Array
) -> list[Fraction]:
    """Multipliers with exactly the right signs, for themselves and for the reduced costs.

    The reduced cost of a free column becomes 0 by scaling the rows whose terms have one sign. That
    of a column with one bound gets its sign by scaling all rows, which keeps the reduced cost 0 of
    free columns without a cost.
    """
    upward = np.isfinite(form.row_lower)
    downward = np.isfinite(form.row_upper)
    signed = [
        Fraction(float(multiplier)) if (up if multiplier > 0.0 else down) else Fraction(0)
        for multiplier, up, down in zip(multipliers, upward, downward, strict=True)
    ]
    bounded = np.isfinite(form.lower), np.isfinite(form.upper)
    for j in np.flatnonzero(~bounded[0] & ~bounded[1]).tolist():
        pulls = {i: Fraction(row[j]) * signed[i] for i, row in enumerate(rows) if j in row}
        cost = Fraction(form.cost[j])
        total, shares = sum(pulls.values(), Fraction(0)), []
        if total == cost:
            continue
        for sign in (1, -1):
            side = [i for i, pull in pulls.items() if sign * pull > 0]
            part = sum((pulls[i] for i in side), Fraction(0))
            if part and (cost - total + part) / part > 0:
                shares.append(((cost - total + part) / part, side))
        share, side = min(shares, default=(Fraction(0), [*range(len(signed))]))
        for i in side:
            signed[i] *= share
    pulled = [Fraction(0)] * form.cost.size
    for multiplier, row in zip(signed, rows, strict=True):
        for j, a in row.items():
            pulled[j] += multiplier * Fraction(a)
    scale = Fraction(1)
    for j in np.flatnonzero(bounded[0] != bounded[1]).tolist():
        cost, sign = Fraction(form.cost[j]), 1 if bounded[0][j] else -1
        if sign * (cost - pulled[j]) < 0:
            # Where no multiplier pulls, none helps: the checker refuses what is left.
            scale = min(scale, max(cost / pulled[j], Fraction(0)) if pulled[j] else Fraction(0))
    return [scale * multiplier for multiplier in signed]


def triangle(matrix: Array) -> list[list[float]]:
    """The rows of the lower triangle."""
    return [plain(row[: i + 1]) for i, row in enumerate(matrix)]


def plain(values: Array) -> list[float]:
    """Doubles as a list, with 0 for zeros, as that is shorter and most of them are."""
    return [value or 0 for value in values.tolist()]


def _written(program: ExactProgram, step: Step) -> list[Document]:
    """A step in the form of the file, in which a box is divided into two at a time."""
    if step.rule == "close":
        return [{"rule": "close"}]
    if step.rule == "divide":
        divided = {"rule": "divide", "variable": step.variable}
        at = float(step.after[0].upper[step.variable])
        return [divided] * (len(step.after) - 2) + [divided | {"at": at}]
    if not step.after:
        return [{"rule": step.rule, "empty": 1}]
    (after,) = step.after
    changes: Document = {}
    for name in ("lower", "upper"):
        old, new = getattr(step.before, name), getattr(after, name)
        moved = [[int(i), float(new[i])] for i in np.flatnonzero(old != new)]
        changes |= {name: moved} if moved else {}
    if step.tangent is not None:
        value: Document = {} if step.value is None else {"value": step.value}
        return [_tangent(program, step.before, *step.tangent) | value | changes]
    told = changes or np.any(step.before.binary != after.binary)
    return [{"rule": step.rule, **changes}] if told else []


def _tangent(
    program: ExactProgram, box: Box, multipliers: Multipliers, scaled: ScaledBox, bound: Bound
) -> Document:
    """Multipliers and tangent in the shares t = (1 + d)/2 of the intervals."""
    written = _WrittenTangent(program, box, multipliers.valid(box.binary[scaled.members]), scaled)
    # ½ shift (d² - 1) is -2 shift t(1 - t).
    written.squares[scaled.members] += 2.0 * bound.shift
    if scaled.m:
        written.across[:, scaled.members + 1] = -2.0 * (scaled.weights.T @ bound.coupling.T)
        written.point[scaled.members] = np.clip(0.5 + 0.5 * bound.point, 0.0, 1.0)
    written.cancel_thin_intervals()
    slope = written.raise_squares()
    if scaled.m:
        # These multipliers make the slope approximately the wanted one.
        wanted, nu = 2.0 * bound.reduced, 2.0 * bound.nu
        missing = [
            float(Fraction(a) - slope[i]) for i, a in zip(scaled.members, wanted, strict=True)
        ]
        nu += np.linalg.lstsq(scaled.rows.T, missing - nu @ scaled.rows)[0]
        written.across[:, 0] = 0.5 * (scaled.weights.T @ nu)
    return written.document()


class _WrittenTangent:
    """A minorant with the literals of the whole program, while it is made convex exactly.

    Attributes
    ----------
    squares : (n,) array
        Multipliers of t(1 - t).
    across : (k, n + 1) array
        For each row what it is multiplied by, a constant and the slopes of a linear function.
    point : (n,) array
        Where the tangent touches.
    """

    def __init__(
        self, program: ExactProgram, box: Box, multipliers: Multipliers, scaled: ScaledBox
    ) -> None:
        members, n = scaled.members, program.n
        lower, upper = exact(box.lower.tolist()), exact(box.upper.tolist())
        self.program = program
        self.box = ExactBox(lower, upper, set(np.flatnonzero(box.binary).tolist()), set())
        self.wide = box.lower < box.upper
        self.thin = np.setdiff1d(np.flatnonzero(self.wide), members).tolist()
        self.squares, self.point = np.zeros(n), np.where(self.wide, 0.5, 0.0)
        self.squares[members] = multipliers.squares
        self.across = np.zeros((len(program.rows), n + 1))
        self.products: list[list[int | float]] = []
        first, second = pair_indices(scaled.m)
        for row, column in zip(*np.nonzero(multipliers.pairs), strict=True):
            one = 2 * int(members[first[row]]) + int(column) // 2
            other = 2 * int(members[second[row]]) + int(column) % 2
            self.products.append([one, other, float(multipliers.pairs[row, column])])
        self.triangles = _named(multipliers.triangles, members)
        self.pentagons = _named(multipliers.pentagons, members)
        self.heptagons = _named(multipliers.heptagons, members)

    def document(self) -> Document:
        """The step, unchanged."""
        own = [[2 * i, 2 * i + 1, a] for i, a in enumerate(self.squares.tolist()) if a]
        return {
            "rule": "tangent",
            "products": self.products + own,
            "triangles": self.triangles,
            "pentagons": self.pentagons,
            "heptagons": self.heptagons,
            "across": [plain(row) for row in self.across],
            "point": plain(self.point),
        }

    def _minorant(self) -> ExactMinorant:
        return ExactMinorant(self.program, self.box, exact(self.document()))

    def cancel_thin_intervals(self) -> None:
        """Cancel what the minorant has of variables that count as fixed in the scaled box."""
        M = self._minorant().M
        for i in self.thin:
            self.squares[i] += max(-0.5 * float(M[i][i]), 0.0) * (1.0 + _ROUNDING_SHARE)
            for j in np.flatnonzero(self.wide).tolist():
                # Two products with half of the multiplier each cancel the product of both shares.
                multiplier = 0.5 * abs(float(M[i][j]))
                if multiplier and (j < i or j not in self.thin):
                    end = 0 if M[i][j] > 0 else 1
                    self.products += [
                        [2 * i, 2 * j + end, multiplier],
                        [2 * i + 1, 2 * j + 1 - end, multiplier],
                    ]
                    self.squares[[i, j]] += _ROUNDING_SHARE * multiplier

    def raise_squares(self) -> list[Fraction]:
        """Raise the squares until the matrix is positive semidefinite; returns the slope.

        The steps double: first a tiny share of the largest entry, and never 0, however small the
        entries are.
        """
        for doublings in itertools.count():
            minorant = self._minorant()
            try:
                return minorant.tangent(exact(self.point.tolist()))[1]
            except FailedProof:
                largest = max(abs(float(a)) for row in minorant.M for a in row)
                self.squares[self.wide] += 1e-14 * 2.0**doublings * largest + 1e-320
        raise AssertionError


def _named(inequalities: Inequalities, members: NDArray[np.intp]) -> list[list[int | float]]:
    """Literals of variables of the whole program, with multipliers that are not zero."""
    literals, multipliers = inequalities
    own = np.append(2 * members, 0)[literals // 2] + literals % 2
    return [
        [*row, multiplier]
        for row, multiplier in zip(own.tolist(), multipliers.tolist(), strict=True)
        if multiplier
    ]
