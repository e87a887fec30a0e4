"""Check anybody's numbers: measure what a point satisfies, and what follows from it.

Nothing here trusts the solver that a point came from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from indefinite_opt.errors import IncompatibleSolver, SolverFailed
from indefinite_opt.formulations import as_formulation
from indefinite_opt.foundation import TimeLimitReached, checked_values, checks, limited, within
from indefinite_opt.modeling import Formulation, relative
from indefinite_opt.modeling.structures import (
    BoxLine,
    BoxLineQP,
    ExplicitProgram,
    LinearProgram,
    ProxyStructure,
)
from indefinite_opt.problem import KernelProblem
from indefinite_opt.solvers import Claim, Task, Witness
from indefinite_opt.solvers.branch_and_bound import GlobalSearch, Proof, obstacle, proved_bound
from indefinite_opt.solvers.external import Highs
from indefinite_opt.solvers.proxy_kernel import KernelBound
from indefinite_opt.workflow.certificates.certificate import Certificate, Facts, claim_of
from indefinite_opt.workflow.certificates.curvature import curvature_at

__all__ = ["certify", "verify"]

Array = NDArray[np.float64]
Values = dict[str, Array]

EQUALITIES = ("balance", "total")
"""Names of equality constraints, whose multipliers have no sign."""


class _Point(NamedTuple):
    """A point, F and ∇F there."""

    x: Array
    value: float
    gradient: Array

    @classmethod
    def of(cls, box: BoxLine, x: Array) -> _Point:
        return cls(x, *box.value_gradient(x))


INCONSISTENT = "The multipliers given do not satisfy the first-order conditions."


def verify(
    problem: KernelProblem,
    formulation: Formulation | str,
    values: Mapping[str, ArrayLike],
    multipliers: Mapping[str, ArrayLike] | None = None,
    tol: float = 1e-6,
    bound: bool = False,
    time_limit: float | None = 60.0,
    atol: float = 0.0,
) -> Certificate:
    """Check anybody's numbers.

    Parameters
    ----------
    problem : KernelProblem
    formulation : Formulation or str
    values : mapping of str to array_like
        One entry per declared variable.
    multipliers : mapping of str to array_like, optional
        One entry per declared constraint, of the minimisation form: L = F + Σ λᵀ(lhs - rhs) with
        nonnegative λ for inequalities. Recovered when not given. Given ones are checked as they
        are: a wrong sign or a wrong value costs the claim. They never make a check weaker, as a
        bound from recovered ones counts where it is better.
    tol : float
        Relative tolerance of every test; of gaps in the unit that `gaps` defines.
    bound : bool
        Bracket the global optimum of a nonconvex quadratic program, too; see `bounds.bound`.
        Without effect on the others, whose bound is always computed.
    atol : float
        A gap of at most this much, in units of the objective, counts as closed as well. For an
        optimal value of zero, where no gap is small relative to the objective.
    time_limit : float, optional
        Seconds for that bracket, and for the test of convexity: what is not known by then is left
        out, and the certificate says so.

    Returns
    -------
    Certificate

    Raises
    ------
    ProblemError
        For a missing or unknown name, a wrong shape, NaN or infinite numbers; or if the kernel
        matrix was changed after the problem was made.
    IncompatibleSolver
        If a bracket is asked for where there can be none: see `bounds.bound`.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> problem = iopt.KernelProblem([[0.0, 1.0], [1.0, 0.0]], [1, -1])
    >>> certificate = verify(problem, iopt.SVMDual(C=1.0), {"alpha": [1.0, 1.0]})
    >>> certificate.claim.name, certificate.gap_kind
    ('LOCAL', 'KKT residual')
    >>> certificate = verify(problem, iopt.SVMDual(C=1.0), {"alpha": [1.0, 1.0]}, bound=True)
    >>> certificate.claim.name, certificate.gap_kind
    ('GLOBAL', 'global bracket')
    """
    checks.tolerance("tol", tol)
    checks.positive("atol", atol, zero=True)
    checks.switch("bound", bound)
    checks.positive("time_limit", time_limit, infinite=True, optional=True)
    formulation = as_formulation(formulation)
    structure = formulation.structure(problem)
    if isinstance(structure, ExplicitProgram):
        shapes = structure.shapes
        origin = {name: np.zeros(shape) for name, shape in shapes.items()}
        names = {name: np.shape(v) for name, v in structure.multipliers(origin).items()}
    elif isinstance(structure, BoxLine):
        shapes = {structure.variable: (structure.n,)}
        names = dict.fromkeys(structure.line_names, ()) | {"lower": (structure.n,)}
        if np.isfinite(structure.upper):
            names["upper"] = (structure.n,)
    else:
        sample = structure.read(np.zeros(structure.cost.size))
        shapes = {name: np.shape(value) for name, value in sample.items()}
        zeros = np.zeros(structure.row_lower.size), np.zeros(structure.cost.size)
        names = {k: np.shape(v) for k, v in structure.read_multipliers(*zeros).items()}
    checked = checked_values("values", values, shapes)
    given = None if multipliers is None else checked_values("multipliers", multipliers, names)
    limit = np.inf if time_limit is None else float(time_limit)
    return certify(
        problem, formulation, checked, given, tol,
        given=given is not None, search=bound, time_limit=limit, atol=float(atol),
    )  # fmt: skip


def certify(
    problem: KernelProblem,
    formulation: Formulation,
    values: Values,
    multipliers: Values | None,
    tol: float,
    given: bool = False,
    witness: object = None,
    search: bool = False,
    time_limit: float = np.inf,
    atol: float = 0.0,
) -> Certificate:
    """`verify` for numbers of the right names and shapes.

    `given`: somebody vouches for the multipliers, so that they are checked, too.

    A `witness` of a bound is not believed: the bound is computed from it again. With `search` a
    bracket is looked for where there is none. Within the time limit, in seconds, what can be found
    out about the curvature is.
    """
    problem.check_unchanged()
    structure = formulation.structure(problem)
    task = Task(problem, formulation, structure, tol=tol, time_limit=time_limit)
    if isinstance(structure, BoxLine):
        found = _certify_box(task, values[structure.variable], multipliers, witness, search, atol)
    elif isinstance(structure, ExplicitProgram):
        found = _certify_explicit(structure, values, multipliers, tol, given, atol)
    else:
        found = _certify_linear(task, values, multipliers, given, atol)
    return replace(found, basis=(problem, formulation, values, found.multipliers, witness))


def _wrong_signs(multipliers: Values, slack: float) -> list[str]:
    """One sentence for each inequality whose multipliers are negative beyond the slack."""
    return [
        f"The multipliers of {name!r} must be nonnegative; the least is {np.min(value):.3g}."
        for name, value in multipliers.items()
        if name not in EQUALITIES and np.min(value, initial=0.0) < -slack
    ]


def _certify_box(
    task: Task,
    x: Array,
    given: Values | None,
    witness: object,
    search: bool,
    atol: float,
) -> Certificate:
    box, tol = cast("BoxLineQP | ProxyStructure", task.structure), task.tol
    convex = _is_convex(task)
    value, gradient = box.value_gradient(x)
    scale, size = box.gradient_unit(gradient), max(box.gap_unit(value, x), atol / tol)
    primal = box.infeasibility(x)
    near = _Point(x, value, gradient)
    if primal > box.n * float(np.finfo(float).eps):
        # Bounds start from a feasible point: F may be convex along the constraints alone, and what
        # rounding leaves across them is within the allowance.
        near = _Point.of(box, box.project(x))

    first_order = box.first_order(x, gradient, tol)
    multipliers = given or box.multipliers(first_order)
    reduced, stationarity = first_order.reduced, first_order.residual / scale
    wrong: list[str] = []
    if given is not None:
        wrong = _wrong_signs(given, tol * scale)
        lines = np.array([given[name] for name in box.line_names])
        upper = given.get("upper", np.zeros(box.n))
        reduced = gradient + box.A.T @ lines
        stationarity = float(np.max(np.abs(reduced - given["lower"] + upper))) / scale
    paid = box.complementarity(x, multipliers["lower"], multipliers.get("upper"))
    complementarity = relative(paid, size)
    kkt = not wrong and stationarity <= tol and complementarity <= tol
    if given is not None and not wrong and not kkt:
        wrong = [INCONSISTENT]

    bound, gap_kind, notes = -np.inf, "KKT residual", list[str]()
    if convex:
        bound, gap_kind = _lower_bound(task, near, witness), "duality gap"
    elif isinstance(witness, Proof) or search:
        bound, notes = _global_bound(task, x, value, near.value, atol, witness)
        gap_kind = "global bracket" if np.isfinite(bound) else gap_kind
    gap = _gap(value, near.value, bound)
    relative_gap = relative(gap, size)
    facts = Facts(primal, not wrong, relative_gap, kkt)
    curvature, words = np.nan, "First-order conditions hold."
    if claim_of(facts, tol) is Claim.STATIONARY and isinstance(box, BoxLineQP):
        try:
            sign, curvature, words = limited(
                task.problem.n, _left(task), curvature_at, box, x, reduced, tol * scale, tol
            )
            facts = replace(facts, curvature=sign)
        except TimeLimitReached:
            words = "First-order conditions hold; curvature was not examined in time."
        words = _doubt(box, convex, np.isfinite(bound)) + words
    claim = claim_of(facts, tol)
    if claim is Claim.NONE:
        reasons = [*wrong, f"A constraint is violated by {primal:.2e}."]
    elif wrong:
        reasons = wrong
    elif claim is Claim.GLOBAL:
        reasons = _convexity(box) if convex else notes
    elif claim is Claim.FEASIBLE:
        failing = "complementarity" if stationarity <= tol else "stationarity"
        reasons = [f"The first-order conditions fail: {failing}.", *notes]
    else:
        reasons = [words, *notes]
    if convex and np.isfinite(bound) and Claim.NONE < claim < Claim.GLOBAL and not wrong:
        reasons.append(f"Convex, but the bound leaves a duality gap of {relative_gap:.2e}.")
    if claim >= Claim.STATIONARY and isinstance(box, BoxLineQP):
        reasons += _norm_of_the_normal(box, x, float(x @ (gradient - box.linear)))
    return Certificate(
        claim=claim,
        objective=box.declared(value),
        primal_residual=primal,
        stationarity=stationarity,
        complementarity=complementarity,
        curvature=curvature,
        bound=box.declared(bound - box.constant_rounding),
        gap=gap,
        relative_gap=relative_gap,
        gap_kind=gap_kind,
        tol=tol,
        reasons=tuple(reasons),
        multipliers=multipliers,
    )


def _gap(value: float, attained: float, bound: float) -> float:
    """Distance of the objective from a bound; of the exactly feasible point's if that is more.

    A point that violates constraints a little may be better than every feasible one. What it costs
    to satisfy them exactly is part of the gap.
    """
    return max(abs(value - bound), abs(attained - bound))


def _left(task: Task) -> float:
    """Seconds before the time limit; nothing is started where there are none."""
    return task.time_limit - task.elapsed


def _is_convex(task: Task) -> bool | None:
    """Whether the program is convex; None if that was not found out in time."""
    try:
        return limited(task.problem.n, _left(task), lambda: task.structure.is_convex)
    except TimeLimitReached:
        return None


def _global_bound(
    task: Task,
    x: Array,
    value: float,
    attained: float,
    atol: float,
    witness: object,
) -> tuple[float, list[str]]:
    """A bound on a nonconvex F, from a proof or by a search of its own; and what to say of it."""
    qp, tol = cast("BoxLineQP", task.structure), task.tol
    size = max(qp.gap_unit(value, x), atol / tol)
    if isinstance(witness, Proof):
        try:
            bound = within(_left(task), proved_bound, qp, witness)
        except TimeLimitReached:
            return -np.inf, ["The proof was not checked again in time, so no bound is claimed."]
        boxes, better = witness.boxes, value
    else:
        reason = obstacle(qp)
        if reason is not None:
            raise IncompatibleSolver(f"{task.formulation} cannot be bracketed: {reason}.")
        search = GlobalSearch(task, tol, start=x, atol=atol)
        search.run()
        ends = search.ends
        bound, better = ends.original(ends.lower), ends.original(ends.value)
        boxes = search.nodes
    if bound - value > tol * size:
        return bound, [
            "The objective lies beyond the bound, which holds where the constraints hold exactly."
        ]
    left = relative(_gap(value, attained, bound), size)
    if left <= tol:
        parts = "one box" if boxes <= 1 else f"{boxes} boxes"
        return bound, [f"Not convex, but bounds over {parts} meet the objective."]
    notes = [f"The bound leaves a global bracket of {left:.2e}."]
    if better < value - tol * size:
        notes.append(f"A better point exists: its objective is {qp.declared(better):.10g}.")
    return bound, notes


def _lower_bound(task: Task, near: _Point, witness: object) -> float:
    """A lower bound on a convex F; where a proxy kernel is chosen, more is done to close the gap.

    The tangent at a feasible point is enough near the optimum; the solver's own witness and the SVM
    of the proxy kernel may say more elsewhere.
    """
    box, (x, value, gradient) = task.structure, near
    if isinstance(box, BoxLineQP):
        return box.dual_bound(x, gradient)
    proxy = cast("ProxyStructure", box)
    wanted = value - task.tol * proxy.gap_unit(value, x)
    bound = proxy.dual_bound(x, value, gradient)
    if bound < wanted and isinstance(witness, Witness):
        bound = max(bound, proxy.tangent_bound(witness.points, witness.shares))
    if bound < wanted and np.isfinite(value):
        bound = max(bound, KernelBound(task).at(x, value, gradient, 0.1 * (value - wanted)))
    return bound


def _convexity(box: BoxLineQP | ProxyStructure) -> list[str]:
    """Why a gap that is closed proves a global optimum."""
    if not isinstance(box, BoxLineQP):
        return ["Convex for every kernel, and a bound from proxy kernels meets the objective."]
    why = box.problem.why_convex(box.lines)
    reasons = [f"Convex {why}, and the dual bound meets the objective."]
    if np.isinf(box.upper) and box.lines < 2:
        reasons.append("Without upper bounds, eigenvalues within rounding of zero count as zero.")
    return reasons


def _norm_of_the_normal(qp: BoxLineQP, x: Array, curvature: float) -> list[str]:
    """What Haasdonk (2005), sections 7.3 and 7.4, says of a normal that is not of positive norm."""
    weight = float(x.sum())
    if weight == 0.0 or curvature > 0.0:
        return []
    problem = qp.problem
    norm = 4.0 * curvature / (qp.hessian * weight**2)
    words = f"The normal of this separation has squared norm {norm:.3g}: no positive margin"
    if qp.lines > 0 and problem.class_mean_distance < 0.0:
        words += (
            f"; no separation with positive norm exists, as the class means have squared distance "
            f"{problem.class_mean_distance:.3g}"
        )
    return [f"{words} (Haasdonk 2005, section 7)."]


def _doubt(qp: BoxLineQP, convex: bool | None, bounded: bool) -> str:
    """Why first- and second-order conditions do not settle it, as a sentence before a reason."""
    if convex:
        return ""
    known = "Not convex"
    if not qp.problem.curvature_known:
        known = "Convexity was not examined, as the kernel matrix is never formed"
    elif convex is None:
        known = "Convexity was not examined in time"
    return f"{known}. " if bounded else f"{known}; no bound on the global optimum is known. "


def _certify_linear(
    task: Task, values: Values, multipliers: Values | None, given: bool, atol: float
) -> Certificate:
    program, tol = cast("LinearProgram", task.structure), task.tol
    x = program.write(values)
    value, attained = float(program.cost @ x), float(program.cost @ program.repaired(x))
    primal, size = program.infeasibility(x), max(program.gap_unit(value, x), atol / tol)
    bound = _linear_bound(task, multipliers)
    if not multipliers or (given and relative(_gap(value, attained, bound), size) > tol):
        recovered = _recovered(task)
        multipliers = multipliers or recovered
        bound = max(bound, _linear_bound(task, recovered))
    gap = _gap(value, attained, bound)
    relative_gap = relative(gap, size)
    stationarity = paid = np.inf
    if multipliers:
        stationarity, paid = _linear_residuals(program, x, multipliers)
    complementarity = relative(paid, size)
    # Multipliers that came from a solver only make the bound, which holds for any.
    wrong = _inconsistencies(program, multipliers, tol) if given else []
    if given and not wrong and not (stationarity <= tol and complementarity <= tol):
        wrong = [INCONSISTENT]
    claim = claim_of(Facts(primal, not wrong, relative_gap, first_order=False), tol)
    reasons = list(wrong)
    if claim is Claim.NONE:
        reasons.append(f"A constraint is violated by {primal:.2e}.")
    elif claim is Claim.GLOBAL:
        reasons.append("Linear, and the bound from its explicit dual meets the objective.")
    elif not wrong:
        reasons.append(f"The bound from the explicit dual leaves a gap of {relative_gap:.2e}.")
    return Certificate(
        claim=claim,
        objective=program.sense * value,
        primal_residual=primal,
        stationarity=stationarity,
        complementarity=complementarity,
        curvature=0.0,
        bound=program.sense * bound,
        gap=gap,
        relative_gap=relative_gap,
        gap_kind="duality gap",
        tol=tol,
        reasons=tuple(reasons),
        multipliers=multipliers or {},
    )


def _linear_bound(task: Task, multipliers: Values | None) -> float:
    return task.formulation.dual_bound(task.problem, multipliers) if multipliers else -np.inf


def _recovered(task: Task) -> Values:
    """Multipliers of a linear program; none where there is no time for them."""
    try:
        return Highs().solve(task).multipliers
    except SolverFailed:
        return {}


def _certify_explicit(
    program: ExplicitProgram,
    values: Values,
    known: Values | None,
    tol: float,
    given: bool,
    atol: float,
) -> Certificate:
    value, attained = program.value(values), program.value(program.repaired(values))
    primal = program.infeasibility(values)
    recovered = program.multipliers(values) if given or not known else {}
    multipliers = known or recovered
    stationarity = program.residual(values, multipliers)
    paid = program.complementarity(values, multipliers)
    size = max(program.gap_unit(value), atol / tol)
    complementarity = relative(paid, size)
    bound = program.lower_bound(values, multipliers)
    if given:
        bound = max(bound, program.lower_bound(values, recovered))
    gap = _gap(value, attained, bound)
    relative_gap = relative(gap, size)
    kkt = stationarity <= tol and complementarity <= tol
    wrong = _wrong_signs(multipliers, tol) if given else []
    if given and not wrong and not kkt:
        wrong = [INCONSISTENT]
    claim = claim_of(Facts(primal, not wrong, relative_gap, kkt), tol)
    reasons = list(wrong)
    if claim is Claim.NONE:
        reasons.append(f"A constraint is violated by {primal:.2e}.")
    elif claim is Claim.GLOBAL:
        reasons.append(f"{program.why_convex}, and the bound of its dual meets the objective.")
    elif claim is Claim.STATIONARY:
        reasons += ["First-order conditions hold.", *program.explanation(values)]
    elif not wrong:
        failing = "complementarity" if stationarity <= tol else "stationarity"
        reasons.append(f"The first-order conditions fail: {failing}.")
    return Certificate(
        claim=claim,
        objective=program.sense * value,
        primal_residual=primal,
        stationarity=stationarity,
        complementarity=complementarity,
        curvature=np.nan,
        bound=program.sense * bound,
        gap=gap,
        relative_gap=relative_gap,
        gap_kind="duality gap" if program.is_convex else "KKT residual",
        tol=tol,
        reasons=tuple(reasons),
        multipliers=dict(multipliers),
    )


def _inconsistencies(program: LinearProgram, multipliers: Values, tol: float) -> list[str]:
    """What is wrong with multipliers that were given: signs, or reduced costs."""
    rows = program.write_multipliers(multipliers)
    reduced = program.cost - program.matrix.T @ rows
    slack = tol * max(1.0, float(np.max(np.abs(program.cost))))
    implied = program.read_multipliers(rows, reduced)
    return _wrong_signs(multipliers, tol) + [
        f"The multipliers of {name!r} do not agree with those of the other constraints."
        for name, value in multipliers.items()
        if np.max(np.abs(value - implied[name]), initial=0.0) > slack
    ]


def _linear_residuals(program: LinearProgram, x: Array, multipliers: Values) -> tuple[float, float]:
    """Violation of the dual constraints, and multipliers times slacks."""
    rows = program.write_multipliers(multipliers)
    reduced = program.cost - program.matrix.T @ rows
    activity = program.matrix @ x
    violation = complementarity = 0.0
    for multiplier, low, high, at in (
        (rows, program.row_lower, program.row_upper, activity),
        (reduced, program.lower, program.upper, x),
    ):
        for side, end in ((multiplier, low), (-multiplier, high)):
            active = np.maximum(side, 0.0)
            finite = np.isfinite(end)
            violation = max(violation, float(np.max(active[~finite], initial=0.0)))
            complementarity += float(active[finite] @ np.abs(at[finite] - end[finite]))
    return violation / max(1.0, float(np.max(np.abs(program.cost)))), complementarity
