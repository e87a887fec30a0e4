"""What a point proves: residuals, curvature, duality gap, and the claim they support.

Nothing here trusts the solver a point came from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from indefinite_opt.blas import few_threads
from indefinite_opt.box_line import BoxLine
from indefinite_opt.errors import IncompatibleSolver, ProblemError
from indefinite_opt.explicit import ExplicitProgram
from indefinite_opt.formulation import Formulation, check_positive, check_switch, check_tolerance
from indefinite_opt.formulations import as_formulation
from indefinite_opt.global_search import GlobalSearch, obstacle, proved_bound
from indefinite_opt.problem import KernelProblem
from indefinite_opt.proof import Proof
from indefinite_opt.proxy import ProxyStructure
from indefinite_opt.proxy_search import KernelBound
from indefinite_opt.solution import Claim, Witness
from indefinite_opt.solver import Task
from indefinite_opt.solvers.highs import Highs
from indefinite_opt.spectrum import norm_bound, zero_tolerance
from indefinite_opt.structure import BoxLineQP, LinearProgram

__all__ = ["Certificate", "certify", "verify"]

Array = NDArray[np.float64]
Values = dict[str, Array]

EQUALITIES = ("balance", "total")
"""Names of equality constraints, whose multipliers have no sign."""


@dataclass(frozen=True, eq=False)
class Certificate:
    """An honest statement about a point; `print` it.

    Attributes
    ----------
    claim : Claim
        The strongest statement that was proved, to the tolerance `tol`.
    objective : float
        In the declared sense.
    primal_residual : float
        Largest constraint violation, relative to the sizes in the constraint.
    stationarity : float
        Violation of the first-order conditions, in the natural unit of the gradient.
    complementarity : float
        Multipliers times slacks, relative to the objective.
    curvature : float
        Smallest eigenvalue of the Hessian on the tangent space of the free and weakly active
        variables; inf where that space is {0}, nan where it was not needed, 0 for linear programs.
    bound : float
        Rigorous bound on the optimal value in the declared sense; infinite if there is none.
    gap, relative_gap : float
        |objective - bound|, and that divided by max(1, |objective|), the objective without a
        constant such as `ProxyDual.constant`; inf without a bound.
    gap_kind : str
        "duality gap" for convex programs, "global bracket" for others where branch and bound has
        proved a bound. "KKT residual" where no bound is known: then `stationarity` is the only
        number there is, and it is no gap.
    tol : float
        The tolerance of the claim.
    reasons : tuple of str
        Why the claim is what it is.
    multipliers : dict of str to array
        Those that were checked: given, or recovered.
    """

    claim: Claim
    objective: float
    primal_residual: float
    stationarity: float
    complementarity: float
    curvature: float
    bound: float
    gap: float
    relative_gap: float
    gap_kind: str
    tol: float
    reasons: tuple[str, ...]
    multipliers: Values = field(repr=False)

    @property
    def measure(self) -> float:
        """The number that `gap_kind` names."""
        return self.stationarity if self.gap_kind == "KKT residual" else self.relative_gap

    def __str__(self) -> str:
        meaning = {
            Claim.NONE: "nothing is proved",
            Claim.FEASIBLE: "the point is feasible, nothing more",
            Claim.STATIONARY: "the point is stationary",
            Claim.LOCAL: "the point is a local optimum",
            Claim.GLOBAL: "the point is a global optimum",
        }
        lines = [f"{self.claim.name}: {meaning[self.claim]} (tol {self.tol:g})"]
        lines += [f"  {reason}" for reason in self.reasons]
        lines.append(f"  objective        {self.objective:.10g}")
        if np.isfinite(self.bound):
            lines.append(f"  bound            {self.bound:.10g}")
            lines.append(f"  {self.gap_kind:<16} {self.gap:.2e} (relative {self.relative_gap:.2e})")
        lines.append(f"  constraints      {self.primal_residual:.2e}")
        lines.append(f"  stationarity     {self.stationarity:.2e}")
        lines.append(f"  complementarity  {self.complementarity:.2e}")
        if not np.isnan(self.curvature):
            lines.append(f"  curvature        {self.curvature:.2e}")
        return "\n".join(lines)


def verify(
    problem: KernelProblem,
    formulation: Formulation | str,
    values: Mapping[str, ArrayLike],
    multipliers: Mapping[str, ArrayLike] | None = None,
    tol: float = 1e-6,
    bound: bool = False,
    time_limit: float | None = 60.0,
) -> Certificate:
    """Check anybody's numbers.

    Parameters
    ----------
    problem : KernelProblem
    formulation : Formulation or str
    values : mapping of str to array_like
        One entry a declared variable.
    multipliers : mapping of str to array_like, optional
        One entry a declared constraint, of the minimisation form: L = F + Σ λᵀ(lhs - rhs) with
        nonnegative λ for inequalities. Recovered when not given. Given ones are held to their
        word: a wrong sign or a wrong value costs the claim.
    tol : float
        Relative tolerance of every test.
    bound : bool
        Bracket the global optimum of a nonconvex quadratic program, too; see `bounds.bound`.
        Without effect on the others, whose bound is always computed.
    time_limit : float, optional
        Seconds for that bracket.

    Returns
    -------
    Certificate

    Raises
    ------
    ProblemError
        For a missing or unknown name, a wrong shape, NaN or infinite numbers.
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
    check_tolerance(tol)
    check_switch("bound", bound)
    if time_limit is not None:
        check_positive("time_limit", time_limit, infinite=True)
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
    checked = _checked("values", values, shapes)
    given = None if multipliers is None else _checked("multipliers", multipliers, names)
    search = (np.inf if time_limit is None else time_limit) if bound else 0.0
    return certify(problem, formulation, checked, given, tol, held=given is not None, search=search)


