"""What a study compares: formulations and baselines, alone or over a grid of parameters."""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from pickle import PicklingError
from typing import Any

from indefinite_opt.errors import IndefiniteOptError, ParameterError
from indefinite_opt.formulations import as_formulation, known
from indefinite_opt.foundation import checks, of_user_code, parse_call, short
from indefinite_opt.modeling import Formulation
from indefinite_opt.modeling.linear_programs import LinearProgram
from indefinite_opt.problem import Kernel, kernels
from indefinite_opt.quadratic import TRANSFORMS, CompiledProgram
from indefinite_opt.solvers import as_solver
from indefinite_opt.studies.baselines import as_baseline
from indefinite_opt.studies.baselines import known as known_baselines
from indefinite_opt.studies.baselines.baseline import Baseline
from indefinite_opt.workflow import available_solvers

Method = Formulation | Baseline
_METHODS = (Formulation, Baseline)

NO_SOLVER = "-"
"""Entry of a baseline in the column of solvers."""

BY_SIZE = "default"
"""The solver that is not named, where it depends on the data: of a linear program on the number of
points, and of a model of which no kind is known before it is compiled on that."""


def as_method(method: Method | type[Method] | str) -> Method:
    """A formulation or baseline, given as an object, a class, or a name with parameters.

    A name may be that of a class in a file or a module, `mine.py:MyDual(C=10)`, whose code is run.

    Examples
    --------
    >>> as_method("SVMDual(C=10)"), as_method("KNN(k=3)")
    (SVMDual(C=10, bias=True), KNN(k=3))
    """
    if isinstance(method, Baseline) or (isinstance(method, type) and issubclass(method, Baseline)):
        return as_baseline(method)
    own = of_user_code("formulation", method, *_METHODS) if isinstance(method, str) else None
    if own is not None:
        made: Method = own
        return made
    others = {name.casefold() for name in known_baselines()}
    if isinstance(method, str) and parse_call(method, "formulation")[0].casefold() in others:
        return as_baseline(method)
    return as_formulation(method)


ONLY_NAMED = (
    "LearnedKernel", "MixedNormSVM", "MultipleKernelSVM", "NearestKernel", "NoisyLPSVM",
    "RankingSVM",
)  # fmt: skip
"""Formulations that are compared only if they are named: programs with cones, and one with a weight
for each pair of points, take long with some hundred points."""


def default_methods(task: str = "classification") -> list[Method]:
    """The formulations of a task and then its baselines.

    `SpectrumSVM` is there once per transformation, and those of `ONLY_NAMED` are not.
    """
    chosen: list[Method] = []
    for name, cls in known().items():
        if cls.task != task or name in ONLY_NAMED:
            continue
        if name == "SpectrumSVM":
            chosen += [as_formulation(f"SpectrumSVM(transform={h})") for h in TRANSFORMS]
        else:
            chosen.append(cls())
    return chosen + [each() for each in known_baselines().values() if each.task == task]


KERNELS = ("kernel", "form", "gamma", "relative_gamma")
"""Names in grids that vary the kernel of the data: kernels, or forms and one of both γ."""


@dataclasses.dataclass(frozen=True)
class Bandwidth:
    """The kernel of the data in another form, with another γ or with a multiple of its own.

    Examples
    --------
    >>> str(Bandwidth(0.1).of(kernels.get("gaussian(gamma=5)")))
    'gaussian(gamma=0.1)'
    >>> str(Bandwidth(0.1, relative=True).of(kernels.get("gaussian(gamma=5)")))
    'gaussian(gamma=0.5)'
    """

    gamma: float | None
    """None for that of the kernel, or none."""
    relative: bool = False
    form: str | None = None
    """A name in `kernels.FORMS`, for distances; None for the form that the data have."""

    def __post_init__(self) -> None:
        checks.positive("gamma", self.gamma, optional=True)
        if self.form is not None:
            checks.choice("form", self.form, kernels.FORMS)

    def of(self, kernel: Any) -> Kernel:
        """The kernel, which has this form, with this γ; `ParameterError` for one without a γ."""
        if self.gamma is None:
            own: Kernel = kernel
            return own
        if not has_gamma(kernel) or (self.relative and kernel.gamma is None):
            got = "similarities that were computed before" if kernel is None else str(kernel)
            raise ParameterError("gamma", "a kernel that has one", got)
        gamma = self.gamma * (kernel.gamma if self.relative else 1.0)
        changed: Kernel = dataclasses.replace(kernel, gamma=gamma)
        return changed

    def __str__(self) -> str:
        told = [] if self.form is None else [f"form={self.form}"]
        if self.gamma is not None:
            told.append(f"{'relative_' * self.relative}gamma={short(self.gamma)}")
        return ", ".join(told)


