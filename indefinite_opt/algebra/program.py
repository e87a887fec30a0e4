"""A declared optimization problem: an objective and named constraints, as the paper writes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from indefinite_opt.algebra import printing
from indefinite_opt.algebra.atoms import Constant, Constraint, Expression, cast
from indefinite_opt.algebra.from_cvxpy import Conversion
from indefinite_opt.algebra.notation import symbol_text
from indefinite_opt.algebra.to_cvxpy import Translation, cvxpy_problem
from indefinite_opt.errors import ParameterError, ProblemError, shown
from indefinite_opt.foundation import Array, real_array


def constants(**named: Any) -> list[Constant]:
    """Named constants, in the order given; a matrix may be an `Operator`.

    >>> C, mu = constants(C=1.0, mu=0.5)
    >>> C.name(), float(mu.value)
    ('C', 0.5)
    """
    return list(map(Constant, named.values(), named))


class Definition(NamedTuple):
    """What a symbol of a program stands for, printed below it.

    >>> import indefinite_opt.algebra as cp
    >>> z = cp.Variable(2, name="z")
    >>> meant = Definition("z = y∘α", r"z = y \\circ \\alpha", symbols=("y", "alpha"))
    >>> print(Model(minimize=cp.sum_squares(z), where=(meant,)).program("Norm", compiled=None))
    Norm
      minimize    ‖z‖₂²
      where       z = y∘α
      with        z ∈ R²
    """

    text: str
    latex: str
    """The equation in Unicode and in LaTeX."""
    symbols: tuple[str, ...] = ()
    """Names of the symbols in it that the program itself does not have, for the legend."""


@dataclass(frozen=True, eq=False)
class Inner:
    """The inner problem of a max-min program: a variable that the objective is minimised over.

    >>> import indefinite_opt.algebra as cp
    >>> x, t = cp.Variable(name="x"), cp.Variable(name="t")
    >>> inner = Inner(t, {"low": t >= -1}, equivalent=None)
    >>> print(Model(maximize=t * 3 - x, inner=inner).program("Worst", compiled=None))
    Worst
      maximize    min over t ≥ -1 of 3 t - x
      with        x ∈ R, t ∈ R
    """

    variable: Any
    subject_to: dict[str, Any]
    equivalent: Callable[[Translation], Any]
    """Makes the `cvxpy.Problem` with the inner problem eliminated, in translated variables."""


def mapped(inner: Inner | None, change: Callable[[Any], Any]) -> Inner | None:
    """An inner problem with other expressions in place of each of its own."""
    if inner is None:
        return None
    rows = {name: change(one) for name, one in inner.subject_to.items()}
    return replace(inner, variable=change(inner.variable), subject_to=rows)


@dataclass(frozen=True, eq=False, repr=False)
class Model:
    """An objective and named constraints, as a paper writes them; see `Formulation.model`.

    Attributes
    ----------
    minimize, maximize : Expression
        Exactly one of them, in atoms of this package or of cvxpy; the latter are converted here.
    subject_to : dict of str to Constraint
    inner : Inner or None
        A variable that the maximised objective is minimised over, for max-min programs.
    meanings : dict of str to str
        Meanings of symbols that differ from their meanings in the papers.
    where : tuple of Definition
        Meanings of symbols that are not data of the problem.
    coef : Expression, optional
        The coefficients of the classifier, (n,), affine in the variables and in multipliers, which
        `dual` names.
    offset : Expression or str, optional
        The offset of the classifier, in variables and multipliers, or the name of the constraint on
        Σ coef whose multiplier it is; 0 by default. The name of yᵀα = 0 means the multiplier of
        this equation, even if it is written as -yᵀα = 0 or 2yᵀα = 0. For another constraint, or an
        objective that is not in the unit of the decision values, write the offset with `dual`.
    own : float
        The coefficient of k(x, x) in the decision values.
    distances : bool
        Whether the coefficients multiply distances d(x_i, x) instead of k(x_i, x).
    classifier : callable, optional
        (program, values) -> classifier, such as a `Classifier`, if coefficients and offset are not
        such expressions. A model without it and without `coef` cannot predict.
    change : object, optional
        How training has changed the kernel; see `Classifier`.
    theorem : callable, optional
        Compiles a model that is solved by a theorem about it.

    Examples
    --------
    >>> import indefinite_opt.algebra as cp
    >>> x = cp.Variable(2, name="x")
    >>> model = Model(minimize=cp.sum_squares(x), subject_to={"lower": x >= 1})
    >>> list(model.subject_to)
    ['lower']
    """

    minimize: Any = None
    maximize: Any = None
    subject_to: dict[str, Any] = field(default_factory=dict)
    inner: Inner | None = None
    meanings: dict[str, str] = field(default_factory=dict)
    where: tuple[Definition, ...] = ()
    coef: Any = None
    offset: Any = None
    own: float = 0.0
    distances: bool = False
    classifier: Callable[..., Any] | None = None
    change: Any = None
    theorem: Callable[[], Any] | None = None

    def __post_init__(self) -> None:
        if (self.minimize is None) == (self.maximize is None):
            raise ParameterError("objective", "exactly one of minimize, maximize", "both or none")
        convert = Conversion()
        sense = "maximize" if self.minimize is None else "minimize"
        given = getattr(self, sense)
        if not isinstance(given, Expression):
            goal = convert(given)
            if not isinstance(goal, Expression):
                hint = "Give the expression alone." if hasattr(goal, "args") else ""
                if hint or np.ndim(goal) or isinstance(goal, str):
                    raise ProblemError(sense, "an expression", _described(given), hint)
                goal = cast(goal)
            object.__setattr__(self, sense, goal)
        if not isinstance(self.subject_to, Mapping):
            raise ProblemError(
                "subject_to", "constraints by their names", _described(self.subject_to),
                'Write {"margin": K @ u >= 1, ...}.',
            )  # fmt: skip
        rows: dict[str, Any] = {}
        for name, one in self.subject_to.items():
            if not isinstance(name, str):
                raise ProblemError("subject_to", "names that are texts", shown(name))
            rows[name] = row = one if isinstance(one, Constraint) else convert(one)
            if not isinstance(row, Constraint):
                hint = "A comparison of two numbers is True or False, not a constraint."
                raise ProblemError(
                    f"subject_to[{name!r}]", "a constraint, of <=, >= or ==", _described(one),
                    hint if isinstance(one, bool | np.bool_ | np.ndarray) else "",
                )  # fmt: skip
        if self.classifier is not None and not callable(self.classifier):
            raise ProblemError("classifier", "a function", _described(self.classifier))
        for definition in self.where:
            if not isinstance(definition, Definition):
                raise ProblemError("where", "a tuple of Definition", _described(self.where))
        changed = {
            "subject_to": rows, "inner": mapped(self.inner, convert), "coef": convert(self.coef),
            "offset": convert(self.offset),
        }  # fmt: skip
        for part, value in changed.items() if convert.made else ():
            object.__setattr__(self, part, value)

    def without_endless(self) -> Model:
        """The model without x ≤ inf and x ≥ -inf, which hold everywhere."""
        kept = dict(self.subject_to)
        for name, one in self.subject_to.items():
            if _is_endless(one):
                del kept[name]
        return self if len(kept) == len(self.subject_to) else replace(self, subject_to=kept)

    def program(self, name: str, compiled: Any, is_solved: bool = True) -> Program:
        """The model with its name, and what it was compiled to."""
        return Program(**vars(self), name=name, compiled=compiled, is_solved=is_solved)


def _described(part: Any) -> str:
    """What was given instead of a part of a model, on one line."""
    if isinstance(part, bool | np.bool_ | str) or part is None:
        return shown(part)
    if hasattr(part, "args"):
        return f"{type(part).__name__} {' '.join(str(part).split())}"
    return f"one of type {type(part).__name__}"


def _is_endless(constraint: Any) -> bool:
    """Whether it is an inequality with a constant -inf on its left or inf on its right."""
    if constraint.kind != "Inequality":
        return False
    for side, end in zip(constraint.args, (-np.inf, np.inf), strict=True):
        if side.is_constant() and len(side.shape) < 2:
            every = side.value == end
            if np.all(every) if side.shape else every:
                return True
    return False


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Program(Model):
    """A model with its name, and what it was compiled to; see `Formulation.declare`.

    Attributes
    ----------
    name : str
    compiled : CompiledProgram
        The same model for direct solvers.
    is_solved : bool
        Whether the compiled program is this model; the text then says how it is solved. False for a
        dual, which is stated beside the program that is solved.
    minimize, maximize, subject_to, inner, meanings, where
        As in `Model`, with its other attributes.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> problem = iopt.KernelProblem([[1.0, -1.0], [-1.0, 1.0]], [1, -1])
    >>> program = iopt.SVMDual(C=1.0).declare(problem)
    >>> program.sense, program.is_convex, list(program.variables)
    ('maximize', True, ['alpha'])
    >>> program.evaluate({"alpha": np.array([0.5, 0.5])})
    (0.5, 0.0)
    """

    name: str
    compiled: Any
    is_solved: bool = True

    @property
    def sense(self) -> str:
        """ "minimize" or "maximize"."""
        return "minimize" if self.maximize is None else "maximize"

    @property
    def objective(self) -> Any:
        """The declared expression."""
        return self.minimize if self.maximize is None else self.maximize

    @property
    def variables(self) -> dict[str, Any]:
        """The declared variables by name, in the order in which the model makes them."""
        found = list(self.objective.variables())
        for constraint in self.subject_to.values():
            found += constraint.variables()
        return {variable.name(): variable for variable in sorted(found, key=lambda v: v.id)}

    @property
    def is_convex(self) -> bool:
        """Whether the program is convex; see `CompiledProgram.is_convex`."""
        return self.compiled.is_convex

    @property
    def curvature(self) -> str:
        """ "convex" or "nonconvex"."""
        return "convex" if self.is_convex else "nonconvex"

    def cvxpy(self, equivalent: bool = False) -> Any:
        """The program as a `cvxpy.Problem`, with the declared objective and constraints.

        The objective is the declared one even where constraints do not hold, so that new problems
        may be made of it. Matrices of a convex program that are positive semidefinite up to
        rounding are marked as such, so that cvxpy need not test them. The `solve` of cvxpy refuses
        nonconvex programs, and also programs that are convex only along their constraints, such as
        the SVM dual of a conditionally positive semidefinite kernel; `solve(nlp=True)` takes both.
        A max-min program becomes a semidefinite one in the same variables.

        Parameters
        ----------
        equivalent : bool
            Whether a convex program gets a convex equivalent: an objective with a positive
            semidefinite Hessian that equals the declared one at feasible points, and in general not
            elsewhere. Its constraints must then stay in every problem that is made of it.

        Examples
        --------
        With the distances d(x, z) = |x - z|, K = -d is positive semidefinite only along eᵀx = 0:

        >>> import indefinite_opt as iopt
        >>> problem = iopt.KernelProblem([[0.0, -2.0], [-2.0, 0.0]], [1, -1])
        >>> program = iopt.SVMDual(C=1.0).declare(problem)
        >>> program.cvxpy().is_dcp(), program.cvxpy(equivalent=True).is_dcp()
        (False, True)
        """
        if equivalent or self.inner is not None:
            return self.in_cvxpy()[0]
        translated = Translation(marks_psd=bool(self.compiled.is_convex))
        for variable in self.variables.values():
            translated(variable)
        objective = translated(self.objective)
        translated.factored = True  # in rows
        return cvxpy_problem(self.sense, objective, self.subject_to, translated)

    def in_cvxpy(self, as_declared: bool = False) -> tuple[Any, dict[str, Any]]:
        """The `cvxpy.Problem`, whose constraints have their names as labels, and its variables.

        The objective is the declared one or, by default, that of `cvxpy(equivalent=True)`.
        """
        marks = not as_declared and bool(self.compiled.known_convex)
        translated = Translation(marks_psd=marks)
        variables = {name: translated(variable) for name, variable in self.variables.items()}
        if self.inner is not None:
            equivalent: Any = self.inner.equivalent
            if not callable(equivalent):
                expected = "a function that makes a cvxpy.Problem without the inner problem"
                raise ProblemError("equivalent", expected, _described(equivalent))
            return equivalent(translated), variables
        objective = None if as_declared else self.compiled.cvxpy_objective(variables)
        if objective is None:
            objective = translated(self.objective)
        translated.factored = True  # in rows
        return cvxpy_problem(self.sense, objective, self.subject_to, translated), variables

    def set_values(self, values: Mapping[str, Array]) -> None:
        """Give values to the declared variables, for evaluation or as a starting point.

        Raises
        ------
        ProblemError
            For a missing name or a value that the variable cannot take.
        """
        self._set(self.variables, values)

    def _set(self, variables: Mapping[str, Any], values: Mapping[str, Array]) -> None:
        for name, variable in variables.items():
            if name not in values:
                raise ProblemError("values", f"a value of {name}", f"only {', '.join(values)}")
            expected = f"finite numbers of shape {variable.shape}"
            numbers = real_array(f"values[{name!r}]", values[name], expected)
            try:
                variable.value = np.reshape(numbers, variable.shape)
            except ValueError as error:
                raise ProblemError(f"values[{name!r}]", expected, str(error)) from None

    def evaluate(self, values: Mapping[str, Array]) -> tuple[float, float]:
        """Objective and largest constraint violation at given values, from the declaration.

        A max-min program is evaluated at the given value of its inner variable, else at the inner
        minimum. If only a theorem gives that minimum, the objective is taken from the compiled
        program.
        """
        known = self.with_inner(values)
        violation = max(self.violations(known or values).values(), default=0.0)
        if known is not None:
            return float(self.objective.value), violation
        point = self.compiled.at(self.compiled.from_values(values))
        return float(self.compiled.declared(point.value)), violation

    def with_inner(self, values: Mapping[str, Array]) -> Mapping[str, Array] | None:
        """The values with that of the inner variable; None if no minimiser is known."""
        if self.inner is None or self.inner.variable.name() in values or self.compiled is None:
            return values
        minimiser = self.compiled.inner_minimiser(values)
        return None if minimiser is None else {**values, self.inner.variable.name(): minimiser}

    def violations(self, values: Mapping[str, Array]) -> dict[str, float]:
        """The largest violation of each constraint at given values, by its name; see `evaluate`.

        Constraints of the inner variable are left out where no minimiser is known.
        """
        constraints, variables = list(self.subject_to.items()), dict(self.variables)
        known = self.with_inner(values)
        if self.inner is not None and known is None:
            del variables[self.inner.variable.name()]
        elif self.inner is not None:
            constraints += self.inner.subject_to.items()
        self._set(variables, values if known is None else known)
        found: dict[str, float] = {}
        for name, one in constraints:  # an inner program may use a name once more
            found[name] = max(found.get(name, 0.0), float(np.max(one.violation())))
        return found

    def text(self, with_data: bool = True) -> str:
        """The program as Unicode text, with or without its sizes and the values of parameters."""
        return printing.text(self, with_data)

    def formula(self) -> str:
        """The program on one line of Unicode text, with the values of its parameters."""
        return printing.formula(self)

    def latex(self, with_data: bool = False) -> str:
        """The program as LaTeX (an `array` environment), generated from the declaration.

        With data it has the sizes and the values of parameters, as `text` has them.
        """
        return printing.latex(self, with_data)

    def legend(self, with_data: bool = True) -> dict[str, str]:
        """What every symbol that appears means, by the symbol as `text` prints it.

        Without data, symbols without a meaning are vectors or matrices, whatever their sizes are.
        """
        meanings = printing.legend(self, with_data)
        return {symbol_text(name): told for name, told in meanings.items()}

    def export(self, path: str | Path) -> Path:
        """Write the model to a file: .lp, .mps (by HiGHS) or .npz (the arrays)."""
        written: Path = self.compiled.export(Path(path))
        return written

    def __repr__(self) -> str:
        return f"Program({self.name}, {self.sense}, {len(self.subject_to)} constraints)"

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        return printing.mathml(self.latex(with_data=True))

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.latex(with_data=True)}$"