def certify(
    problem: KernelProblem,
    formulation: Formulation,
    values: Values,
    multipliers: Values | None,
    tol: float,
    held: bool = False,
    witness: Witness | Proof | None = None,
    search: float = 0.0,
) -> Certificate:
    """`verify` for numbers of the right names and shapes; `held`: to the multipliers, too.

    A `witness` of a bound is not believed: the bound is computed from it again. `search` is how
    many seconds may be spent on a bracket where there is none.
    """
    structure = formulation.structure(problem)
    if isinstance(structure, BoxLine):
        task = Task(problem, formulation, structure, tol=tol, time_limit=search)
        return _certify_box(task, values[structure.variable], multipliers, witness)
    if isinstance(structure, ExplicitProgram):
        return _certify_explicit(structure, values, multipliers, tol, held)
    if not multipliers:
        task = Task(problem, formulation, structure, tol=tol)
        multipliers = Highs().solve(task).multipliers
    bound = formulation.dual_bound(problem, multipliers)
    return _certify_lp(structure, structure.write(values), multipliers, bound, tol, held)


def _checked(
    argument: str, given: Mapping[str, ArrayLike], shapes: Mapping[str, tuple[int, ...]]
) -> Values:
    wanted = ", ".join(f"{name} of shape {shape}" for name, shape in shapes.items())
    if set(given) != set(shapes):
        raise ProblemError(argument, wanted, f"the names {', '.join(sorted(given)) or 'none'}")
    checked = {}
    for name, shape in shapes.items():
        try:
            array = np.asarray(given[name], dtype=float)
        except (TypeError, ValueError) as error:
            raise ProblemError(f"{argument}[{name!r}]", "real numbers", str(error)) from None
        if array.shape != shape:
            raise ProblemError(f"{argument}[{name!r}]", f"shape {shape}", f"shape {array.shape}")
        if not np.all(np.isfinite(array)):
            raise ProblemError(f"{argument}[{name!r}]", "finite numbers", "NaN or infinite ones")
        checked[name] = array
    return checked


def _wrong_signs(multipliers: Values, slack: float) -> list[str]:
    """One sentence for each inequality whose multipliers are negative beyond the slack."""
    return [
        f"The multipliers of {name!r} must be nonnegative; the least is {np.min(value):.3g}."
        for name, value in multipliers.items()
        if name not in EQUALITIES and np.min(value, initial=0.0) < -slack
    ]


