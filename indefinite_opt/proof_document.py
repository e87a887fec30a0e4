"""Proofs as plain documents that `proof_checker` reads without this package.

Every number is written as the shortest decimal that is read as the same double, so the document is
exact. docs/proof-format.md describes it, and docs/optimality-conditions.md what it proves.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.errors import ParameterError
from indefinite_opt.global_search import box_quadratic, finite_form
from indefinite_opt.kkt import Box, Conditions
from indefinite_opt.minorant import Bound, BoxQuadratic, Multipliers, Spins, pair_indices
from indefinite_opt.proof import Part, Proof, Tangent
from indefinite_opt.structure import BoxLineQP

__all__ = ["FORMAT", "bracket_document"]

Array = NDArray[np.float64]
Document = dict[str, Any]

FORMAT = "indefinite_opt proof 1"
"""Changes when a document of one version cannot be read by the other."""


def bracket_document(qp: BoxLineQP, proof: Proof, claim: float) -> Document:
    """The proof of a bound of branch and bound.

    Parameters
    ----------
    qp : BoxLineQP
        The program, with a `finite_form`.
    proof : Proof
    claim : float
        The bound that is claimed, in the declared sense.
    """
    finite = finite_form(qp)
    if finite is None:
        raise ParameterError("qp", "a program with a finite form", "one without upper bounds")
    conditions = Conditions(box_quadratic(finite))
    ray = None if finite is qp else qp.tilt
    return _document(
        "boxes",
        _program(conditions.whole),
        {"sense": qp.sense, "constant": qp.constant, "ray": ray},
        claim,
        {"nodes": _nodes(conditions, proof.root)},
    )


def _document(
    kind: str, program: Document, objective: Document, claim: float, proof: Document
) -> Document:
    return {
        "format": FORMAT,
        "kind": kind,
        "claim": claim,
        "objective": objective,
        "program": program,
        "proof": proof,
    }


def _triangle(matrix: Array) -> list[list[float]]:
    """The rows of the lower triangle."""
    return [_plain(row[: i + 1]) for i, row in enumerate(matrix)]


def _plain(values: Array) -> list[float]:
    """Doubles as a list, zeros as 0 because most of them are."""
    return [value or 0 for value in values.tolist()]


def _program(quadratic: BoxQuadratic) -> Document:
    return {
        "H": _triangle(quadratic.H),
        "c": _plain(quadratic.c),
        "lower": _plain(quadratic.lower),
        "upper": _plain(quadratic.upper),
        "rows": [_plain(row) for row in quadratic.rows],
        "rhs": _plain(quadratic.rhs),
    }


def _nodes(conditions: Conditions, root: Part) -> list[list[Document]]:
    """The steps of every box, parts directly behind what was divided."""
    nodes = []
    begin = conditions.start()
    untouched = replace(begin, binary=np.zeros_like(begin.binary))
    stack: list[tuple[Part, Box, Box]] = [(root, untouched, begin)]
    while stack:
        part, before, box = stack.pop()
        node, left = _conditions(conditions, before, box)
        for tangent, value in part.reductions:
            spins, bound = _bounded(conditions, tangent, left)
            if left is None or bound is None:
                break
            reduced = conditions.cut(left, spins, bound, value)
            step = {"rule": "tangent", "value": value, **_changes(left, reduced)}
            node.append(step | _minorant(tangent.multipliers, spins, bound, left))
            more, left = _conditions(conditions, reduced, reduced)
            node += more
        if left is not None and part.last is not None:
            spins, bound = _bounded(conditions, part.last, left)
            if bound is not None:
                minorant = _minorant(part.last.multipliers, spins, bound, left)
                node.append({"rule": "bound"} | minorant)
        if left is not None and part.divided is not None:
            pieces = conditions.parts(left, *part.divided)
            if len(pieces) == len(part.parts):
                node.append(_division(left, part.divided[0], pieces))
                children = [(child or Part(), piece, piece)
                            for piece, child in zip(pieces, part.parts, strict=True)]  # fmt: skip
                stack += reversed(children)
        nodes.append(node)
    return nodes


def _bounded(
    conditions: Conditions, tangent: Tangent, box: Box | None
) -> tuple[Spins, Bound | None]:
    whole = conditions.whole
    if box is None:
        return whole.spins(whole.lower, whole.lower), None
    spins = whole.spins(box.lower, box.upper)
    return spins, tangent.bound(spins, box)


def _conditions(
    conditions: Conditions, before: Box, box: Box
) -> tuple[list[Document], Box | None]:
    """The steps in which the conditions change a box, and what they leave of it."""
    steps = []
    for rule, after in conditions.steps(box):
        if after is None:
            return [*steps, {"rule": rule, "empty": True}], None
        changes = _changes(before, after)
        if changes:
            steps.append({"rule": rule, **changes})
        before = after
    return steps, before


def _changes(before: Box, after: Box) -> Document:
    found = {
        "lower": [[i, float(after.lower[i])] for i in _unequal(before.lower, after.lower)],
        "upper": [[i, float(after.upper[i])] for i in _unequal(before.upper, after.upper)],
        "binary": _unequal(before.binary, after.binary),
    }
    return {name: changes for name, changes in found.items() if changes}


def _unequal(one: NDArray[Any], other: NDArray[Any]) -> list[int]:
    return [int(i) for i in np.flatnonzero(one != other)]


def _division(box: Box, i: int, pieces: list[Box]) -> Document:
    if box.binary[i]:
        return {"rule": "divide", "variable": i, "into": "ends"}
    if pieces[-1].free[i] and not box.free[i]:
        return {"rule": "divide", "variable": i, "into": "ends and inside"}
    at = float(pieces[0].upper[i])
    return {"rule": "divide", "variable": i, "into": "intervals", "at": at}


def _minorant(multipliers: Multipliers, spins: Spins, bound: Bound, box: Box) -> Document:
    """Multipliers and tangent in shares t = (1 + d)/2 of the intervals.

    ½ shift (d² - 1) is -2 shift t(1 - t), so the shift joins the multipliers of the squares. The
    point is moved onto the rows, as the checker's minorant is not constant across them.
    """
    missed = (spins.rows @ bound.point - spins.rhs) / np.linalg.norm(spins.rows, axis=1)
    point = bound.point - spins.normals.T @ missed
    at_ends = box.binary[spins.members]
    squares = np.where(at_ends, multipliers.squares, np.maximum(multipliers.squares, 0.0))
    return {
        "members": spins.members.tolist(),
        "pairs": _plain(np.maximum(multipliers.pairs, 0.0).ravel()),
        "squares": _plain(squares + 2.0 * bound.shift),
        "triangles": _literals(*multipliers.triangles(), spins.m),
        "point": _plain(0.5 + 0.5 * point),
        "slope": _plain(2.0 * bound.reduced),
    }


def _literals(places: NDArray[np.int64], gamma: Array, m: int) -> list[list[int | float]]:
    """(p, q, r, γ) for each γ(p(1 - q)(1 - r) + (1 - p)qr); a literal is a variable and its end."""
    points = np.stack(pair_indices(m), axis=-1)
    found: list[list[int | float]] = []
    for row, price in zip(places, gamma.tolist(), strict=True):
        ends = [[(int(points[place // 4, 0]), int(place) % 4 // 2),
                 (int(points[place // 4, 1]), int(place) % 2)] for place in row]  # fmt: skip
        a, b, c = ends
        for p, r in (c, c[::-1]):
            q = b[b[0] == r]
            if price and p in a and r in b and (q[0], 1 - q[1]) in a:
                found.append([*p, *q, *r, price])
                break
    return found
