"""The base class of formulations: what follows from a declared model."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import hashlib
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from indefinite_opt.algebra import (
    Model,
    Program,
    Record,
    affine,
    canonical,
    dual,
    duals_of,
    settled,
)
from indefinite_opt.errors import (
    InfeasibleProblem,
    ParameterError,
    ProblemError,
    shown,
)
from indefinite_opt.foundation import (
    Array,
    Values,
    checks,
    derived_values,
    finite_array,
    frozen,
    is_sparse,
    read_only,
    short,
)
from indefinite_opt.modeling.classifier import Classifier, boundary_width
from indefinite_opt.modeling.compiler import compiled
from indefinite_opt.modeling.compiler.plans import keep_plan, planned
from indefinite_opt.modeling.outputs import as_output, multiple_of, values_of
from indefinite_opt.modeling.partitions import Clusters
from indefinite_opt.problem import KernelProblem
from indefinite_opt.quadratic import (
    SYMMETRIZED,
    CompiledProgram,
    Declaration,
    PairedQP,
    answers,
)


def parameter(default: Any, check: Callable[..., None], **options: Any) -> Any:
    """A field of a formulation, whose value a function of `checks` accepts when it is made."""
    return dataclasses.field(default=default, metadata={"check": partial(check, **options)})


OUTLIERS = read_only(np.array([-1, 1]))
"""What is predicted for outliers and for the points of one class."""

UNLABELLED = "one class", "clusters"
"""Tasks of formulations that need no labels."""

FITTING = {
    "classification": "SVMDual, NuSVM and others",
    "regression": "EpsilonSVR and NuSVR",
    "one class": "OneClassSVM, SVDD and OneClassLP",
}
"""Formulations for each task, for advice."""

OF_ASYMMETRIC = "AsKLS and BilinearSVM"
"""Formulations of asymmetric matrices, for advice."""


class _Compiled(NamedTuple):
    """A model as it was read once, and what was compiled from it."""

    problem: Any
    model: Model
    record: Record
    program: Any
    """None in a formulation that is settled: it is compiled again unless it is still known."""


class _OfProbe:
    """An attribute of classes and objects that a probe of four points answers.

    The kind of a program is asked with a positive definite kernel first, with which a quadratic row
    may be convex; some models are refused with it, others with an indefinite one.
    """

    def __init__(
        self,
        ask: Callable[[CompiledProgram[Any]], Any],
        otherwise: Any,
        kernels: tuple[bool, ...] = (False,),
    ) -> None:
        self.ask, self.otherwise, self.kernels = ask, otherwise, kernels

    def __get__(self, formulation: Formulation | None, owner: type[Formulation]) -> Any:
        for definite in self.kernels:
            for asked in (lambda: formulation, owner):
                # No object, parameters without defaults, or arrays of other sizes; the model of a
                # user may end with any error.
                with contextlib.suppress(Exception):
                    return self.ask(asked().compiled(_probe(owner.task, definite)))  # type: ignore[union-attr]
        return self.otherwise


@functools.cache
def _probe(task: str, definite: bool) -> KernelProblem:
    """Two points of each class, with a positive definite or an indefinite kernel.

    The eigenvalues of the indefinite one are large.
    """
    K = np.array([[8.0, 3.0, -9.0, 1.0], [3.0, -7.0, 4.0, 2.0], [-9.0, 4.0, 5.0, 6.0],
                  [1.0, 2.0, 6.0, -8.0]])  # fmt: skip
    if definite:
        K = K @ K
    if task in UNLABELLED:
        return KernelProblem(K, name="probe")
    return KernelProblem(K, [1, 1, -1, -1], task=task, name="probe")


def _by_theorem(program: CompiledProgram[Any]) -> bool | None:
    """True if the program is linear, or if a theorem or its kernel says that it is convex."""
    if isinstance(program, PairedQP):
        return program.known_convex or None
    always = program.is_convex and answers.why_convex(program) == answers.ALWAYS_CONVEX
    return always or program.is_linear or None


class Formulation(Declaration):
    """An optimization problem of a paper; subclasses are frozen dataclasses of its parameters.

    A subclass defines `model`, and nothing else. What is printed, solved, certified and classified
    with follows from it: the program for direct solvers is compiled from the model, and the
    classifier is made of its `coef` and `offset`. Every solve, bracket and certificate of new
    values calls `model`, so that the values that it reads, such as the value of a
    `cvxpy.Parameter`, are those at the time of the call. Fields that are arrays are copied.

    Attributes
    ----------
    reference : str
        Paper and equation numbers of the problem.
    program_type : type of CompiledProgram
        The kind of compiled program that a solver must accept; `CompiledProgram` itself where it
        is not known without the problem.
    convex : bool or None
        Whether it is convex for every kernel; None where the kernel or a parameter decides.
    takes_asymmetric : bool
        Whether it takes an asymmetric matrix; see `KernelProblem`.
    needs_spectrum : bool
        Whether `model` decomposes the kernel matrix.
    task : str
        What it needs of a problem: two classes for "classification", targets for "regression";
        for "one class" and "clusters" nothing.
    new_points : str
        Treatment of a new point's kernel row; see `Classifier`.
    in_every_title : frozenset of str
        Parameters that titles name even at their defaults, because results for different values are
        not comparable.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> dual = iopt.SVMDual(C=10.0)
    >>> isinstance(dual, Formulation), dual.convex
    (True, None)
    >>> dual.reference
    'Haasdonk (2005), SVM-DU; Lin & Lin (2003), (2), (6), (19)'
    >>> dual.parameters()
    {'C': '10'}
    """

    reference: ClassVar[str] = ""
    task: ClassVar[str] = "classification"
    program_type: ClassVar[Any] = _OfProbe(type, CompiledProgram, (True, False))
    convex: ClassVar[Any] = _OfProbe(_by_theorem, None)
    takes_asymmetric: ClassVar[bool] = False
    needs_spectrum: ClassVar[bool] = False
    new_points = "original"
    in_every_title: ClassVar[frozenset[str]] = frozenset()
    __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]

    _read: _Compiled | None = None
    """What a formulation that is `settled` says."""
    _solved: str = ""
    """The digest of that in place of it, in another process."""

    def __post_init__(self) -> None:
        for field in _fields(self):
            if "check" in field.metadata:
                field.metadata["check"](field.name, getattr(self, field.name))
        self._freeze()

    def _freeze(self) -> None:
        """Copy arrays: what the caller writes to them afterwards changes nothing."""
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if isinstance(value, np.ndarray) or is_sparse(value):
                object.__setattr__(self, field.name, frozen(value))

    def __getstate__(self) -> dict[str, Any]:
        state = self._state()
        read = state.pop("_read", None)
        if read is not None and not _is_of_this_package(self):
            state["_solved"] = read.record.digest
        return state

    def _state(self) -> dict[str, Any]:
        fields = (field.name for field in dataclasses.fields(self))  # which may be in slots
        return self.__dict__ | {name: getattr(self, name) for name in fields}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            object.__setattr__(self, name, value)
        self._freeze()

    def compiled(self, problem: Any) -> Any:
        """The `CompiledProgram` of `model`, whether or not the program has an optimum.

        It is kept with the problem until a model that says something else is compiled for it.
        """
        return self._compiled(problem).program

    def program_order(self, problem: Any) -> int:
        return int(problem.n) if self.needs_spectrum else 0

    def declare(self, problem: Any) -> Program:
        # A model of its own: programs hold values in their variables.
        read = self._compiled(problem)
        read.program.refuse_without_optimum()
        return read.model.program(str(self), read.program)

    def settled(self, problem: Any) -> Self:
        if self._read is not None and self._read.problem is problem:
            return self
        return self._with(self._compiled(problem)._replace(program=None))

    @property
    def unsettled(self) -> Self:
        return self._with(None) if self._read is not None or self._solved else self

    def _with(self, read: _Compiled | None) -> Self:
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__, _read=read, _solved="")
        for name in getattr(type(self), "__slots__", ()):  # of a dataclass with slots
            object.__setattr__(made, name, getattr(self, name))
        return made

    def _compiled(self, problem: Any) -> _Compiled:
        """What the model says now, or said when it was settled, and the program of that.

        The program is the one that is kept with the problem, if it was compiled from a model that
        said the same.
        """
        shelf, read = derived_values(problem), self._read
        kept: _Compiled | None = shelf.get("compiled")
        if read is not None and read.problem is problem:
            if kept is not None and kept.record is read.record:
                return read._replace(program=kept.program)
        else:
            _fields(self)
            self._check_task(problem)
            model = settled(_model(self, problem).without_endless())
            read = _Compiled(problem, model, Record(model), None)
            if self._solved and self._solved != read.record.digest:
                raise ProblemError(
                    "formulation", "the model that was solved", f"another model of {self}",
                    "It changed after the solve. Solve again, or load the result with the old one.",
                )  # fmt: skip
            if kept is not None and kept.record.agrees(read.record):
                return read._replace(record=kept.record, program=kept.program)
        program: Any = planned(type(self), read.record, problem)
        if program is None:
            program = compiled(read.model, problem)
            keep_plan(type(self), read.record, problem, program)
        read = read._replace(program=program)
        shelf["compiled"] = read
        return read

    def _check_task(self, problem: Any) -> None:
        """Raise `ProblemError` unless the problem has what the formulation needs."""
        if problem.gram.asymmetric and not self.takes_asymmetric:
            expected, hint = f"one with a symmetric kernel matrix for {self}", SYMMETRIZED
            hint = f"{hint} {OF_ASYMMETRIC} take it as it is."
            raise ProblemError("problem", expected, "an asymmetric one", hint)
        fits = self.task in UNLABELLED or problem.task == self.task
        if fits and (self.task != "classification" or problem.classes.size == 2):
            return
        wanted = "two classes" if self.task == "classification" else "targets"
        hint = f"For {problem.task} there are {FITTING[problem.task]}."
        if self.task == "regression" and problem.classes.size:
            hint += " With task='regression' the labels are targets."
        elif problem.task == "classification" and problem.classes.size > 2:
            hint = "Several classes are solved one against one, by `solve` and `compare`."
        raise ProblemError("problem", f"a problem with {wanted} for {self}", problem.kind, hint)

    def refuse_sizes(self, first: int, second: int) -> None:
        """Raise `InfeasibleProblem` if two classes of these sizes leave no feasible point.

        Estimators ask before they compute a kernel.
        """

    def clusters(self, problem: Any, values: Values) -> Clusters:
        """The clusters that values of the variables define, for the task "clusters".

        Raises
        ------
        ProblemError
            If the formulation defines none.
        """
        expected, got = "a formulation that defines clusters", f"{self}, for {self.task}"
        raise ProblemError("formulation", expected, got)

    def has_classifier(self, problem: Any) -> bool:
        """Whether the model has a classifier, by its `coef` or its `classifier`.

        One without is a program that is solved, certified and bracketed like any other.
        """
        read = self._read
        known = read is not None and read.problem is problem
        model = read.model if read is not None and known else _model(self, problem)
        return model.classifier is not None or model.coef is not None

    def classifier(
        self, problem: Any, values: Values, tol: float = 1e-6, multipliers: Values | None = None
    ) -> Classifier:
        """The classifier that values of the variables define.

        `tol` is the tolerance with which they were found: for one class, points that it cannot tell
        from the boundary count as on the boundary. `multipliers` are those of a solver, for
        programs where none can be recovered from the values.

        Raises
        ------
        ProblemError
            If the model has no coefficients, if they are not expressions in its variables and
            multipliers, or if the multipliers are not known.
        """
        _, model, record, program = self._compiled(problem)
        if model.classifier is not None:
            found: Classifier = model.classifier(program, values)
            return found
        if model.coef is None:
            hint = "Give its Model the coefficients of the decision values."
            if self.task == "clusters":
                hint = "`result.clusters` has the clusters of its points; others have none."
            raise ProblemError("classifier", "a model with coef", f"{self}, which has none", hint)
        shelf, sides = derived_values(problem), 2 if problem.gram.asymmetric else 1
        known, coefficients = shelf.get("coef", (None, None))
        if known is not record:
            size = sides * problem.n
            coefficients = affine(as_output("coef", model.coef, size, program.shapes, model))
            shelf["coef"] = record, coefficients
        offset, error, number, at = 0.0, None, None, dict(values)
        if isinstance(model.offset, str):
            two = problem.task == "classification" and problem.classes.size == 2
            y = problem.y if two else np.ones(problem.n)
            multiple = multiple_of(model, coefficients, y, model.offset)
            number = multiple * dual(model.offset)
        elif model.offset is not None:
            number = as_output("offset", model.offset, 1, program.shapes, model)
        duals = [*duals_of(model.coef), *duals_of(number)]
        if duals:
            given = multipliers if program.multipliers_from_solver else None
            point = program.at(program.from_values(values))
            # Within the default tolerance of the solvers a weight counts as being at its bound.
            held = answers.optimality(program, point, given, 1e-6)
            if given is None:
                # A gap of `tol` leaves the conditions open up to its root; what misses them by more
                # stands in no relation to a boundary.
                error = min(held.stationarity, 10.0 * np.sqrt(tol)) * held.unit
            at |= values_of(duals, held.multipliers)
        coef = coefficients.at(at)
        if number is not None:
            called = {variable.id: variable.name() for variable in number.variables()}
            offset = canonical(Model(minimize=number), called, with_duals=True).value(at)
        change = model.change
        if callable(change):
            change = change(program, values)
        own, diagonal = float(model.own), None
        if own:
            entries = problem.gram.diagonal
            diagonal = float(entries[0]) if np.ptp(entries) == 0.0 else None
        if self.task != "one class":
            return Classifier(
                coef, offset, problem.classes, self.new_points, change, own, diagonal, sides=sides
            )
        made = Classifier(
            coef, offset, OUTLIERS, self.new_points, change, own, diagonal,
            distances=model.distances,
        )  # fmt: skip
        described = problem.as_distances if model.distances else problem
        return replace(made, zero=boundary_width(described, made, error, tol))

    def digest_of(self, problem: Any) -> str:
        """A digest of what the model says of a problem, or the error with which it ends."""
        try:
            model = settled(_model(self, problem).without_endless())
            rest = model.offset, model.own, self.new_points
            return f"{Record(model).digest} {' '.join(map(str, rest))}"
        except Exception as error:  # a user's model may end with any; its cells say so, too
            return f"{type(error).__name__}: {error}"

    def parameters(self) -> dict[str, str]:
        """The parameters as text, without those that are None and switches at their default.

        An array, which the repr leaves out, is shown by its digest.
        """
        values = [(field, getattr(self, field.name)) for field in _fields(self)]
        return {
            field.name: short(value) if field.repr else _digest(value)
            for field, value in values
            if value is not None and not (isinstance(value, bool) and value is field.default)
        }

    def __str__(self) -> str:
        # Different formulations must have different titles, which comparisons use as keys.
        usual = {field.name: short(field.default) for field in _fields(self)}
        shown = ", ".join(
            f"{name}={value}"
            for name, value in self.parameters().items()
            if value != usual[name] or name in self.in_every_title
        )
        return f"{type(self).__name__}({shown})" if shown else type(self).__name__


def _fields(formulation: Any) -> tuple[dataclasses.Field[Any], ...]:
    """The parameters of a formulation; `ParameterError` if it is not a dataclass."""
    if not dataclasses.is_dataclass(formulation):
        raise ParameterError(
            "formulation", "a dataclass", f"{type(formulation).__name__}, another class",
            "Write @dataclass(frozen=True) above the class, and its parameters as fields.",
        )  # fmt: skip
    return dataclasses.fields(formulation)


def _model(formulation: Formulation, problem: KernelProblem) -> Model:
    """What `model` returns; `ProblemError` if that is not a model."""
    made: Any = formulation.model(problem)
    if not isinstance(made, Model):
        got = f"{type(formulation).__name__}.model returns one of type {type(made).__name__}"
        raise ProblemError("model", "a Model", got, "Write return Model(...).")
    return made


def _is_of_this_package(formulation: Formulation) -> bool:
    own, theirs = (name.partition(".")[0] for name in (__name__, type(formulation).__module__))
    return own == theirs


def _digest(value: Any) -> str:
    """Eight hexadecimal digits that stand for an array."""
    try:
        content = np.ascontiguousarray(value, dtype=float).tobytes()
    except (TypeError, ValueError):  # not an array of numbers, which is refused where it is used
        content = repr(value).encode()
    return hashlib.sha256(content).hexdigest()[:8]


def share(argument: str, value: Any) -> None:
    """Raise `ParameterError` unless value is a number above 0 and at most 1, such as ν.

    >>> share("nu", 0.0)
    Traceback (most recent call last):
    indefinite_opt.errors.ParameterError: nu: expected a positive number of at most 1, got 0.0
    """
    checks.positive(argument, value, most=1.0)


def check_weight_bound(argument: str, value: float | None, relative: float | None) -> None:
    """Raise `ParameterError` unless a bound is given as a value, as a multiple ≥ 1, or not at all.

    >>> check_weight_bound("mu", None, 0.9)
    Traceback (most recent call last):
    indefinite_opt.errors.ParameterError: relative: expected a number of at least 1, got 0.9
    """
    checks.positive(argument, value, optional=True)
    checks.positive("relative", relative, optional=True)
    if relative is not None and relative < 1.0:
        raise ParameterError("relative", "a number of at least 1", shown(relative))
    if relative is not None and value is not None:
        raise ParameterError("relative", f"None if {argument} is given", shown(relative))


def reduced_weight(
    argument: str, value: float | None, total: float, smaller: int, relative: float | None = None
) -> float:
    """Largest weight of one example in a class of total weight `total`.

    Without a value it is `relative` times the smallest feasible one, but at most `total`, so that
    it is feasible for all class sizes. At least a share 1/`relative` of the smaller class then has
    weight. The default 1.2 is the most accurate of 1, 1.1, 1.2, 1.5, 2, 3 and 5 on the data sets of
    Guo & Schuurmans (2009), averaged over the three formulations with linear and Gaussian kernels:
    with larger ones the hulls of overlapping classes meet, and the classifier is constant.

    Raises
    ------
    InfeasibleProblem
        If the smaller class cannot reach its total weight.
    """
    least = total / smaller
    if value is None:
        return min(total, (relative or 1.2) * least)
    if value < least * (1.0 - 1e-12):
        raise InfeasibleProblem(
            argument, f"at least {least!r} = {total:g}/{smaller}", repr(value),
            f"Otherwise the weights of the smaller class, of size {smaller}, cannot sum to "
            f"{total:g}.",
        )  # fmt: skip
    return max(float(value), least)


def of_both_sides(problem: KernelProblem, source: Any, target: Any) -> Any:
    """The coefficients of the k(x, x_i), and behind them those of the k(x_i, x).

    Both are n expressions. Where the kernel is symmetric, the result is their sum.
    """
    if not problem.asymmetric:
        return source + target
    upper, lower = np.hsplit(np.eye(2 * problem.n), 2)
    return upper @ source + lower @ target


def weighted_bound(
    C: float, weights: Array | None, n: int, argument: str = "weights"
) -> float | Array:
    """C, or its product with the weights of n points, which errors call `argument`.

    >>> weighted_bound(2.0, np.array([1.0, 3.0]), 2)
    array([2., 6.])
    """
    if weights is None:
        return C
    values = finite_array(argument, weights, (n,))
    least, most = float(values.min()), float(values.max())
    if least <= 0.0:
        hint = "Leave out points without weight."
        raise ParameterError(argument, "positive numbers", f"{least:g}", hint)
    for product in (float(C) * least, float(C) * most):
        if not checks.MIN_WEIGHT <= product <= checks.MAX_WEIGHT:
            ends = f"{checks.MIN_WEIGHT:g} to {checks.MAX_WEIGHT:g}"
            raise ParameterError(argument, f"products with C from {ends}", f"{product:g}")
    return C * values
