"""The least squares of a Krein space: a quadratic program whose matrix is a square."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from indefinite_opt.foundation import Array
from indefinite_opt.quadratic.programs.paired_qp import PairedQP, kernel_qp


@dataclass(frozen=True, eq=False)
class KreinLeastSquares(PairedQP):
    """F(x) + n = ‖Gx - e‖² on a box with a line, a `PairedQP` on the kernel K².

    H = 2G² and c = -2Ge, and F omits the constant eᵀe = n. One solver reads G instead of G²; all
    others solve it as a quadratic program.
    """

    title = "the least squares of KSVM"
    source: Any = field(kw_only=True)
    """The `KernelProblem` with the kernel K; that of `problem` is K²."""

    @classmethod
    def of(cls, problem: Any, C: float, linear: Array | None = None) -> KreinLeastSquares:
        """min ‖Gx - e‖² on 0 ≤ x ≤ C and yᵀx = 0; -2Ge is computed unless it is given."""
        if linear is None:
            linear = -2.0 * problem.y * problem.gram.times(problem.y)
        qp = kernel_qp(problem.squared(), 2.0, linear, C)
        return cls(**vars(qp) | {"constant": float(problem.n), "source": problem})  # eᵀe

    @property
    def plain(self) -> KreinLeastSquares:
        return self  # its residuals are accurate

    def without_constant(self) -> KreinLeastSquares:
        plain = self.source.without_constant()
        return self if plain is self.source else self.of(plain, float(self.feasible.upper))

    def hessian_times(self, x: Array) -> Array:
        """Hx = 2G(Gx), by two products with K, so that claims do not depend on the computed K²."""
        y, gram = self.problem.y, self.source.gram
        return self.hessian * y * gram.times(gram.times(y * x))
