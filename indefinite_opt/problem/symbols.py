"""The symbols of a kernel problem in a model: its kernel by reference, its labels, and numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from indefinite_opt.algebra import ColumnFactor, DiagonalFactor, Factor, Operator, RowFactor
from indefinite_opt.foundation import Array
from indefinite_opt.problem.labelled_kernel import LabelledKernel


@dataclass(frozen=True, eq=False)
class KernelFactor(Factor):
    """The kernel matrix of a problem, which products read and nothing here forms."""

    problem: Any

    @property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        return self.problem.n, self.problem.n

    def times(self, x: Array) -> Array:
        return self.problem.gram.times(np.ascontiguousarray(x, dtype=float))

    def dense(self) -> Array:
        return self.problem.K

    def terms(self, x: Array) -> Array:
        return np.full(self.problem.n, self.problem.gram.largest * float(x.sum()))

    def same(self, other: Factor) -> bool:
        return isinstance(other, KernelFactor) and other.problem.gram is self.problem.gram

    @property
    def content(self) -> tuple[Any, ...]:
        return self.problem, self.problem.gram, self.problem.y


def kernel(problem: LabelledKernel) -> Operator:
    """K by reference."""
    return Operator.of(KernelFactor(problem))


def _signed_kernel(problem: LabelledKernel) -> Operator:
    signs = DiagonalFactor(problem.y)
    return Operator.of(signs, KernelFactor(problem), signs)


def _directed(problem: LabelledKernel) -> Array:
    return problem.gram.directed * np.outer(problem.y, problem.y)


def _squared_distances(problem: LabelledKernel) -> Operator:
    d, e = problem.gram.diagonal, np.ones(problem.n)
    ends = Operator.of(ColumnFactor(d), RowFactor(e)) + Operator.of(ColumnFactor(e), RowFactor(d))
    found: Operator = kernel(problem).scaled(-2.0) + ends
    return found


SYMBOLS: dict[str, Callable[[LabelledKernel], Any]] = {
    "K": kernel,
    "K0": kernel,
    "Q": _signed_kernel,
    "G": _signed_kernel,
    "H": _directed,
    "D2": _squared_distances,
    "y": lambda problem: problem.y,
    "e": lambda problem: np.ones(problem.n),
}
"""What makes each symbol of a problem; see `KernelProblem.symbols`."""
