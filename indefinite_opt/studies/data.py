"""The data of a study: points, similarities or distances, and the kernel made of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.errors import ParameterError, shown
from indefinite_opt.foundation import cached_property, derived, frozen, labelled
from indefinite_opt.problem import (
    ConfidenceProblem,
    Kernel,
    KernelProblem,
    Split,
    check_problem,
    datasets,
    kernels,
)
from indefinite_opt.problem.datasets import Dataset
from indefinite_opt.studies.methods import Bandwidth, identity_of

HeldOut = tuple[NDArray[Any], NDArray[Any] | None, NDArray[Any]]
"""K_new, the new labels and K_new_new; the last one is empty if it is not given."""

Source = str | Dataset | KernelProblem | Callable[[Kernel | None], KernelProblem]


@dataclass(eq=False)
class Data:
    """Data of any task, and how kernel problems are made of them.

    Parameters
    ----------
    source : str, Dataset, KernelProblem or callable
        A name as in `datasets.load`, which is read where the data are used; a data set; a problem;
        or a function of the kernel, None for the default, that makes a problem, for everything
        else. Such a function must be importable by other processes.
    kernel : str, Kernel or a list of them, optional
        The kernel where a grid names none; of several the grid tries all, and the first one is the
        default. If none is given, it is that of the problem or of the data set.
    options : dict
        Further keyword arguments of `KernelProblem.from_dataset`, such as `scaling`.
    test : (K_new, labels, K_new_new), optional
        Test points beside the problem; every point of the problem trains.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> data = Data("checkerboard(n=40, cells=2)", "linear", options={"scaling": "minmax"})
    >>> data.problem.n, str(data.problem.kernel)
    (40, 'linear')
    """

    source: Source
    kernel: str | Kernel | Sequence[str | Kernel] | None = None
    options: dict[str, Any] = field(default_factory=dict)
    test: HeldOut | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.options, dict):
            raise ParameterError("options", "a dict of keyword arguments", shown(self.options))
        if self.options and not isinstance(self.source, str | Dataset):
            expected = "none for a problem, which is made already"
            raise ParameterError("options", expected, ", ".join(self.options))
        _ = self.kernels
        source: Any = self.source
        name = source.partition("(")[0] if isinstance(source, str) else ""
        if isinstance(source, PathLike) or any(mark in name for mark in "/\\."):
            raise ParameterError(
                "data", "a name as in `datasets.load`, a data set or a problem", repr(str(source)),
                f"Files are read by `datasets.read`: Data(datasets.read({str(source)!r})).",
            )  # fmt: skip
        if not (isinstance(source, str | Dataset | KernelProblem) or callable(source)):
            expected = "a name as in `datasets.load`, a data set, a problem or a function"
            raise ParameterError("data", expected, shown(source))
        if isinstance(source, Dataset):  # what a study has run on does not change in place
            parts = {name: getattr(source, name) for name in ("y", "X", "K", "D")}
            given = {name: frozen(part) for name, part in parts.items() if part is not None}
            self.source = replace(source, **given)
        if self.test is not None:
            K_new, labels, among = self.test
            self.test = frozen(K_new), None if labels is None else frozen(labels), frozen(among)

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        """The kernels where a grid names none; empty for that of the source."""
        given = self.kernel
        if given is None:
            return ()
        several: list[Any] = list(given) if isinstance(given, list | tuple) else [given]
        if not several:
            raise ParameterError("kernel", "at least one", repr(given))
        return tuple(kernels.get(each) for each in several)

    @cached_property
    def problem(self) -> KernelProblem:
        """The problem of all data with the default kernel."""
        return self.with_kernel(None)

    @property
    def y(self) -> NDArray[Any]:
        """The numbers by which divisions are stratified, (n,).

        For two classes -1 and 1, where 1 is the larger label; for several classes their places in
        sorting order. For targets and without labels all are 1, so that every division is plain.
        """
        given = self._loaded
        if isinstance(given, Dataset):
            found = labelled(given.y, given.n, self.options.get("task"))
            return found.values if found.classes.size > 2 else found.signs
        problem = given if isinstance(given, KernelProblem) else self.problem
        if problem.classes.size <= 2:
            return problem.y
        labels: Any = problem.labels
        return np.searchsorted(problem.classes, labels)

    @property
    def task(self) -> str:
        """What the labels are for: "classification", "regression" or "one class"."""
        given = self._loaded
        if isinstance(given, Dataset):
            return labelled(given.y, given.n, self.options.get("task")).task
        return self.problem.task

    @cached_property
    def _loaded(self) -> Any:
        return datasets.load(self.source) if isinstance(self.source, str) else self.source

    def check_kernel(self, kernel: Kernel | Bandwidth | None) -> None:
        """Raise the error of `with_kernel`, without the matrix of that kernel.

        The rows of test points apart from the problem are those of its own kernel, and of no other.
        """
        given = self._loaded
        if isinstance(kernel, Bandwidth):
            kernel = kernel.of(self.in_form(kernel.form))
        if self.test is not None and kernel not in (None, self.problem.kernel):
            expected = f"{self.problem.kernel or 'none'}, of which the rows of the test points are"
            raise ParameterError("kernel", expected, str(kernel))
        if kernel is None or (isinstance(given, Dataset) and given.X is not None):
            return  # points take every kernel
        if isinstance(given, Dataset | KernelProblem):
            self.problem.check_kernel(kernel)

    def with_kernel(self, kernel: Kernel | Bandwidth | None) -> KernelProblem:
        """The problem of all data with a kernel, or with the default one, or another γ of that.

        Raises
        ------
        ParameterError
            If the data are similarities, or a problem without points, which have no other kernel.
        """
        if isinstance(kernel, Bandwidth):
            kernel = kernel.of(self.in_form(kernel.form))
        given = self._loaded
        chosen = kernel if kernel is not None else next(iter(self.kernels), None)
        if isinstance(given, Dataset):
            if chosen is None or given.X is not None:
                return KernelProblem.from_dataset(given, chosen, **self.options)
            given = KernelProblem.from_dataset(given, **self.options)
        elif not isinstance(given, KernelProblem):
            made: KernelProblem = given(chosen)
            check_problem(made)
            return made
        return given if chosen is None else given.with_kernel(chosen)

    def in_form(self, form: str | None) -> Any:
        """The kernel of the data, or that of another form of their distances with its usual γ."""
        problem = self.problem
        if form is None or (problem.D is not None and problem.kernel.form == form):
            return problem.kernel
        if problem.D is None:
            raise ParameterError(
                "form", f"none for {problem.name}, which is not made of distances", form
            )
        return derived(problem, ("form", form), lambda: usual_kernel(problem.D, form))

    def split(self, problem: KernelProblem, train: NDArray[Any], test: NDArray[Any]) -> Split:
        """The training problem and the test rows of a division; see `test` for an empty one.

        For one class only the points of the class that is described train.
        """
        described = described_class(self.problem)
        if described is not None:
            train = train[self.problem.labels[train] == described]
        if self.test is not None and not test.size:
            K_new, labels, among = self.test
            if train.size < problem.n:
                # The rows of the new points are those of this kernel, whatever its scaling.
                part, own = problem.gram.part(train), problem.labels[train]
                problem = KernelProblem.from_gram(part, own, task=problem.task, name=problem.name)
                K_new = K_new[:, train]
            return Split(problem, K_new, labels, lambda: among)
        return problem.split(train, test)

    @cached_property
    def digest(self) -> str:
        """A digest of everything that determines the problems, except for the kernels of a grid."""
        import joblib

        given = self._loaded
        if isinstance(given, Dataset):
            content: list[Any] = [given.y, given.X, given.K, given.D, identity_of(given.kernel)]
        else:
            problem = self.problem
            # Points of another scale may have the same kernel matrix.
            content = [problem.labels, problem.task, problem.X, problem.scaling]
            content.append(identity_of(problem.kernel))
            content += problem.gram.content()
            if isinstance(problem, ConfidenceProblem):  # K is only the symmetric part
                content.append(problem.directed)
        digest: str = joblib.hash(
            [content, [*map(identity_of, self.kernels)], sorted(self.options.items()), self.test]
        )
        return digest

    def __getstate__(self) -> dict[str, Any]:
        # What is derived is derived again in other processes, except for the digest.
        state = {field.name: getattr(self, field.name) for field in fields(self)}
        return {**state, "digest": self.digest}


def usual_kernel(D: Any, form: str) -> Kernel:
    """The kernel of distances with the γ that it has where none is given.

    >>> usual_kernel([[0.0, 1.0], [1.0, 0.0]], "exponential").gamma
    2.0
    """
    kernel: Kernel = KernelProblem.from_distances(D, form=form).kernel
    return kernel


def described_class(problem: KernelProblem) -> Any:
    """The label of the class that methods of one class describe; None without labels.

    It is the largest class, and of equally large ones the last, which of two is the positive one.

    >>> problem = KernelProblem(np.eye(4), ["bad", "good", "good", "bad"], task="one class")
    >>> str(described_class(problem))
    'good'
    """
    if problem.task != "one class" or problem.labels is None:
        return None
    sizes = [int(np.sum(problem.labels == label)) for label in problem.classes]
    return problem.classes[max(range(len(sizes)), key=lambda k: (sizes[k], k))]


def facts_of(problem: KernelProblem) -> dict[str, str]:
    """The points, labels and kernel of a problem, as texts for reports.

    >>> facts_of(KernelProblem(np.eye(3), [1, 1, -1], name="unit"))["points"]
    '3'
    """
    described = described_class(problem)
    if problem.task == "regression":
        labels = {"targets": problem.labels_in_words.removeprefix("targets ")}
    else:
        labels = {"classes": problem.labels_in_words} if problem.task == "classification" else {}
    return {
        "problem": problem.name,
        "points": str(problem.n),
        **({"table": str(problem.table)} if problem.table and problem.table.rows else {}),
        "kernel": problem.origin,
        "scaling": problem.scaling or "none",
        **labels,
        **({} if described is None else {"described class": problem.meaning(described)}),
    }


def training_problem(problem: KernelProblem) -> KernelProblem:
    """The problem itself, or for one class that of the points of the class that is described."""
    described = described_class(problem)
    if described is None or problem.classes.size == 1:
        return problem
    chosen = np.flatnonzero(problem.labels == described)
    part = problem.split(chosen, np.arange(0)).problem
    if part.X is None and problem.X is not None:
        part.X, part.kernel = problem.X[chosen], problem.kernel
        part.scaling, part._scaled = problem.scaling, problem._scaled
    return part