def has_gamma(kernel: Any) -> bool:
    """Whether the values of a kernel depend on a number `gamma`."""
    used = getattr(kernel, "form", None) in (None, *kernels.FORMS_WITH_GAMMA)
    return used and hasattr(kernel, "gamma")


def identity_of(kernel: Any) -> str:
    """The title of a kernel, and a digest of its functions, of which several may have one name.

    >>> identity_of(kernels.get("gaussian(gamma=5)"))
    'gaussian(gamma=5)'
    """
    functions = [each for each in getattr(kernel, "__dict__", {}).values() if callable(each)]
    if not functions:
        return str(kernel)
    import cloudpickle  # which joblib needs, too
    import joblib

    try:
        content = cloudpickle.dumps(functions)
    except (TypeError, ValueError, AttributeError, PicklingError):
        content = [id(each) for each in functions]  # not known again in another run
    return f"{kernel} {joblib.hash(content)}"


@dataclasses.dataclass(frozen=True)
class Entry:
    """One entry of a grid: a method with all its parameters, and the kernel if it is varied.

    The solver is None where it depends on the size of the problem.
    """

    method: Method
    kernel: Kernel | Bandwidth | None
    solver: str | None

    def __str__(self) -> str:
        return str(self.method) if self.kernel is None else f"{self.method}, {self.kernel}"

    @property
    def C(self) -> float:
        """The bound C of the weights; infinite for a method without one."""
        return float(getattr(self.method, "C", math.inf))


