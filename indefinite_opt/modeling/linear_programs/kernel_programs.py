"""The linear programs with the kernel matrix in their rows, with units, repair, dual and bound."""

from __future__ import annotations

from functools import partial

from indefinite_opt.foundation import Array
from indefinite_opt.modeling.linear_programs.bounds import (
    KernelUnits,
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
