"""The solvers that a formulation can be given to."""

from __future__ import annotations

from typing import Any

from indefinite_opt.formulations import as_formulation
from indefinite_opt.modeling import Formulation
from indefinite_opt.solvers import known


def available_solvers(
    formulation: Formulation | type[Formulation] | str | None = None,
) -> list[str]:
    """Names of the solvers for a formulation, or of all solvers.

    A solver that needs convexity is listed unless the formulation is nonconvex for every kernel,
    and one that needs a bias unless the formulation has none.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> available_solvers(iopt.LPSVM)
    ['clarabel', 'generation', 'highs', 'scs']
    >>> "global" in available_solvers("SVMDual")
    True
    """
    files = known()
    if formulation is None:
        return sorted(files)
    wanted: Any = formulation
    if not (isinstance(formulation, type) and issubclass(formulation, Formulation)):
        wanted = as_formulation(formulation)
    return sorted(
        name
        for name, solver in files.items()
        if issubclass(wanted.structure_type, solver.accepts)
        and not (solver.needs_convex and wanted.convex is False)
        and not (solver.needs_bias and getattr(wanted, "bias", True) is False)
    )
