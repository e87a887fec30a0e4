"""Linear programs by the simplex method and the interior points of HiGHS."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from indefinite_opt.algebra import Operator
from indefinite_opt.foundation import TimeLimitReached, afford, limited
from indefinite_opt.modeling.linear_programs import LinearProgram
from indefinite_opt.quadratic import (
    StandardForm,
    Status,
    Task,
    change_costs,
    highs_model,
    run_within,
    simplex_limit,
    status_of,
)
from indefinite_opt.solvers.linear.bracket import LinearBracket
from indefinite_opt.solvers.linear.reformulation import Reformulation, reformulations

LEAST_TOLERANCE = 1e-10
"""The smallest tolerance that HiGHS accepts."""

MAX_TOLERANCE = 1e-7
TOLERANCE_SHARE = 0.1
"""Feasibility tolerances as a share of `tol`, not above the default of HiGHS and not below the
smallest that it accepts."""

PER_ENTRY = 4000.0
"""Operations that take as long as passing an entry of a matrix to HiGHS."""

MAX_INTERIOR_ITERATIONS = 200
"""Most iterations of the interior-point method; 20 to 60 are usual."""


def run_highs(highs: Any, seconds: float, iterations: int) -> Status:
    """Why HiGHS stopped; see `run_within`."""
    import highspy

    statuses = {
        highspy.HighsModelStatus.kOptimal: Status.SOLVED,
        highspy.HighsModelStatus.kTimeLimit: Status.TIME_LIMIT,
        highspy.HighsModelStatus.kIterationLimit: Status.MAX_ITER,
    }
    return statuses.get(run_within(highs, seconds, iterations), Status.INACCURATE)


def iterations_of(highs: Any) -> int:
    """Iterations of the last run, by whichever method."""
    info = highs.getInfo()
    counts = (info.simplex_iteration_count, info.ipm_iteration_count, info.qp_iteration_count)
    return sum(max(int(count), 0) for count in counts)


def _model(form: StandardForm) -> Any:
    """A program with dense rows as a model of HiGHS, which looks at no clock while it is made.

    The matrix of the model is sparse if most of its entries are zero.
    """
    from scipy import sparse

    afford(PER_ENTRY * form.matrix.size)
    if np.count_nonzero(form.matrix) < 0.5 * form.matrix.size:
        form = form._replace(matrix=sparse.csr_array(form.matrix))
    return highs_model(form)


class LinearModels:
    """HiGHS models of a linear program, one for each of its units that was needed.

    Attributes
    ----------
    done : int
        Iterations on the present program.
    words : str
        What HiGHS says of its last run on it.
    """

    def __init__(self) -> None:
        self._models: dict[bool, Any] = {}
        self._program: LinearProgram | None = None
        self.done, self.words = 0, ""

    def solve(self, task: Task[Any], bracket: LinearBracket) -> Status:
        """Solve a program as accurately as it takes to close the gap of the bracket.

        Models are kept for the next program if that has the same matrix.
        """
        program, self.done, self.words = bracket.program, 0, ""
        if self._program is None or not _share_matrix(program, self._program):
            self._models = {}
        self._program, status = program, Status.INACCURATE
        try:
            for reformulation, way in _ways(task, program):
                status = self._run(task, reformulation, way)
                answer = self._models[reformulation.is_natural].getSolution()
                v, rows = np.array(answer.col_value), np.array(answer.row_dual)
                if answer.value_valid and v.size and np.all(np.isfinite(v)):
                    none = np.zeros(reformulation.form.row_lower.size)
                    rows = way.cost_unit * rows if answer.dual_valid else none
                    bracket.offer(reformulation, v, rows)
                if bracket.is_closed:
                    return Status.SOLVED
                if status is Status.TIME_LIMIT:
                    break
        except (KeyboardInterrupt, TimeLimitReached) as error:
            self._program = None  # a model may be half changed
            return status_of(error)
        # Limits of iterations that the caller has not set are this solver's own.
        of_caller = status is Status.TIME_LIMIT or task.max_iter is not None
        return status if of_caller and status is not Status.SOLVED else Status.INACCURATE

    def _run(self, task: Task[Any], reformulation: Reformulation, way: Way) -> Status:
        """Run HiGHS on a form in one way."""
        form = reformulation.form
        if reformulation.is_natural not in self._models:
            left, order = task.time_limit - task.elapsed, form.cost.size
            self._models[reformulation.is_natural] = limited(order, left, _model, form)
        highs = self._models[reformulation.is_natural]
        columns = np.arange(form.cost.size, dtype=np.int32)
        rows = np.arange(form.row_lower.size, dtype=np.int32)
        highs.changeColsBounds(columns.size, columns, form.lower, form.upper)
        highs.changeRowsBounds(rows.size, rows, form.row_lower, form.row_upper)
        change_costs(highs, form.cost / way.cost_unit)
        if self.words:  # the first run starts from the solution of the last program
            highs.clearSolver()
        # Presolve finds nothing to remove in a kernel matrix and takes longer than the simplex.
        # Crossover would end in the simplex method again, and our bound needs no vertex.
        options = {
            "presolve": "off", "solver": way.method,
            "run_crossover": "off" if way.method == "ipm" else "on",
            "primal_feasibility_tolerance": way.tolerance,
            "dual_feasibility_tolerance": way.tolerance,
        }  # fmt: skip
        for option, value in options.items():
            highs.setOptionValue(option, value)
        status = run_highs(highs, task.remaining, way.iterations)
        self.done += iterations_of(highs)
        self.words = highs.modelStatusToString(highs.getModelStatus())
        return status


def _share_matrix(one: LinearProgram, other: LinearProgram) -> bool:
    """Whether A is known to be the same in two programs."""
    mine, theirs = (
        {(label, name): A for label, row in program.constraints.items()
         for name, A in row.entries.items()} for program in (one, other)
    )  # fmt: skip
    return (
        [*one.variables] == [*other.variables]
        and mine.keys() == theirs.keys()
        and all(_same(A, theirs[place]) for place, A in mine.items())
    )


def _same(A: Operator, B: Operator) -> bool:
    """Whether two operators are known to be the same matrix."""
    return len(A.terms) == len(B.terms) and all(
        c == d and len(own) == len(other) and all(a.same(b) for a, b in pairs)
        for (c, own), (d, other) in zip(A.terms, B.terms, strict=True)
        for pairs in [zip(own, other, strict=False)]
    )


class Way(NamedTuple):
    """A method of HiGHS, the unit of the costs, a tolerance, and most iterations."""

    method: str
    cost_unit: float
    tolerance: float
    iterations: int


def _ways(task: Task[Any], program: LinearProgram) -> Iterator[tuple[Reformulation, Way]]:
    """Both forms of a program in each way that promises something.

    Those are the simplex method with the usual tolerance, with costs in units of the largest and
    the least tolerance, and interior points.
    """
    made: list[Reformulation] = []
    usual = max(min(MAX_TOLERANCE, TOLERANCE_SHARE * task.tol), LEAST_TOLERANCE)
    for one in reformulations(program):
        made.append(one)
        limit = simplex_limit(sum(one.form.matrix.shape))
        most = limit if task.max_iter is None else task.max_iter
        yield one, Way("choose", one.cost_units[0], usual, most)
        if task.max_iter is not None:
            return
    for one in made:
        yield one, Way("choose", one.cost_units[1], LEAST_TOLERANCE, limit)
    for one in made:
        yield one, Way("ipm", one.cost_units[0], usual, MAX_INTERIOR_ITERATIONS)