class Grid:
    """A method over all combinations of values of its parameters.

    Ties go to the smallest C, then to the first entry. Kernels vary slowest; the other parameters
    are in the order of scikit-learn's `ParameterGrid`: by name, and the last one varies fastest.

    Parameters
    ----------
    method : Formulation, Baseline, class or str
        Its own parameters hold where the grid varies nothing.
    kernel : str, Kernel or a list of them, optional
        Kernels of the data, as in `kernels.get`. By default that of the data. For data given as
        distances, `"distance(form=gaussian, gamma=2)"` and the like.
    form : str or a list of them, optional
        In place of kernels: these forms of the distances of the data, see `kernels.FORMS`.
    gamma, relative_gamma : float or a list of them, optional
        In place of kernels: the kernel of the data with these γ, or with multiples of its own γ.
        With forms, those that have a γ; their own one is 1/mean(d²) of "gaussian", and 1/mean(d) of
        "exponential", where the data have another form.
    solver : str, optional
        By default the method's own.
    warm : bool
        Whether entries that differ in one number only, such as C, are solved in the order of that
        number, each from the solution before (`solve_path`). That is much faster, but a nonconvex
        program may end in another local optimum than from the solver's own start.
    **parameters
        A value, or a list of values, for a parameter of the method.

    Attributes
    ----------
    entries : list of Entry
        All combinations, in order.
    names : list of str
        The names of all parameters of the method.

    Examples
    --------
    >>> grid = Grid("SVMDual", C=[1, 10], kernel=["linear", "gaussian"])
    >>> [(entry.method.C, entry.kernel.name) for entry in grid.entries]
    [(1, 'linear'), (10, 'linear'), (1, 'gaussian'), (10, 'gaussian')]
    """

    method: Method
    kernels: tuple[Kernel | Bandwidth | None, ...]
    solver: str
    warm: bool
    parameters: dict[str, tuple[Any, ...]]
    entries: list[Entry]
    names: list[str]

    def __init__(
        self,
        method: Method | type[Method] | str,
        *,
        kernel: str | Kernel | Bandwidth | Sequence[str | Kernel | Bandwidth] | None = None,
        form: str | Sequence[str] | None = None,
        gamma: float | Sequence[float] | None = None,
        relative_gamma: float | Sequence[float] | None = None,
        solver: str | None = None,
        warm: bool = True,
        **parameters: Any,
    ) -> None:
        from sklearn.model_selection import ParameterGrid

        self.method, self.warm = as_method(method), warm
        self.names = [field.name for field in dataclasses.fields(self.method)]  # type: ignore[arg-type]
        self.parameters = {name: _several(values) for name, values in parameters.items()}
        for name, values in self.parameters.items():
            checks.choice(f"parameter of {type(self.method).__name__}", name, self.names)
            if not values:
                raise ParameterError(name, "at least one value", repr(parameters[name]))
        given = {
            "kernel": kernel, "form": form, "gamma": gamma, "relative_gamma": relative_gamma
        }  # fmt: skip
        self.kernels = _kernels({name: one for name, one in given.items() if one is not None})
        self.solver = _solver_of(self.method, solver)
        named = None if self.solver == BY_SIZE else self.solver
        self.entries = [
            Entry(_replaced(self.method, point), each, named)
            for each in self.kernels
            for point in ParameterGrid(self.parameters)
        ]

    @property
    def base(self) -> Method:
        """The method with those parameters that have a single value."""
        fixed = {name: values[0] for name, values in self.parameters.items() if len(values) == 1}
        return _replaced(self.method, fixed)

    @property
    def _varied(self) -> dict[str, tuple[Any, ...]]:
        """The values of the parameters that have several."""
        return {name: values for name, values in self.parameters.items() if len(values) > 1}

    def paths(self, which: Iterable[int]) -> list[list[int]]:
        """The indices of some entries in paths, along which one number grows and no more changes.

        This number is C, else the first one that is varied.
        """
        numbers = [n for n, values in self._varied.items() if all(map(checks.is_number, values))]
        along = "C" if "C" in numbers else next(iter(numbers), None)
        paths: dict[str, list[int]] = {}
        for index in which:
            entry = self.entries[index]
            others = [getattr(entry.method, name) for name in self.parameters if name != along]
            paths.setdefault(repr([identity_of(entry.kernel), *others]), []).append(index)
        if along is not None:
            for path in paths.values():
                path.sort(key=lambda index: float(getattr(self.entries[index].method, along)))
        return list(paths.values())

    @property
    def identity(self) -> str:
        """Everything that determines the fits, as text: the titles name arrays by their digests."""
        entries = [
            f"{entry}; {entry.method!r}; {identity_of(entry.kernel)}" for entry in self.entries
        ]
        return "\n".join([*entries, self.solver, str(self.warm)])

    def best(self, scores: Sequence[float]) -> int:
        """The index of the entry with the largest score; of equal ones by the rule above.

        A score that is not a number, of an entry that failed, is less than any other. Scores that
        differ by rounding only, a share of 10⁻¹², are equal.
        """
        return min(self._tied(scores), key=lambda index: (self.entries[index].C, index))

    def _tied(self, scores: Sequence[float]) -> list[int]:
        """The indices of all entries with the largest score."""
        finite = [-math.inf if math.isnan(score) else score for score in scores]
        most = max(finite)
        slack = 1e-12 * abs(most) if math.isfinite(most) else 0.0
        return [index for index, score in enumerate(finite) if score >= most - slack]

    @property
    def title(self) -> str:
        """The method without the parameters that vary."""
        base = self.base
        # A baseline shows the defaults of its parameters, too, in place of the varied values.
        return base.name if self._varied and isinstance(base, Baseline) else str(base)

    def over(self, solver: str, values: Mapping[str, Any]) -> Grid:
        """The same with another solver, and over these values in place of its own."""
        chosen = None if solver in (NO_SOLVER, BY_SIZE) else solver
        own = {**self.parameters} if set(KERNELS) & set(values) else {
            "kernel": self.kernels, **self.parameters
        }  # fmt: skip
        return Grid(self.method, solver=chosen, warm=self.warm, **{**own, **values})

    def varied(self, index: int) -> str:
        """The parameters of an entry in which the entries of the grid differ, as text."""
        entry = self.entries[index]
        shown = [f"{name}={short(getattr(entry.method, name))}" for name in self._varied]
        return ", ".join([*shown, *([str(entry.kernel)] if len(self.kernels) > 1 else [])])

    def ends(self, scores: Sequence[float]) -> list[str]:
        """The ends of the grid that have the best score, if no other place has it, as texts.

        A parameter has ends if the grid has three or more numbers for it. A value beyond which
        the parameter cannot go, such as k = 1 of the nearest neighbours, is not an end.

        >>> grid = Grid("KNN", k=[1, 3, 5])
        >>> grid.ends([0.8, 0.8, 0.9]), grid.ends([0.8, 0.9, 0.9]), grid.ends([0.9, 0.8, 0.8])
        (['k=5'], [], [])
        """
        tied = [self.entries[index] for index in self._tied(scores)]
        axes = [("method", name, values) for name, values in self._varied.items()]
        chosen = {getattr(entry.kernel, "form", None) for entry in tied}
        if all(isinstance(one, Bandwidth) for one in self.kernels) and len(chosen) == 1:
            widths: Any = [one for one in self.kernels if getattr(one, "form", None) in chosen]
            axes.append(("kernel", "gamma", tuple(one.gamma for one in widths)))
        found = []
        for part, name, values in axes:
            if len(set(values)) < 3 or not all(map(checks.is_number, values)):
                continue
            owners = [getattr(entry, part) for entry in tied]
            for end, factor in ((min(values), 1 / 1.01), (max(values), 1.01)):
                at_end = all(getattr(owner, name) == end for owner in owners)
                if at_end and _may_be(owners[0], name, end, factor):
                    found.append(str(owners[0]) if part == "kernel" else f"{name}={short(end)}")
        return found

    def __str__(self) -> str:
        varied = [f"{name} in {_listed(values)}" for name, values in self._varied.items()]
        if self.kernels != (None,):
            varied.append(f"kernel in {_listed(self.kernels)}")
        return f"{self.base}{' over ' if varied else ''}{', '.join(varied)}"