def _certify_box(
    task: Task, x: Array, given: Values | None, witness: Witness | Proof | None
) -> Certificate:
    box, tol = cast("BoxLineQP | ProxyStructure", task.structure), task.tol
    value, gradient = box.value_gradient(x)
    unit = box.gradient_unit(gradient)
    size = max(box.objective_unit, abs(value))
    primal = box.infeasibility(x)

    first_order = box.first_order(x, gradient, tol)
    multipliers = given or box.multipliers(first_order)
    reduced, stationarity = first_order.reduced, first_order.residual / unit
    reasons: list[str] = []
    if given is not None:
        reasons += _wrong_signs(given, tol * unit)
        lines = np.array([given[name] for name in box.line_names])
        upper = given.get("upper", np.zeros(box.n))
        reduced = gradient + box.A.T @ lines
        stationarity = float(np.max(np.abs(reduced - given["lower"] + upper))) / unit
    complementarity = box.complementarity(x, multipliers["lower"], multipliers.get("upper")) / size

    bound, gap, gap_kind = -np.inf, np.inf, "KKT residual"
    notes: list[str] = []
    if box.is_convex:
        witness = witness if isinstance(witness, Witness) else None
        bound = float(_lower_bound(task, x, value, gradient, value - tol * size, witness))
        gap, gap_kind = abs(value - bound), "duality gap"
    elif isinstance(box, BoxLineQP):
        bound, notes = _global_bound(task, x, value, witness)
        if np.isfinite(bound):
            gap, gap_kind = abs(value - bound), "global bracket"
    kkt = not reasons and stationarity <= tol and complementarity <= tol
    if given is not None and not reasons and not kkt:
        reasons.append("The multipliers given do not satisfy the first-order conditions.")
    curvature = np.nan
    claim = Claim.NONE
    if primal > tol:
        reasons.append(f"A constraint is violated by {primal:.2e}.")
    elif reasons:
        claim = Claim.FEASIBLE
    elif np.isfinite(gap) and gap <= tol * size:
        claim = Claim.GLOBAL
        reasons += _convexity(box) if box.is_convex else notes
    elif not kkt:
        claim = Claim.FEASIBLE
        failing = "complementarity" if stationarity <= tol else "stationarity"
        reasons.append(f"The first-order conditions fail: {failing}.")
        if box.is_convex and np.isfinite(bound):
            reasons.append(f"The bound leaves a duality gap of {gap / size:.2e}.")
        reasons += notes
    else:
        claim, reason = Claim.STATIONARY, "First-order conditions hold."
        if isinstance(box, BoxLineQP):
            doubt = _doubt(box, np.isfinite(bound))
            claim, curvature, reason = _second_order(box, x, reduced, tol * unit, tol, doubt)
        reasons += [reason, *notes]
        if box.is_convex:
            reasons.append(f"Convex, but the duality gap is still {gap / size:.2e}.")
    if claim >= Claim.STATIONARY and isinstance(box, BoxLineQP):
        reasons += _norm_of_the_normal(box, x, float(x @ (gradient - box.linear)))
    return Certificate(
        claim=claim,
        objective=box.declared(value),
        primal_residual=primal,
        stationarity=stationarity,
        complementarity=complementarity,
        curvature=curvature,
        bound=box.declared(bound),
        gap=gap,
        relative_gap=gap / size,
        gap_kind=gap_kind,
        tol=tol,
        reasons=tuple(reasons),
        multipliers=multipliers,
    )


def _global_bound(
    task: Task, x: Array, value: float, witness: Witness | Proof | None
) -> tuple[float, list[str]]:
    """A bound on a nonconvex F, from a proof or by a search of its own; and what to say of it."""
    qp = cast("BoxLineQP", task.structure)
    size = max(qp.objective_unit, abs(value))
    if isinstance(witness, Proof):
        bound, boxes, better = proved_bound(qp, witness), witness.boxes, value
    elif task.time_limit > 0.0:
        reason = obstacle(qp)
        if reason is not None:
            raise IncompatibleSolver(f"{task.formulation} cannot be bracketed: {reason}.")
        search = GlobalSearch(task, task.tol, start=x)
        search.run()
        bound, better = search.original(search.lower), search.original(search.value)
        boxes = search.nodes
    else:
        return -np.inf, []
    if bound - value > task.tol * size:
        return bound, [
            "The objective lies beyond the bound, which holds where the constraints hold exactly."
        ]
    if value - bound <= task.tol * size:
        parts = "one box" if boxes <= 1 else f"{boxes} boxes"
        return bound, [f"Not convex, but bounds over {parts} meet the objective."]
    notes = [f"The bound leaves a global bracket of {(value - bound) / size:.2e}."]
    if better < value - task.tol * size:
        notes.append(f"A better point exists: its objective is {qp.declared(better):.10g}.")
    return bound, notes


