"""Which solvers take a formulation, and which one is taken unless told otherwise."""

from __future__ import annotations

from indefinite_opt.formulations import as_formulation
from indefinite_opt.modeling import Formulation
from indefinite_opt.modeling.structures import (
    BoxLineQP,
    ExplicitProgram,
    LinearProgram,
    ProxyBall,
    ProxyDual,
)
from indefinite_opt.solvers import known

__all__ = ["available_solvers", "default_solver"]

DEFAULT_SOLVERS: dict[type, str] = {
    BoxLineQP: "multistart",
    LinearProgram: "highs",
    ProxyDual: "newton",
    ProxyBall: "newton",
}
"""By structure; none needs to know the curvature of a kernel."""


def default_solver(structure_type: type) -> str:
    """Name of the solver for a structure, unless told otherwise."""
    if issubclass(structure_type, ExplicitProgram):
        return structure_type.default_solver
    return next(DEFAULT_SOLVERS[kind] for kind in structure_type.__mro__ if kind in DEFAULT_SOLVERS)


def available_solvers(
    formulation: Formulation | type[Formulation] | str | None = None,
) -> list[str]:
    """Names of the solvers that take a formulation, or of all solvers.

    A solver that needs convexity is listed where the kernel decides it.
    """
    files = known()
    if formulation is None:
        return sorted(files)
    wanted = as_formulation(formulation)
    return sorted(
        name
        for name, solver in files.items()
        if issubclass(wanted.structure_type, solver.accepts)
        and not (solver.needs_convex and wanted.convex is False)
    )