def as_grid(given: Grid | Method | type[Method] | str) -> Grid:
    """A grid, or one of a single entry for a method."""
    return given if isinstance(given, Grid) else Grid(given)


def _kernels(given: Mapping[str, Any]) -> tuple[Kernel | Bandwidth | None, ...]:
    """The kernels of a grid, or that of the data if none are given."""
    if not given:
        return (None,)
    values = {name: _several(several) for name, several in given.items()}
    for name, several in values.items():
        if not several:
            raise ParameterError(name, "at least one value", repr(given[name]))
    forms = values.pop("form", (None,))
    if len(values) > 1 or ("kernel" in values and forms != (None,)):
        expected = f"one of {', '.join(KERNELS)}, except for a form with one of both gammas"
        raise ParameterError("grid", expected, " and ".join(given))
    if "kernel" in values:
        return tuple(
            one if one is None or isinstance(one, Bandwidth) else kernels.get(one)
            for one in values["kernel"]
        )
    ((name, widths),) = values.items() or (("gamma", (None,)),)
    return tuple(
        Bandwidth(width, name == "relative_gamma", form)
        for form in forms
        for width in (widths if form in (None, *kernels.FORMS_WITH_GAMMA) else (None,))
    )


def _replaced(method: Method, parameters: dict[str, Any]) -> Method:
    changed: Method = dataclasses.replace(method, **parameters)  # type: ignore[type-var]
    return changed


def _may_be(owner: Any, name: str, value: Any, factor: float) -> bool:
    """Whether a parameter may have a value a little beyond another one, or the next integer."""
    for beyond in (value * factor, value + (1 if factor > 1.0 else -1)):
        with contextlib.suppress(IndefiniteOptError):
            dataclasses.replace(owner, **{name: beyond})
            return bool(beyond != value)
    return False


def _several(values: Any) -> tuple[Any, ...]:
    """A list as a tuple, and a single value, such as None, as a tuple of one."""
    single = isinstance(values, str) or not isinstance(values, Iterable)
    return (values,) if single else tuple(values)


def _listed(values: Iterable[Any]) -> str:
    return f"{{{', '.join(map(short, values))}}}"


def may_solve(solver: str, formulation: Formulation) -> bool:
    """Whether a solver is one for a formulation, or only a solve can tell.

    >>> may_solve("smo", as_formulation("SVMDual")), may_solve("smo", as_formulation("LPSVM"))
    (True, False)
    """
    name = as_solver(solver).name
    return formulation.program_type is CompiledProgram or name in available_solvers(formulation)


def _solver_of(method: Method, name: str | None) -> str:
    if isinstance(method, Baseline):
        return NO_SOLVER
    if name is None:
        kind = method.program_type
        by_data = issubclass(kind, LinearProgram) or not hasattr(kind, "usual_solver")
        return BY_SIZE if by_data else str(kind.usual_solver)
    if not may_solve(name, method):
        raise ParameterError("solver", f"one of {', '.join(available_solvers(method))}", name)
    return name