def _lower_bound(
    task: Task, x: Array, value: float, gradient: Array, wanted: float, witness: Witness | None
) -> float:
    """A lower bound on a convex F; where a proxy kernel is chosen, more is done to reach `wanted`.

    The tangent at x is enough near the optimum; the solver's own witness and the SVM of the proxy
    kernel may say more elsewhere.
    """
    box = task.structure
    if isinstance(box, BoxLineQP):
        return box.dual_bound(x, gradient)
    proxy = cast("ProxyStructure", box)
    bound = proxy.dual_bound(x, value, gradient)
    if bound < wanted and witness is not None:
        bound = max(bound, proxy.tangent_bound(witness.points, witness.shares))
    if bound < wanted and np.isfinite(value):
        bound = max(bound, KernelBound(task).at(x, value, gradient, 0.1 * (value - wanted)))
    return bound


def _convexity(box: BoxLineQP | ProxyStructure) -> list[str]:
    """Why a gap that is closed proves a global optimum."""
    if not isinstance(box, BoxLineQP):
        return ["Convex for every kernel, and a bound from proxy kernels meets the objective."]
    reasons = ["Convex by its eigenvalues, and the dual bound meets the objective."]
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


def _second_order(
    qp: BoxLineQP, x: Array, reduced: Array, slack: float, tol: float, prefix: str
) -> tuple[Claim, float, str]:
    """Curvature on the tangent space of the free and weakly active variables.

    With zero multipliers the critical cone is no subspace; the subspace that contains it is
    examined, so that a positive answer is sufficient and a negative one decides nothing.
    """
    lower, upper = qp.at_bounds(x, tol)
    weak = (lower | upper) & (np.abs(reduced) <= slack)
    kept = np.flatnonzero(~(lower | upper) | weak)
    curvature, rounding = _least_curvature(qp, kept)
    where = "the free variables"
    if weak.any():
        where += f" and {int(weak.sum())} at bounds with zero multiplier"
    if np.isinf(curvature):
        reason = f"{prefix}First-order conditions hold and leave no direction to move in."
        return Claim.LOCAL, curvature, reason
    if curvature > rounding:
        reason = f"{prefix}First-order conditions hold, curvature is positive on {where}."
        return Claim.LOCAL, curvature, reason
    if curvature >= -rounding:
        reason = (
            f"{prefix}First-order conditions hold, curvature is nonnegative on {where}, "
            "flat to rounding along some directions."
        )
        return Claim.LOCAL, curvature, reason
    if weak.any():
        free = np.flatnonzero(~(lower | upper))
        least, _ = _least_curvature(qp, free)
        if least >= -rounding:
            return (
                Claim.STATIONARY,
                curvature,
                f"{prefix}First-order conditions hold, curvature is negative on {where}: it "
                "decides nothing, as directions at a bound count on one side only.",
            )
        curvature, where = least, "the free variables"
    return (
        Claim.STATIONARY,
        curvature,
        f"{prefix}First-order conditions hold, curvature is negative on {where}: the point is no "
        "local optimum, and can be improved.",
    )


def _doubt(qp: BoxLineQP, bounded: bool) -> str:
    """Why first- and second-order conditions do not settle it, as the beginning of a reason."""
    if qp.is_convex:
        return ""
    if not qp.problem.curvature_known:
        return (
            "Convexity was not examined, as the kernel matrix is never formed; no bound on the "
            "global optimum is known. "
        )
    return "Not convex. " if bounded else "Not convex; no bound on the global optimum is known. "


def _least_curvature(qp: BoxLineQP, kept: NDArray[np.intp]) -> tuple[float, float]:
    """Least eigenvalue of the Hessian on {d: Ad = 0, d = 0 outside `kept`}, and its rounding."""
    import scipy.linalg

    normals = np.empty((kept.size, 0))
    if qp.lines and kept.size:
        left, sizes, _ = np.linalg.svd(qp.A[:, kept].T, full_matrices=False)
        normals = left[:, sizes > 1e-12 * sizes[0]]
    if kept.size <= normals.shape[1]:
        return np.inf, 0.0
    y = qp.problem.y[kept]
    block = qp.hessian * qp.problem.gram.block(kept, kept) * np.outer(y, y)
    norm = norm_bound(block)
    if norm == 0.0:
        return 0.0, 0.0
    if normals.shape[1]:
        # The normals are made as positive as the rest of the block can be, so they never win.
        crossed = block @ normals
        inner = normals.T @ crossed + 2.0 * norm * np.eye(normals.shape[1])
        half = crossed - 0.5 * normals @ inner
        block -= half @ normals.T
        block -= normals @ half.T
    with few_threads(kept.size):
        least = scipy.linalg.eigh(
            block, eigvals_only=True, subset_by_index=[0, 0], check_finite=False
        )
    return float(least[0]), zero_tolerance(kept.size, norm)


