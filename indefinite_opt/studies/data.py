"""The data of a study: labelled points, similarities or distances, and the kernel made of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any

from numpy.typing import NDArray

from indefinite_opt.errors import ParameterError
from indefinite_opt.foundation import cached_property
from indefinite_opt.problem import (
    ConfidenceProblem,
    Kernel,
    KernelProblem,
    Split,
    datasets,
    kernels,
)
from indefinite_opt.problem.datasets import Dataset

HeldOut = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]
"""K_new, the new labels and K_new_new; the last one is empty if it is not given."""

Source = str | Dataset | KernelProblem | Callable[[Kernel | None], KernelProblem]


@dataclass(eq=False)
class Data:
    """Labelled data, and how kernel problems are made of them.

    Parameters
    ----------
    source : str, Dataset, KernelProblem or callable
        A name as in `datasets.load`, which is read where the data are used; a data set; a problem;
        or a function of the kernel, None for the default, that makes a problem, for everything
        else. Such a function must be importable by other processes.
    kernel : str or Kernel, optional
        The kernel where a grid names none. By default that of the problem or of the data set.
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
    kernel: str | Kernel | None = None
    options: dict[str, Any] = field(default_factory=dict)
    test: HeldOut | None = None

    def __post_init__(self) -> None:
        if self.options and not isinstance(self.source, str | Dataset):
            expected = "none for a problem, which is made already"
            raise ParameterError("options", expected, ", ".join(self.options))
        if self.kernel is not None:
            kernels.get(self.kernel)

    @cached_property
    def problem(self) -> KernelProblem:
        """The problem of all data with the default kernel."""
        return self.with_kernel(None)

    @property
    def y(self) -> NDArray[Any]:
        """The labels as two numbers, the larger one for +1, (n,)."""
        given = self._loaded
        return given.y if isinstance(given, Dataset | KernelProblem) else self.problem.y

    @cached_property
    def _loaded(self) -> Any:
        return datasets.load(self.source) if isinstance(self.source, str) else self.source

    def with_kernel(self, kernel: Kernel | None) -> KernelProblem:
        """The problem of all data with a kernel, or with the default one.

        Raises
        ------
        ParameterError
            If the data are similarities, or a problem without points, which have no other kernel.
        """
        given = self._loaded
        chosen = kernel if kernel is not None or self.kernel is None else kernels.get(self.kernel)
        if isinstance(given, Dataset):
            if chosen is None or given.X is not None:
                return KernelProblem.from_dataset(given, chosen, **self.options)
            if given.D is not None and isinstance(chosen, kernels.DistanceSubstitution):
                return KernelProblem.from_distances(
                    given.D, given.y, chosen.form, gamma=chosen.gamma, name=given.name
                )
        elif not isinstance(given, KernelProblem):
            return given(chosen)
        elif chosen is None:
            return given
        elif given.X is not None and not isinstance(given, ConfidenceProblem):
            return KernelProblem.from_data(
                given.X, given.labels, chosen, scaling=given.scaling, cache_mb=given.cache_mb,
                name=given.name,
            )  # fmt: skip
        expected = f"none for {given.name}, which is not made of points"
        raise ParameterError(
            "kernel", expected, str(chosen), "Distances take distance(form=gaussian, gamma=1)."
        )

    def split(self, problem: KernelProblem, train: NDArray[Any], test: NDArray[Any]) -> Split:
        """The training problem and the test rows of a division; see `test` for an empty one."""
        if self.test is not None and not test.size:
            K_new, labels, among = self.test
            return Split(problem, K_new, labels, lambda: among)
        return problem.split(train, test)

    @cached_property
    def digest(self) -> str:
        """A digest of everything that determines the problems, but for the kernels of a grid."""
        import joblib

        given = self._loaded
        if isinstance(given, Dataset):
            content: list[Any] = [given.y, given.X, given.K, given.D, str(given.kernel)]
        else:
            problem = self.problem
            # Points of another scale may have the same kernel matrix.
            content = [problem.y, problem.classes, problem.X, problem.scaling, str(problem.kernel)]
            content += problem.gram.content()
            if isinstance(problem, ConfidenceProblem):  # K is only the symmetric part
                content.append(problem.directed)
        digest: str = joblib.hash(
            [content, str(self.kernel), sorted(self.options.items()), self.test]
        )
        return digest

    def __getstate__(self) -> dict[str, Any]:
        # What is derived is derived again in other processes, but for the digest.
        state = {field.name: getattr(self, field.name) for field in fields(self)}
        return {**state, "digest": self.digest}
