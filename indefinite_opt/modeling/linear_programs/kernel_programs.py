"""The linear programs with the kernel matrix in their rows, with units, repair, dual and bound."""

from __future__ import annotations

from functools import partial

import numpy as np

from indefinite_opt.foundation import Array
from indefinite_opt.modeling.linear_programs.bounds import (
    KernelUnits,
    MatrixUnits,
    OneClassDescription,
    OneNormMachine,
    SensitivityGame,
    SensitivityUnits,
)
from indefinite_opt.modeling.linear_programs.linear_program import (
    Columns,
    DualUnits,
    Entries,
    LinearProgram,
    Rows,
)
from indefinite_opt.problem import KernelProblem


def one_norm_program(
    problem: KernelProblem, C: float, units: KernelUnits | None = None
) -> LinearProgram:
    """min ‖u‖₁ + C eᵀξ  s.t.  y∘(Ku + be) ≥ e - ξ,  ξ ≥ 0, in given units.

    u is the difference of two nonnegative columns.
    """
    n, y, machine = problem.n, problem.y, OneNormMachine(problem, C)
    units = units or machine.natural_units()
    margins: dict[str, Entries] = {"u": partial(units.signed_kernel, problem), "b": y, "xi": 1.0}
    slack = Columns((n,), cost=C, lower=0.0, constraints=("slack", None))
    return LinearProgram(
        {"u": Columns((n,), units.scale, absolute=True), "b": Columns(()), "xi": slack},
        {"margin": Rows((n,), margins, lower=1.0)},
        units=units,
        repair=machine.repaired,
        slacks={"xi": 1.0},
        source=(one_norm_program, problem),
        dual=partial(_one_norm_dual, problem, C, units),
        rescale=partial(_in_kernel_units, problem, C),
        bound=partial(_one_norm_bound, machine),
    )


def _in_kernel_units(problem: KernelProblem, C: float) -> LinearProgram:
    return one_norm_program(problem, C, OneNormMachine(problem, C).units())


def _one_norm_bound(machine: OneNormMachine, multipliers: dict[str, Array]) -> float:
    return machine.bound(multipliers["margin"])


def _one_norm_dual(problem: KernelProblem, C: float, units: KernelUnits) -> LinearProgram:
    """max eᵀλ s.t. |Kᵀ(y∘λ)| ≤ e, yᵀλ = 0, 0 ≤ λ ≤ C; its multipliers are u, b and ξ."""
    n, e = problem.n, units.scale
    return LinearProgram(
        {"margin": Columns((n,), -1.0, lower=0.0, upper=C, constraints=(None, "xi"))},
        {
            "u": Rows((n,), {"margin": lambda: units.signed_kernel(problem).T}, -e, e),
            "b": Rows((), {"margin": problem.y}, lower=0.0, upper=0.0),
        },
        units=DualUnits(units),
    )


def game_program(game: SensitivityGame, units: SensitivityUnits | None = None) -> LinearProgram:
    """min δ  s.t.  Δᵀα ≤ δe, yᵀα = 0, eᵀα = 1, 0 ≤ α ≤ β̄, in given units."""
    y, bounds = game.problem.y, ("lower", "upper")
    units = units or game.natural_units()
    rows: dict[str, Entries] = {"alpha": partial(units.transposed, game), "delta": -1.0}
    return LinearProgram(
        {
            "alpha": Columns((y.size,), lower=0.0, upper=game.beta, constraints=bounds),
            "delta": Columns((), cost=units.scale),
        },
        {
            "sensitivity": Rows((y.size,), rows, upper=-units.shift),
            "balance": Rows((), {"alpha": y}, lower=0.0, upper=0.0),
            "total": Rows((), {"alpha": 1.0}, lower=1.0, upper=1.0),
        },
        units=units,
        repair=game.repaired,
        least_unit=game.gap_floor,
        slacks={"delta": 0.0},
        source=(game_program, game.problem, game.given),
        rescale=partial(_in_game_units, game),
        bound=partial(_game_bound, game),
    )


def _in_game_units(game: SensitivityGame) -> LinearProgram:
    return game_program(game, game.units())


def _game_bound(game: SensitivityGame, multipliers: dict[str, Array]) -> float:
    return game.bound(multipliers["sensitivity"])


def one_class_program(
    problem: KernelProblem, sigma: float, price: float, units: MatrixUnits | None = None
) -> LinearProgram:
    """min σρ + p eᵀξ  s.t.  σMw ≤ σρe + ξ, eᵀw = 1, w ≥ 0, ξ ≥ 0, and ρ ≥ 0 if σ = 1."""
    n, description = problem.n, OneClassDescription(problem, sigma, price)
    units = units or MatrixUnits(1.0)
    s, radius = units.scale, ("radius", None) if sigma > 0.0 else (None, None)
    entries: dict[str, Entries] = {
        "w": partial(_scaled_matrix, problem, sigma / s), "rho": -sigma, "xi": -1.0
    }  # fmt: skip
    return LinearProgram(
        {
            "w": Columns((n,), lower=0.0, constraints=("lower", None)),
            "rho": Columns((), sigma * s, 0.0 if sigma > 0.0 else -np.inf, constraints=radius),
            "xi": Columns((n,), price * s, lower=0.0, constraints=("slack", None)),
        },
        {
            "boundary": Rows((n,), entries, upper=0.0),
            "total": Rows((), {"w": 1.0}, lower=1.0, upper=1.0),
        },
        units=units,
        repair=description.repaired,
        least_unit=description.gap_floor,
        slacks={"xi": 0.0},
        source=(one_class_program, problem, sigma),
        rescale=partial(_in_matrix_units, description),
        bound=partial(_one_class_bound, description),
        sense=1 if sigma > 0.0 else -1,
    )


def _scaled_matrix(problem: KernelProblem, factor: float) -> Array:
    return factor * problem.K


def _in_matrix_units(description: OneClassDescription) -> LinearProgram:
    problem, sigma = description.problem, description.sigma
    return one_class_program(problem, sigma, description.price, description.units())


def _one_class_bound(description: OneClassDescription, multipliers: dict[str, Array]) -> float:
    return description.bound(multipliers["boundary"])


def box_program(
    variable: str,
    cost: float | Array,
    ends: tuple[Array, Array],
    constraints: tuple[str | None, str | None],
    sense: int,
) -> LinearProgram:
    """min costᵀx on a box of finite ends, an array each, without rows."""
    lower, upper = ends
    columns = Columns(lower.shape, cost, lower, upper, constraints=constraints)
    return LinearProgram({variable: columns}, {}, sense=sense, source=(box_program, sense))
