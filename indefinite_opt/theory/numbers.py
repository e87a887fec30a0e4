"""Records of numbers, and least eigenvalues with a bound on their rounding."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from indefinite_opt.foundation import Array, one_thread
from indefinite_opt.quadratic import norm_bound, zero_tolerance


class Numbers:
    """The base of dataclasses that `print` shows as one number, or verdict, in each line.

    Arrays have `repr=False`, and are not shown.
    """

    def __str__(self) -> str:
        every = dataclasses.fields(self)  # type: ignore[arg-type]
        fields = [field.name for field in every if field.repr]
        derived = [name for name, kind in vars(type(self)).items() if isinstance(kind, property)]
        shown = [*fields, *derived]
        width = max(map(len, shown))
        return "\n".join(f"{name:<{width}}  {_text(getattr(self, name))}" for name in shown)


def _text(value: Any) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(map(_text, value))})"
    if value is None:
        return "not known"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


@dataclass(frozen=True)
class LeastEigenvalue:
    """The least eigenvalue of a matrix, and how much rounding may have changed it.

    Attributes
    ----------
    value : float
        For a matrix far from positive semidefinite possibly only an upper bound.
    rounding : float
        A value of at most this size may have either sign.

    Examples
    --------
    >>> least = LeastEigenvalue(-1e-16, rounding=1e-15)
    >>> least.positive, least.negative
    (False, False)
    """

    value: float
    rounding: float

    @property
    def positive(self) -> bool:
        """Whether the matrix is proved positive definite."""
        return self.value > self.rounding

    @property
    def negative(self) -> bool:
        """Whether the matrix is proved not to be positive semidefinite."""
        return self.value < -self.rounding

    def __str__(self) -> str:
        return f"{self.value:.4g} ± {self.rounding:.1g}"


def least_eigenvalue(matrix: Array, error: float = 0.0) -> LeastEigenvalue:
    """The least eigenvalue of a symmetric matrix known up to `error` in the spectral norm."""
    import scipy.linalg

    with one_thread():
        least = scipy.linalg.eigh(matrix, eigvals_only=True, subset_by_index=[0, 0])[0]
    rounding = zero_tolerance(len(matrix), norm_bound(matrix)) + error
    return LeastEigenvalue(float(least), rounding)
