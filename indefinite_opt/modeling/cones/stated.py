"""The cones of a graph form as constraints of cvxpy, and the multipliers that it finds of them."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np

from indefinite_opt.algebra import (
    Cone,
    Exponential,
    Nonnegative,
    Power,
    SecondOrder,
    Semidefinite,
    Zero,
)
from indefinite_opt.foundation import Array


@singledispatch
def stated(cone: Cone, s: Any) -> Any:
    """The constraint s ∈ K, of an expression (size, count)."""
    raise NotImplementedError


@stated.register
def _(cone: Zero, s: Any) -> Any:
    return s == 0


@stated.register
def _(cone: Nonnegative, s: Any) -> Any:
    return s >= 0


@stated.register
def _(cone: SecondOrder, s: Any) -> Any:
    import cvxpy as cp

    return cp.SOC(s[0], s[1:], axis=0)


@stated.register
def _(cone: Semidefinite, s: Any) -> Any:
    import cvxpy as cp

    S = cp.reshape(s, (cone.order, cone.order), order="F")
    return 0.5 * (S + S.T) >> 0


@stated.register
def _(cone: Exponential, s: Any) -> Any:
    import cvxpy as cp

    return cp.ExpCone(s[0], s[1], s[2])


@stated.register
def _(cone: Power, s: Any) -> Any:
    import cvxpy as cp

    if cone.size == 3:
        return cp.PowCone3D(s[0], s[1], s[2], cone.exponents[0])
    return cp.PowConeND(s[:-1], s[-1], cone.exponents, axis=0)


def multipliers_of(cone: Cone, constraint: Any) -> Array:
    """Z of a solved constraint, (size, count)."""
    duals, shape = constraint.dual_value, (cone.size, cone.count)
    if isinstance(duals, list):  # one for each argument
        return np.vstack([np.reshape(part, (-1, cone.count)) for part in duals])
    values = np.asarray(duals, dtype=float)
    found = np.reshape(values.T if isinstance(cone, Semidefinite) else values, shape)
    return -found if isinstance(cone, Zero) else found
