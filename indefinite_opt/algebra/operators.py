"""Linear maps that are kept as sums of products of factors, and formed only where that is needed.

A factor is a matrix in any form: an array, a diagonal, one column, one row, or what another module
derives from `Factor`, such as the kernel matrix of a problem.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from indefinite_opt.errors import ProblemError
from indefinite_opt.foundation import Array, is_sparse


class Factor(ABC):
    """A matrix that can be multiplied by a vector."""

    shape: tuple[int, int]

    @abstractmethod
    def times(self, x: Array) -> Array:
        """The product with a vector."""

    @abstractmethod
    def dense(self) -> Array:
        """The matrix as an array, which callers must not write into."""

    def sparse(self) -> Any:
        """The matrix as a sparse array."""
        from scipy import sparse

        return sparse.csr_array(self.dense())

    def terms(self, x: Array) -> Array:
        """A bound on the sums of absolute terms in the product with a nonnegative vector."""
        sizes: Array = np.abs(self.dense()) @ x
        return sizes

    @property
    def T(self) -> Factor:
        """The transpose; a symmetric factor is its own."""
        return self

    def same(self, other: Factor) -> bool:
        """Whether the other factor is known to be the same matrix."""
        return self is other

    @property
    def content(self) -> tuple[Any, ...]:
        """What determines the matrix: arrays, and objects that never change."""
        return tuple(vars(self).values())


@dataclass(frozen=True, eq=False)
class MatrixFactor(Factor):
    """An array, dense or sparse, or its transpose."""

    array: Any
    turned: bool = False

    @property
    def _whole(self) -> Any:
        return self.array.T if self.turned else self.array

    @property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        rows, columns = self._whole.shape
        return rows, columns

    @property
    def T(self) -> MatrixFactor:
        return MatrixFactor(self.array, not self.turned)

    def times(self, x: Array) -> Array:
        return np.asarray(self._whole @ x)

    def dense(self) -> Array:
        whole = self._whole
        return whole.toarray() if is_sparse(whole) else np.asarray(whole)

    def sparse(self) -> Any:
        from scipy import sparse

        return sparse.csr_array(self._whole)

    def same(self, other: Factor) -> bool:
        if not isinstance(other, MatrixFactor) or other.turned != self.turned:
            return False
        if other.array is self.array:
            return True
        dense = not (is_sparse(self.array) or is_sparse(other.array))
        return dense and np.array_equal(self.array, other.array)


@dataclass(frozen=True, eq=False)
class DiagonalFactor(Factor):
    """diag(d)."""

    d: Array

    @property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        return self.d.size, self.d.size

    def times(self, x: Array) -> Array:
        return self.d * x

    def terms(self, x: Array) -> Array:
        return np.abs(self.d) * x

    def dense(self) -> Array:
        return np.diag(self.d)

    def sparse(self) -> Any:
        from scipy import sparse

        return sparse.diags_array(self.d, format="csr")

    def same(self, other: Factor) -> bool:
        return isinstance(other, DiagonalFactor) and np.array_equal(self.d, other.d)


@dataclass(frozen=True, eq=False)
class ColumnFactor(Factor):
    """A single column."""

    v: Array

    @property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        return self.v.size, 1

    @property
    def T(self) -> RowFactor:
        return RowFactor(self.v)

    def times(self, x: Array) -> Array:
        return self.v * float(np.ravel(x)[0])

    def dense(self) -> Array:
        return self.v[:, None]

    def same(self, other: Factor) -> bool:
        return isinstance(other, ColumnFactor) and np.array_equal(self.v, other.v)


@dataclass(frozen=True, eq=False)
class RowFactor(Factor):
    """A single row."""

    v: Array

    @property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        return 1, self.v.size

    @property
    def T(self) -> ColumnFactor:
        return ColumnFactor(self.v)

    def times(self, x: Array) -> Array:
        return np.array([self.v @ x])

    def dense(self) -> Array:
        return self.v[None, :]

    def same(self, other: Factor) -> bool:
        return isinstance(other, RowFactor) and np.array_equal(self.v, other.v)


@dataclass(frozen=True, eq=False)
class Operator:
    """Σ_k c_k F_k1 F_k2 ..., a matrix that behaves as an array where one is asked for.

    >>> A = Operator.of(DiagonalFactor(np.array([1.0, 2.0]))) + Operator.identity(2)
    >>> A @ np.ones(2), np.asarray(2.0 * A).tolist()
    (array([2., 3.]), [[4.0, 0.0], [0.0, 6.0]])
    """

    shape: tuple[int, int]
    terms: tuple[tuple[float, tuple[Factor, ...]], ...]
    """The coefficients and factors; a term without factors is a multiple of the identity."""

    __array_ufunc__ = None  # numpy leaves sums and products with operators to their methods
    ndim = 2

    @classmethod
    def of(cls, *factors: Factor) -> Operator:
        """The product of some factors, at least one."""
        return cls((factors[0].shape[0], factors[-1].shape[1]), ((1.0, factors),))

    @classmethod
    def identity(cls, n: int, multiple: float = 1.0) -> Operator:
        """A multiple of the identity."""
        return cls((n, n), ((multiple, ()),))

    @classmethod
    def zero(cls, rows: int, columns: int) -> Operator:
        return cls((rows, columns), ())

    @property
    def T(self) -> Operator:
        turned = tuple((c, tuple(f.T for f in reversed(factors))) for c, factors in self.terms)
        return Operator(self.shape[::-1], turned)

    def scaled(self, multiple: float) -> Operator:
        if multiple == 1.0:
            return self
        terms = tuple((multiple * c, factors) for c, factors in self.terms if multiple)
        return Operator(self.shape, terms)

    def __mul__(self, multiple: Any) -> Any:
        if np.ndim(multiple) > 0:
            return self.dense() * multiple
        return self.scaled(float(multiple))

    __rmul__ = __mul__

    def __truediv__(self, divisor: float) -> Operator:
        return self.scaled(1.0 / float(divisor))

    def __neg__(self) -> Operator:
        return self.scaled(-1.0)

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, Operator):
            return self.dense() + other
        if self.shape != other.shape:
            raise _mismatch("+", self, other)
        terms = list(self.terms)
        for coefficient, factors in other.terms:
            for k, (c, own) in enumerate(terms):
                alike = len(own) == len(factors)
                if alike and all(a.same(b) for a, b in zip(own, factors, strict=True)):
                    terms[k] = (c + coefficient, own)
                    break
            else:
                terms.append((coefficient, factors))
        return Operator(self.shape, tuple(term for term in terms if term[0] != 0.0))

    def __radd__(self, other: Any) -> Any:
        return self.dense() + other

    def __sub__(self, other: Any) -> Any:
        return self + (-other)

    def __rsub__(self, other: Any) -> Any:
        return other - self.dense()

    def __matmul__(self, other: Any) -> Any:
        if not isinstance(other, Operator):
            return self.times(other) if np.ndim(other) == 1 else self.dense() @ other
        if self.shape[1] != other.shape[0]:
            raise _mismatch("@", self, other)
        total = Operator.zero(self.shape[0], other.shape[1])
        for a, left in self.terms:
            for b, right in other.terms:
                coefficient, factors = _joined(a * b, left, right)
                if coefficient:
                    total = total + Operator(total.shape, ((coefficient, factors),))
        return total

    def __rmatmul__(self, other: Any) -> Any:
        return self.T.times(other) if np.ndim(other) == 1 else other @ self.dense()

    def times(self, x: Array) -> Array:
        """The product with a vector."""
        if x.shape != self.shape[1:]:
            raise _mismatch("@", self, x)
        total = np.zeros(self.shape[0])
        for c, factors in self.terms:
            image = x
            for factor in reversed(factors):
                image = factor.times(image)
            total += image if c == 1.0 else c * image
        return total

    def sizes(self, x: Array) -> Array:
        """A bound on the sums of absolute terms in the product with a nonnegative vector."""
        total = np.zeros(self.shape[0])
        for c, factors in self.terms:
            image = x
            for factor in reversed(factors):
                image = factor.terms(image)
            total += abs(c) * image
        return total

    def dense(self) -> Array:
        """The matrix as a new array."""
        total = np.zeros(self.shape)
        for c, factors in self.terms:
            if not factors:
                total[np.diag_indices(self.shape[0])] += c
                continue
            made: Any = None
            for factor in factors:
                if made is None:
                    made = factor
                elif isinstance(factor, DiagonalFactor):  # scales columns, without a product
                    made = (made.dense() if isinstance(made, Factor) else made) * factor.d
                elif isinstance(made, DiagonalFactor):
                    made = made.d[:, None] * factor.dense()
                else:
                    made = (made.dense() if isinstance(made, Factor) else made) @ factor.dense()
            total += c * (made.dense() if isinstance(made, Factor) else made)
        return total

    def sparse(self) -> Any:
        """The matrix as a sparse array."""
        from scipy import sparse

        total = sparse.csr_array(self.shape)
        for c, factors in self.terms:
            made: Any = None if factors else sparse.eye_array(self.shape[0], format="csr")
            for factor in factors:
                whole = factor.sparse()
                made = whole if made is None else made @ whole
            total = total + c * made
        return sparse.csr_array(total)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.asarray(self.dense(), dtype=dtype)

    @property
    def multiple(self) -> float | None:
        """c, if this is written as c·I; None if not."""
        if not self.terms:
            return 0.0
        return self.terms[0][0] if len(self.terms) == 1 and not self.terms[0][1] else None

    @property
    def diagonal(self) -> Array | None:
        """d, if this is written as diag(d); None if not."""
        if self.shape[0] != self.shape[1]:
            return None
        if self.shape[0] == 1:
            return self.times(np.ones(1))
        d = np.zeros(self.shape[0])
        for c, factors in self.terms:
            if not factors:
                d += c
            elif len(factors) == 1 and isinstance(factors[0], DiagonalFactor):
                d += c * factors[0].d
            else:
                return None
        return d

    @property
    def row(self) -> Array:
        """The row of a (1, n) operator."""
        return self.T.times(np.ones(1))

    @property
    def column(self) -> Array:
        """The column of an (m, 1) operator."""
        return self.times(np.ones(1))


def _mismatch(sign: str, left: Operator, right: Operator | Array) -> ProblemError:
    return ProblemError("shapes", "those of one formula", f"{left.shape} {sign} {right.shape}")


def _joined(
    coefficient: float, left: tuple[Factor, ...], right: tuple[Factor, ...]
) -> tuple[float, tuple[Factor, ...]]:
    """The product of two terms, simplified where they meet."""
    head, tail = list(left), list(right)
    while head and tail:
        a, b = head[-1], tail[0]
        if isinstance(a, DiagonalFactor) and isinstance(b, DiagonalFactor):
            head.pop()
            tail.pop(0)
            d = a.d * b.d
            if d.size and np.all(d == d[0]):
                coefficient *= float(d[0])
                continue
            head.append(DiagonalFactor(d))
            break
        if isinstance(a, DiagonalFactor) and isinstance(b, ColumnFactor):
            head.pop()
            tail[0] = ColumnFactor(a.d * b.v)
        elif isinstance(a, RowFactor) and isinstance(b, DiagonalFactor):
            tail.pop(0)
            head[-1] = RowFactor(a.v * b.d)
        elif isinstance(a, RowFactor) and isinstance(b, ColumnFactor):
            coefficient *= float(a.v @ b.v)
            head.pop()
            tail.pop(0)
        else:
            break
    return coefficient, (*head, *tail)
