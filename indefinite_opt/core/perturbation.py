"""The loop of iterated local search by random exchanges of weights."""

from __future__ import annotations

import math
from ctypes import Structure, byref
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.core import library
from indefinite_opt.core.binding import (
    INT64,
    NUMBER,
    UINT64,
    WHOLE,
    Lent,
    View,
    count,
    fields,
    lending,
    numbers,
    reference,
    vector,
)
from indefinite_opt.core.descent import (
    DescentPoint,
    PairProgram,
    PointStructure,
    ProgramStructure,
)
from indefinite_opt.errors import ProblemError
from indefinite_opt.foundation import Array


class PlanStructure(Structure):
    """`Plan`."""

    _fields_ = [
        ("perturbations", WHOLE), ("pairs", WHOLE), ("slack", NUMBER), ("violation", NUMBER),
        ("steps", WHOLE), ("work", NUMBER),
    ]  # fmt: skip


class PerturbedStructure(Structure):
    """`Perturbed`."""

    _fields_ = [("perturbations", WHOLE), ("steps", WHOLE), ("work", NUMBER)]


_perturb = library.function(
    "perturbation_perturb", reference(ProgramStructure), reference(PointStructure), View, View,
    View, reference(PlanStructure), View, reference(PerturbedStructure), Lent,
)  # fmt: skip


class PerturbationPlan(NamedTuple):
    """How many perturbations there are, and how large."""

    perturbations: int
    pairs: int  # most pairs that one perturbation exchanges
    slack: float  # largest share by which F at a point that is perturbed may exceed the lowest
    violation: float  # at which the descent after a perturbation ends
    steps: int  # of all descents together
    work: float


class Perturbed(NamedTuple):
    """What some perturbations took."""

    perturbations: int
    steps: int
    work: float


def perturb(
    program: PairProgram, point: DescentPoint, linear: Array, plan: PerturbationPlan,
    state: NDArray[np.uint64],
) -> Perturbed:  # fmt: skip
    """Iterated local search from a stationary point, with all rows of K and finite bounds.

    Random pairs of weights are exchanged, among all points or among those similar to one; pair
    steps lead to a stationary point again, which replaces the old one if it is lower. The next
    perturbation starts there, too, if it is not much higher.

    Parameters
    ----------
    linear : (n,) array
        c, to compute F.
    state : (1,) uint64 array
        State of the random numbers; changed in place.
    """
    program.check(point)
    order, starts = program.by_group
    given = vector(linear, "linear", program.n)
    numbers(linear, "linear")
    if program.n == 0 or plan.pairs < 1 or any(map(math.isnan, plan)):
        raise ProblemError("plan", "numbers, and one pair or more of one point or more", str(plan))
    structure = PlanStructure(
        count(plan.perturbations), count(plan.pairs), plan.slack, plan.violation,
        count(plan.steps), plan.work,
    )  # fmt: skip
    found = PerturbedStructure()
    _perturb(
        program.structure, point.structure, given, vector(order, "order", dtype=INT64),
        vector(starts, "starts", dtype=INT64), structure,
        vector(state, "state", 1, dtype=UINT64, changed=True), byref(found),
        lending(*[program.n] * 4, *program.memory),
    )  # fmt: skip
    return Perturbed(*fields(found))