def _certify_lp(
    program: LinearProgram, x: Array, multipliers: Values, bound: float, tol: float, held: bool
) -> Certificate:
    value = float(program.cost @ x)
    size = max(program.unit, abs(value))
    primal = program.infeasibility(x)
    stationarity, complementarity = _lp_residuals(program, x, multipliers)
    complementarity /= size
    gap = abs(value - bound)
    # Multipliers that came from a solver only make the bound, which holds for any.
    reasons = _broken_word(program, multipliers, tol) if held else []
    if primal > tol:
        claim = Claim.NONE
        reasons.append(f"A constraint is violated by {primal:.2e}.")
    elif reasons:
        claim = Claim.FEASIBLE
    elif np.isfinite(gap) and gap <= tol * size:
        claim = Claim.GLOBAL
        reasons.append("Linear, and the bound from its explicit dual meets the objective.")
    else:
        claim = Claim.FEASIBLE
        reasons.append(f"The bound from the explicit dual leaves a gap of {gap / size:.2e}.")
    return Certificate(
        claim=claim,
        objective=program.sense * value,
        primal_residual=primal,
        stationarity=stationarity,
        complementarity=complementarity,
        curvature=0.0,
        bound=program.sense * bound,
        gap=gap,
        relative_gap=gap / size,
        gap_kind="duality gap",
        tol=tol,
        reasons=tuple(reasons),
        multipliers=multipliers,
    )


def _certify_explicit(
    program: ExplicitProgram, values: Values, given: Values | None, tol: float, held: bool
) -> Certificate:
    value = program.value(values)
    size = max(program.unit, abs(value))
    primal = program.infeasibility(values)
    multipliers = given or program.multipliers(values)
    stationarity = program.residual(values, multipliers)
    complementarity = program.complementarity(values, multipliers) / size
    bound = program.lower_bound(values, multipliers)
    gap = abs(value - bound)
    kkt = stationarity <= tol and complementarity <= tol
    reasons = _wrong_signs(multipliers, tol) if held else []
    if held and not reasons and not kkt:
        reasons.append("The multipliers given do not satisfy the first-order conditions.")
    if primal > tol:
        claim = Claim.NONE
        reasons.append(f"A constraint is violated by {primal:.2e}.")
    elif reasons:
        claim = Claim.FEASIBLE
    elif program.is_convex and np.isfinite(gap) and gap <= tol * size:
        claim = Claim.GLOBAL
        reasons.append(f"{program.why_convex}, and the bound of its dual meets the objective.")
    elif kkt:
        claim = Claim.STATIONARY
        reasons.append("First-order conditions hold.")
        reasons += program.explanation(values)
    else:
        claim = Claim.FEASIBLE
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
        relative_gap=gap / size,
        gap_kind="duality gap" if program.is_convex else "KKT residual",
        tol=tol,
        reasons=tuple(reasons),
        multipliers=dict(multipliers),
    )


def _broken_word(program: LinearProgram, multipliers: Values, tol: float) -> list[str]:
    """What is wrong with multipliers that somebody vouches for: signs, or reduced costs."""
    rows = program.write_multipliers(multipliers)
    reduced = program.cost - program.matrix.T @ rows
    slack = tol * max(1.0, float(np.max(np.abs(program.cost))))
    implied = program.read_multipliers(rows, reduced)
    return _wrong_signs(multipliers, tol) + [
        f"The multipliers of {name!r} do not agree with those of the other constraints."
        for name, value in multipliers.items()
        if np.max(np.abs(value - implied[name]), initial=0.0) > slack
    ]


def _lp_residuals(program: LinearProgram, x: Array, multipliers: Values) -> tuple[float, float]:
    """Violation of the dual constraints, and multipliers times slacks."""
    rows = program.write_multipliers(multipliers)
    reduced = program.cost - program.matrix.T @ rows
    activity = program.matrix @ x
    violation = complementarity = 0.0
    for multiplier, low, high, at in (
        (rows, program.row_lower, program.row_upper, activity),
        (reduced, program.lower, program.upper, x),
    ):
        for side, end, sign in ((multiplier, low, 1.0), (-multiplier, high, -1.0)):
            active = np.maximum(side, 0.0)
            finite = np.isfinite(end)
            violation = max(violation, float(np.max(active[~finite], initial=0.0)))
            slack = np.abs(sign * (at[finite] - end[finite]))
            complementarity += float(active[finite] @ slack)
    return violation / max(1.0, float(np.max(np.abs(program.cost)))), complementarity
