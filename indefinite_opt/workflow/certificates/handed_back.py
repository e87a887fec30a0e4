"""What solvers of other packages hand back, as values and multipliers of a program.

Everything is read by its attributes, and no other package is imported. Multipliers become those of
the minimisation form L = F + Σ λᵀ(lhs - rhs), nonnegative for inequalities and bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from indefinite_opt.errors import ProblemError
from indefinite_opt.formulations import (
    EpsilonSVR,
    NuSVM,
    NuSVR,
    OneClassSVM,
    SVMDual,
    as_formulation,
)
from indefinite_opt.foundation import Array
from indefinite_opt.modeling import Pair, pair_points
from indefinite_opt.problem import KernelProblem
from indefinite_opt.quadratic import QuadraticProgram, StandardForm, answers
from indefinite_opt.workflow.arguments import from_cvxpy

INFINITE = 1e20
"""Bounds and sides from this size on are infinite for HiGHS and Gurobi."""


class HandedBack(NamedTuple):
    """A program with values and multipliers, as `verify` takes them."""

    problem: Any
    formulation: Any = None
    values: Any = None
    multipliers: Mapping[str, Array] | None = None
    judged: bool = True
    """Whether the claim is about the multipliers, too: values of cvxpy's variables may be newer
    than its dual values."""
    signs: str = ""
    """Which signs of multipliers the source has, as a sentence."""
    pairs: Mapping[Pair, Any] | None = None
    """The values of each pair of more than two classes."""
    idle: Sequence[tuple[str, float, float]] = ()
    """Inequalities that the program does not need: their names, multipliers and slacks."""


def handed_back(problem: Any, formulation: Any, values: Any, multipliers: Any) -> HandedBack:
    """The arguments of `verify`, with arrays instead of a solver's result.

    >>> from types import SimpleNamespace
    >>> problem = SimpleNamespace(P=[[2.0]], q=[2.0], lb=[0.0])
    >>> solution = SimpleNamespace(
    ...     problem=problem, x=np.zeros(1), y=None, z=None, z_box=np.array([-2.0]), found=True
    ... )
    >>> {name: one.tolist() for name, one in handed_back(solution, *[None] * 3).multipliers.items()}
    {'lower': [2.0]}
    """
    found: Any
    given = HandedBack(problem, formulation, values, multipliers)
    alone = formulation is None and values is None
    for fits, read in _SOLVED:
        if fits(problem):
            found = read(problem) if alone else given._replace(problem=from_cvxpy(problem))
            return found if multipliers is None else found._replace(multipliers=multipliers)
    if isinstance(problem, QuadraticProgram) and values is None and _is_result(formulation):
        found = _of_scipy(problem, formulation)
        return found if multipliers is None else found._replace(multipliers=multipliers)
    if isinstance(problem, QuadraticProgram) and values is None and _is_by_name(formulation):
        return given._replace(formulation=None, values={"x": _of_names(problem, formulation)})
    if isinstance(problem, KernelProblem) and _is_machine(values):
        found = _of_machine(problem, as_formulation(formulation), values)
        if len(found) > 1:
            return given._replace(pairs=found)
        return given._replace(values=next(iter(found.values())))
    return given


def _is_by_name(given: Any) -> bool:
    """Whether it is a mapping from names to numbers."""
    numbers = (int, float, np.number)
    return (
        isinstance(given, Mapping)
        and bool(given)
        and all(isinstance(value, numbers) for value in given.values())
    )


def _of_names(program: QuadraticProgram, given: Mapping[str, Any]) -> Array:
    """The point with these values of the variables, by their names."""
    names = [program.names.variable(j) for j in range(program.n)]
    missing = [name for name in names if name not in given]
    unknown = [name for name in given if name not in names]
    if missing or unknown:
        words = f"none for {missing[0]}" if missing else f"one for {unknown[0]}"
        raise ProblemError("values", f"a number for each of {program.n} variables by name", words)
    return np.array([given[name] for name in names], dtype=float)


def _point(argument: str, x: Any, why: str) -> Array:
    """The numbers of a point; `ProblemError` if there are none."""
    if x is None or np.size(x) == 0:
        raise ProblemError(
            argument, "a solver's answer with a point", f"one without a point: {why}"
        )
    return np.asarray(x, dtype=float)


def _numbers(argument: str, given: Any, size: int) -> Array:
    """As many numbers as there are rows or bounds."""
    found = np.ravel(given).astype(float)
    if found.size != size:
        raise ProblemError(argument, f"{size} multipliers", f"{found.size}")
    return found


def _of_program(
    program: QuadraticProgram, x: Array, multipliers: dict[str, Array] | None, signs: str
) -> HandedBack:
    """Values and multipliers of a program, of which only those that it has are kept.

    What has no bound has no multiplier; the reduced gradient shows what is missing.
    """
    if multipliers is not None:
        shapes = answers.multiplier_shapes(program.compiled())
        multipliers = {name: multipliers[name] for name in shapes if name in multipliers}
        if set(multipliers) != set(shapes):
            multipliers = None
    return HandedBack(program, None, {"x": x}, multipliers, signs=signs)


def _of_bounds(slopes: Array, lower: Array, upper: Array) -> dict[str, Array]:
    """Multipliers of bounds from reduced gradients, which are positive at lower bounds.

    A variable with one bound has its multiplier there, whatever its sign is.
    """
    below, above = np.isfinite(lower), np.isfinite(upper)
    return {
        "lower": np.where(below & above, np.maximum(slopes, 0.0), np.where(below, slopes, 0.0)),
        "upper": np.where(below & above, np.maximum(-slopes, 0.0), np.where(above, -slopes, 0.0)),
    }


# ------------------------------------------------------------------------------------------ cvxpy


def _is_cvxpy(given: Any) -> bool:
    return type(given).__module__.partition(".")[0] == "cvxpy"


def _of_cvxpy(problem: Any) -> HandedBack:
    """The values of the variables, and the dual values of the constraints if all have some."""
    program = from_cvxpy(problem)
    try:
        values = program.cvxpy_origin.point()
    except ProblemError as error:
        status = "" if problem.status is None else f"Its status is {problem.status!r}. "
        error.hint = f"{status}Solve it, or give values to its variables."
        raise
    origin = program.cvxpy_origin
    duals, idle = origin.multipliers(program.compiled(), values), origin.idle_duals(values)
    signs = "Dual values of cvxpy are of the minimisation form, even for a maximisation."
    return HandedBack(program, None, values, duals, False, signs, idle=idle)


# -------------------------------------------------------------------------------------- qpsolvers


def _is_qpsolvers(given: Any) -> bool:
    return all(hasattr(given, name) for name in ("problem", "x", "y", "z", "z_box"))


def _of_qpsolvers(solution: Any) -> HandedBack:
    """A `qpsolvers.Solution`: z ≥ 0, and z_box is negative at lower bounds."""
    program = QuadraticProgram.from_qpsolvers(solution.problem)
    x = _point("solution", solution.x, "the solver has found no solution")
    sides = getattr(solution.problem, "h", None)
    h = np.zeros(0) if sides is None else np.ravel(sides)
    found = {"inequalities": (solution.z, h.size), "equalities": (solution.y, program.b.size)}
    multipliers: dict[str, Array] | None = {}
    for name, (given, size) in found.items():
        if size and (given is None or np.size(given) == 0):
            multipliers = None
        elif multipliers is not None:
            multipliers[name] = _numbers(name, given, size) if size else np.zeros(0)
    bounded = np.isfinite(program.lb).any() or np.isfinite(program.ub).any()
    if bounded and (solution.z_box is None or np.size(solution.z_box) == 0):
        multipliers = None
    if multipliers is not None:
        multipliers["inequalities"] = multipliers["inequalities"][np.abs(h) < INFINITE]
        slopes = -_numbers("z_box", solution.z_box, program.n) if bounded else np.zeros(program.n)
        multipliers |= _of_bounds(slopes, program.lb, program.ub)
    signs = "Those of qpsolvers are z >= 0, with z_box negative at lower bounds."
    return _of_program(program, x, multipliers, signs)


# ------------------------------------------------------------------------------------------ scipy


def _is_result(given: Any) -> bool:
    """Whether it is an `OptimizeResult`, which is a mapping with attributes."""
    return isinstance(given, Mapping) and {"x", "success", "message"} <= set(given)


def _of_scipy(program: QuadraticProgram, result: Any) -> HandedBack:
    """What `minimize` or `linprog` returns; marginals of the latter are df/d(right-hand side)."""
    x = _point("result", result["x"], str(result["message"]))
    sides = [result.get(name) for name in ("ineqlin", "eqlin", "lower", "upper")]
    marginals = [None if one is None else one["marginals"] for one in sides]
    multipliers = None
    if all(one is not None for one in marginals):
        rows, equations, lower, upper = (np.asarray(one, dtype=float) for one in marginals)
        if rows.size > program.h.size:  # rows whose sides are infinite by custom are left out
            rows = rows[np.abs(result["ineqlin"]["residual"]) < 0.5 * INFINITE]
        multipliers = {
            "inequalities": 0.0 - rows, "equalities": 0.0 - equations, "lower": lower + 0.0,
            "upper": 0.0 - upper,
        }  # fmt: skip
    signs = "Marginals of linprog are at most 0 for rows and upper bounds."
    return _of_program(program, x, multipliers, signs)


# ------------------------------------------------------------------------------ HiGHS and Gurobi


def _of_rows(
    form: StandardForm, x: Array, duals: tuple[Array, Array] | None, signs: str
) -> HandedBack:
    """A point of a form; its duals are df/d(right-hand side) and reduced costs, as declared."""
    program, multipliers = QuadraticProgram.from_arrays(form.arrays()), None
    if duals is not None:
        pull, slopes = (form.sense * np.asarray(one, dtype=float) for one in duals)
        low, high, equal = form.row_lower, form.row_upper, form.equal
        above, below = ~equal & (high < np.inf), ~equal & (low > -np.inf)
        sided = _of_bounds(pull, low, high)
        multipliers = {
            "inequalities": np.concatenate([sided["upper"][above], sided["lower"][below]]),
            "equalities": 0.0 - pull[equal],
            **_of_bounds(slopes, form.lower, form.upper),
        }
    return _of_program(program, x, multipliers, signs)


def _without_customary(ends: Any) -> Array:
    ends = np.array(ends, dtype=float)
    return np.where(np.abs(ends) >= INFINITE, np.copysign(np.inf, ends), ends)


def _different(names: Any) -> tuple[str, ...]:
    """The names, if there is one for each and none twice."""
    given = tuple(names)
    return given if all(given) and len(set(given)) == len(given) else ()


def _is_highs(given: Any) -> bool:
    return all(hasattr(given, name) for name in ("getModel", "getSolution", "getModelStatus"))


def _of_highs(highs: Any) -> HandedBack:
    """The model and the solution of a `highspy.Highs` after its `run()`."""
    from scipy import sparse

    model, solution = highs.getModel(), highs.getSolution()
    lp, hessian = model.lp_, model.hessian_
    kinds = {str(kind).rpartition(".")[2] for kind in lp.integrality_}
    _refuse("HiGHS", kinds - {"kContinuous"}, "variables that are integer or semicontinuous")
    status = str(highs.getModelStatus()).rpartition(".")[2]
    x = _point("highs", solution.col_value if solution.value_valid else None, status)
    shape, part = (lp.num_row_, lp.num_col_), lp.a_matrix_
    kind = sparse.csc_array if "Colwise" in str(part.format_) else sparse.csr_array
    A = kind((np.array(part.value_), np.array(part.index_), np.array(part.start_)), shape=shape)
    sense = -1 if "Max" in str(lp.sense_) else 1
    P = sparse.csc_array((lp.num_col_, lp.num_col_))
    if hessian.dim_:
        entries = np.array(hessian.value_), np.array(hessian.index_), np.array(hessian.start_)
        P = sparse.csc_array(entries, shape=P.shape)
        if "Triangular" in str(hessian.format_):
            P = P + sparse.tril(P, -1).T
    form = StandardForm(
        sense, sense * np.array(lp.col_cost_, dtype=float),
        _without_customary(lp.col_lower_), _without_customary(lp.col_upper_),
        _without_customary(lp.row_lower_), _without_customary(lp.row_upper_),
        A.tocsr(), sparse.csr_array(sense * P), sense * lp.offset_, lp.model_name_,
        _different(lp.col_names_), _different(lp.row_names_),
    )  # fmt: skip
    duals = (solution.row_dual, solution.col_dual) if solution.dual_valid else None
    return _of_rows(form, x, duals, _SIDES.format("HiGHS"))


_SIDES = (
    "Duals of {} are df/d(right-hand side): at most 0 for <= where it minimises, at least 0 where "
    "it maximises."
)


def _is_gurobi(given: Any) -> bool:
    return all(hasattr(given, name) for name in ("getVars", "getConstrs", "getA", "ModelSense"))


def _of_gurobi(model: Any) -> HandedBack:
    """A `gurobipy.Model` after its `optimize()`."""
    from scipy import sparse

    counts = {
        "IsMIP": "integer variables or SOS constraints", "NumQConstrs": "quadratic rows",
        "NumGenConstrs": "general constraints", "NumSOS": "SOS constraints",
        "NumPWLObjVars": "piecewise linear objectives",
    }  # fmt: skip
    for name, words in counts.items():
        _refuse("Gurobi", getattr(model, name, 0), words)
    _refuse("Gurobi", getattr(model, "NumObj", 1) > 1, "several objectives")
    variables, rows = model.getVars(), model.getConstrs()
    status = f"its Status is {getattr(model, 'Status', 'unknown')}"
    x = _point("model", model.X if getattr(model, "SolCount", 1) else None, status)

    def read(name: str, of: Any) -> Array:
        return np.array(model.getAttr(name, of), dtype=float)

    n, sense = len(variables), int(model.ModelSense)
    Q = model.getQ() if getattr(model, "IsQP", 0) else sparse.csr_array((n, n))
    right, sides = read("RHS", rows), np.array(model.getAttr("Sense", rows), dtype=str)
    form = StandardForm(
        sense, sense * read("Obj", variables), _without_customary(read("LB", variables)),
        _without_customary(read("UB", variables)), np.where(sides == "<", -np.inf, right),
        np.where(sides == ">", np.inf, right), sparse.csr_array(model.getA()),
        sparse.csr_array(sense * (Q + Q.T)), sense * float(model.ObjCon),
        getattr(model, "ModelName", ""), _different(model.getAttr("VarName", variables)),
        _different(model.getAttr("ConstrName", rows)),
    )  # fmt: skip
    try:
        duals = np.array(model.Pi, dtype=float), np.array(model.RC, dtype=float)
    except Exception:  # gurobipy has an error of its own where there are none
        return _of_rows(form, x, None, "")
    return _of_rows(form, x, duals, _SIDES.format("Gurobi"))


def _refuse(solver: str, found: Any, words: str) -> None:
    if found:
        raise ProblemError(
            "problem", "linear rows, a quadratic objective and variables of real numbers",
            f"a model of {solver} with {words}",
            "Multipliers cannot prove its optimum. Verify it with these fixed or left out.",
        )  # fmt: skip


_SOLVED: tuple[tuple[Callable[[Any], bool], Callable[[Any], HandedBack]], ...] = (
    (_is_cvxpy, _of_cvxpy),
    (_is_qpsolvers, _of_qpsolvers),
    (_is_highs, _of_highs),
    (_is_gurobi, _of_gurobi),
)
"""Objects that `verify` takes alone: how each kind is recognised, and how it is read."""


# ------------------------------------------------------------------------ support vector machines


def _is_machine(given: Any) -> bool:
    """Whether it is a fitted machine of scikit-learn or a `svm_model` of LIBSVM."""
    return hasattr(given, "dual_coef_") or hasattr(given, "get_sv_coef")


class _Coefficients(NamedTuple):
    """Signed weights of support vectors: y∘α, or β of a regression."""

    coef: Array
    """(k - 1, m) of k classes, positive for the first class of a pair."""
    support: Array
    classes: list[Any]
    """In the order of LIBSVM; empty without classes."""


def _of_scikit_learn(machine: Any) -> _Coefficients:
    coef = machine.dual_coef_
    coef = np.atleast_2d(coef.toarray() if hasattr(coef, "toarray") else coef)
    classes = list(getattr(machine, "classes_", ()))
    # With two classes scikit-learn turns LIBSVM's signs.
    return _Coefficients(-coef if len(classes) == 2 else coef, machine.support_, classes)


def _of_libsvm(model: Any) -> _Coefficients:
    coef = np.array(model.get_sv_coef(), dtype=float).T
    support = np.array(model.get_sv_indices(), dtype=int) - 1
    classes = [] if model.get_svm_type() in (2, 3, 4) else list(model.get_labels())
    return _Coefficients(coef, support, classes)


def _of_machine(problem: KernelProblem, formulation: Any, machine: Any) -> dict[Any, Array]:
    """The values of a machine that was fitted to all points of the problem, in their order.

    They are those of each pair of classes; without classes there is one entry.
    """
    read = _of_scikit_learn if hasattr(machine, "dual_coef_") else _of_libsvm
    coef, support, classes = read(machine)
    if support.size and support.max() >= problem.n:
        raise ProblemError(
            "values", f"a machine fitted to the {problem.n} points of the problem",
            f"one with the support vector {support.max()}",
        )  # fmt: skip
    signed = np.zeros((len(coef), problem.n))
    signed[:, support] = coef
    if not classes:
        return {None: _scaled(formulation, signed[0])}
    known = problem.classes.tolist()
    if sorted(classes) != sorted(known):
        raise ProblemError("values", f"a machine of the classes {known}", f"{classes}")
    found, labels = {}, np.asarray(problem.labels)
    for pair, points in pair_points(problem).items():
        first, second = sorted(map(classes.index, pair))
        here = labels[points] == classes[first]
        weights = np.where(here, signed[second - 1, points], -signed[first, points])
        found[pair] = _scaled(formulation, weights)
    return found


def _scaled(formulation: Any, weights: Array) -> Array:
    """The weights in the unit of the formulation: LIBSVM's have others where they have a sum."""
    total = None
    if isinstance(formulation, NuSVM):
        total = float(formulation.nu)
    elif isinstance(formulation, OneClassSVM):
        total = 1.0
    elif not isinstance(formulation, SVMDual | EpsilonSVR | NuSVR):
        raise ProblemError(
            "formulation", "SVMDual, NuSVM, EpsilonSVR, NuSVR or OneClassSVM, which LIBSVM solves",
            f"{formulation}",
        )  # fmt: skip
    size = float(weights.sum())
    return weights if total is None or size <= 0.0 else weights * (total / size)
