"""Quadratic programs of any curvature in which every variable is in at most one equality row."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import singledispatch
from typing import Any

import numpy as np

from indefinite_opt.core import descent as loops
from indefinite_opt.errors import InfeasibleProblem, UnboundedProblem
from indefinite_opt.foundation import EPS, Array, Values, cached_property, one_thread
from indefinite_opt.quadratic.matrices.gram import Gram
from indefinite_opt.quadratic.matrices.spectrum import negative_direction
from indefinite_opt.quadratic.matrices.units import in_own_units
from indefinite_opt.quadratic.programs.gaps import CANCELLED
from indefinite_opt.quadratic.programs.paired_box import PairedBox
from indefinite_opt.quadratic.programs.paired_program import PairedProgram
from indefinite_opt.quadratic.programs.program import Point, Spelling
from indefinite_opt.quadratic.programs.qp import QP


@dataclass(frozen=True, eq=False)
class PairedQP(PairedProgram, QP):
    """min F(x) = ½ xᵀHx + cᵀx on a `PairedBox`: what compiled pair steps can solve.

    H = h·ssᵀ∘K with h > 0, a symmetric matrix K of any inertia, which is stored as a whole or
    computed row by row, and the signs s of the constraints.

    It is the program of a kernel problem, whose labels are the signs: `kernel_qp` makes one. What
    theorems and decompositions say about K is then asked of the problem. Or it is that of any rows
    without common variables; `as_paired` makes it for descents.

    Where it `is_split`, x = (β₊, β₋) are the parts of the declared β = β₊ - β₋ in

        ½hβᵀKβ + cᵀβ + ε‖β‖₁ on -u ≤ β ≤ u with eᵀβ = 0, and ‖β‖₁ ≤ t or without that row,

    with the labels (e, -e), and K in each of four blocks. That is the same program for **every** K.
    H is 0 along directions that change both parts alike: without t the least eᵀx for a given β is
    ‖β‖₁. With t and ε = 0 the row becomes eᵀx = t, as both parts can grow by the same amount until
    it holds: their sum reaches 2nu - ‖β‖₁ ≥ t, because t ≤ nu.
    """

    title = "a quadratic program on a box with line constraints"

    gram: Gram
    """K."""
    linear: float | Array
    """c, a number for all variables or one per variable."""
    feasible: PairedBox
    hessian: float = 1.0
    """h."""
    problem: Any = field(default=None, repr=False)
    """The `KernelProblem` with the matrix K and the labels s, or None."""
    sense: int = 1
    constant: float = 0.0
    variable: str = "z"
    is_split: bool = False
    spelled: Mapping[str, Spelling] = field(default_factory=dict)

    def on(self, problem: Any) -> PairedQP:
        """The same program with the matrix of another problem with the same labels."""
        return replace(self, problem=problem, gram=problem.gram)

    # ------------------------------------------------------------------------------- values

    def hessian_times(self, x: Array) -> Array:
        """Hx in O(n · nonzeros of x)."""
        return self.hessian * self.feasible.signs * self.gram.times(self.feasible.signs * x)

    def H(self) -> Array:
        dense: Array = self.gram.matrix * (self.hessian * self.feasible.signs)[:, None]
        dense *= self.feasible.signs
        return dense

    def value(self, x: Array, gradient: Array | None = None) -> float:
        slope = self.gradient(x) if gradient is None else gradient
        return 0.5 * float(self.least(x) @ (slope + self.linear))

    def _linear_value(self, x: Array) -> float:
        """cᵀx."""
        return float(np.sum(self.linear * self.least(x)))

    def at(self, x: Array, gradient: Array | None = None) -> Point[Array]:
        """F by the `plain` program, and for a linear kernel by its points; and ∇F.

        If a point misses the lines by more than rounding, F is that of this program, which
        includes what the constant adds.
        """
        point, plain = super().at(x, gradient), self.plain
        if self.problem is None:
            return point
        if plain is not self and self.infeasibility(x) > self.n * EPS:
            plain = self
        points = plain.problem.features
        if points is not None:
            with one_thread():
                w = (plain.feasible.signs * x) @ points
            value = 0.5 * self.hessian * float(w @ w) + plain._linear_value(x)
        elif plain is not self:
            value = plain.value(x)
        else:
            return point
        return Point(x, value, point.gradient)

    @cached_property
    def pairs(self) -> loops.PairProgram:
        """The program as pair steps take it; without rows of K where they are computed."""
        gram, box, n = self.gram, self.feasible, self.n
        rows = np.empty((0, n)) if gram.on_demand else gram.matrix
        signs, lower, upper = (
            np.full(n, each, np.float64) for each in (box.signs, box.lower, box.upper)
        )
        return loops.PairProgram(
            rows, gram.diagonal, self.hessian, signs, box.group, box.totals.size, lower, upper
        )

    def arrays(self) -> Values:
        """H, q, A, b, lower, upper and sense of min ½xᵀHx + qᵀx s.t. Ax = b, lower ≤ x ≤ upper.

        With the constant, if there is one.
        """
        lower, upper, b, _, A = self.feasible.constraints
        q, sense = np.full(self.n, self.linear), np.array(float(self.sense))
        constant = {"constant": np.array(self.constant)} if self.constant else {}
        return constant | {
            "H": self.H(), "q": q, "A": A, "b": b, "lower": lower, "upper": upper, "sense": sense
        }  # fmt: skip

    # ---------------------------------------------------------------- x and declared variables

    @property
    def _half(self) -> int:
        """Number of the weights β of a program that is split."""
        return self.n // 2

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        return {self.variable: (self._half if self.is_split else self.n,)}

    def values(self, x: Array) -> Values:
        if self.is_split:
            x = x[: self._half] - x[self._half :]
        return {self.variable: x}

    def from_values(self, values: Values) -> Array:
        if not self.is_split:
            return values[self.variable]
        sizes = np.abs(values[self.variable])
        missing = self.feasible.total - float(sizes.sum())
        if missing <= 0.0:
            return least_parts(self, values)
        room = np.maximum(float(self.feasible.upper) - sizes, 0.0)
        both = np.minimum(room * (0.5 * missing / (float(room.sum()) or 1.0)), room)
        return least_parts(self, values) + np.tile(both, 2)

    def least(self, x: Array) -> Array:
        """x; where the parts of β have to sum to t, without what both have in common.

        As ε = 0, that changes F by its rounding only.
        """
        if not (self.is_split and self.feasible.total):
            return x
        common = np.minimum(x[: self._half], x[self._half :])
        return x - np.tile(common, 2)

    # ------------------------------------------------------------------ constants in the kernel

    @property
    def _is_balanced(self) -> bool:
        """Whether sᵀx = 0, so that a constant in K has no effect."""
        box = self.feasible
        return box.has_classes or (box.lines == 1 and not box.total)

    def without_constant(self) -> PairedQP:
        """The same F on the lines, where K has no large constant; see `KernelProblem`."""
        plain = self.problem.without_constant() if self._is_balanced else self.problem
        return self if plain is self.problem else self.on(plain)

    @property
    def plain(self) -> PairedQP:
        """The same F on the feasible set, without terms of a constant in K that cancel.

        The sum of v = s∘x is fixed. Where it is 0, a constant has no effect. Where it is t, one of
        c adds ½hct² = ½hct·eᵀx; and for the linear term -½ht·diag(K) of a smallest ball it has no
        effect, either. Points are centred, as K has already lost digits of their products. Without
        such terms it is this program.
        """
        return self if self._plain is None else self._plain

    @cached_property
    def _plain(self) -> PairedQP | None:
        """`plain`, None for this program: one that refers to itself would outlive its last use."""
        constant = 0.0 if self.problem is None else self.problem.constant
        if not constant or not (self._is_balanced or self.feasible.lines == 1):
            return None
        centred, half = self.problem.centred_points(), 0.5 * self.hessian * self.feasible.total
        if self._is_balanced:
            return self.on(centred or self.problem.without_constant())
        if centred is not None:
            if np.array_equal(self.linear, -half * self.gram.diagonal):
                return replace(self.on(centred), linear=-half * centred.gram.diagonal)
            return None
        plain = self.on(self.problem.without_constant())
        return replace(plain, linear=self.linear + half * constant)

    # ------------------------------------------------------------------------------ convexity

    @property
    def is_convex(self) -> bool:
        """Whether F is convex along the constraints, up to rounding."""
        if self.problem is None:
            return self._is_psd_along_lines
        # Beside a large constant, curvature of any size would pass for rounding.
        return self.known_convex or self.plain.without_constant().problem.is_convex(
            self.feasible.lines
        )

    @cached_property
    def _is_psd_along_lines(self) -> bool:
        """`is_convex` without a kernel problem, which is accurate enough to end a search."""
        box = self.feasible
        k, held = box.totals.size, box.group < box.totals.size
        normals = np.zeros((self.n, k))
        normals[np.flatnonzero(held), box.group[held]] = 1.0
        matrix = self.gram.block(np.arange(self.n), np.arange(self.n))
        matrix, rows = in_own_units(matrix, normals.T)
        normals = rows.T / np.linalg.norm(rows, axis=1)
        return negative_direction(matrix, normals if k else None) is None

    @property
    def known_convex(self) -> bool:
        if self.problem is None:
            return bool(self.__dict__.get("_is_psd_along_lines", False))
        return bool(self.problem.known_convex(self.feasible.lines))

    @property
    def is_psd(self) -> bool:
        return bool(self.problem.is_convex(lines=0))

    def _psd_form(self) -> tuple[Array, Array, float]:
        plain = self.without_constant()
        return super()._psd_form() if plain is self else plain._psd_form()

    def cvxpy_objective(self, variables: Mapping[str, Any]) -> Any:
        if not (self.is_split and self.is_convex):
            return super().cvxpy_objective(variables)
        import cvxpy as cp

        # The sums of both parts are fixed, so that the first block is K made convex on eᵀβ = 0.
        H, _, constant = self._psd_form()
        n, beta, c = self._half, variables[self.variable], np.asarray(self.linear)
        form = 0.5 * cp.quad_form(beta, cp.psd_wrap(H[:n, :n])) + 0.5 * (c[:n] - c[n:]) @ beta
        epsilon = 0.5 * float(c[0] + c[n])
        return self.sense * (form + epsilon * cp.norm1(beta) + constant)

    # ------------------------------------------------------------------------------ existence

    def refuse_without_optimum(self) -> None:
        """Raise `UnboundedProblem` if a weight, or a pair of them, proves it, without upper bounds.

        Along a weight, or a pair of opposite classes on the line yᵀx = 0, F is ½ct² + at with the
        curvature c and the slope a; it falls without end for c < 0, and for c = 0 and a < 0.
        `InfeasibleProblem` if an upper bound is negative, or a class cannot sum to t/2.
        """
        box = self.feasible
        least = float(np.min(box.upper))
        if least < 0.0:
            raise InfeasibleProblem("upper", "at least 0, the lower bound", repr(least))
        if box.total:
            weight, members = box.least_filled
            if weight > members * float(box.upper) * (1.0 + 1e-12):
                among = "the smaller class, of size" if box.lines == 2 else "all points,"
                raise InfeasibleProblem(
                    "upper", f"at least {weight / members!r} = {weight:g}/{members}",
                    repr(float(box.upper)),
                    f"Otherwise the weights of {among} {members}, cannot sum to {weight:g}.",
                )  # fmt: skip
        elif np.any(np.isinf(box.upper)):
            (_refuse_weight if box.lines == 0 else _refuse_pair)(self)

    @property
    def solved_as(self) -> str:
        lines = ("", " with one equation", " with two equations")[self.feasible.lines]
        return f"a quadratic program on a box{lines}, by {self.usual_solver}"

    # ---------------------------------------------------------------------------------- units

    @cached_property
    def linear_size(self) -> float:
        """max |c|."""
        c = self.linear
        return abs(c) if isinstance(c, float | int) else float(np.abs(c).max())

    def gradient_unit(self, gradient: Array) -> float:
        """Size relative to which a KKT residual is judged.

        With a linear term it is max |c| (the margin 1 of an SVM), but at least 1e-6 of the
        gradient, below which rounding would decide. Without one it is the size of the gradient, but
        at least `CANCELLED` times its largest possible size, as it vanishes if two hulls meet.
        Where no kernel problem says what c is, it is the larger of both sizes.
        """
        largest = float(np.abs(gradient - self.linear).max())
        if self.problem is None:
            return max(self.linear_size, largest) or 1.0
        if self.linear_size > 0.0:
            return max(self.linear_size, 1e-6 * largest)
        # |(Hx)_i| at most, up to the multipliers of the lines; as sᵀx = 0 with two lines, a
        # constant in K has no effect.
        steepest = self.hessian * self.problem.spread * self.feasible.total
        return max(largest, CANCELLED * steepest) or 1.0


def least_parts(qp: PairedQP, values: Values) -> Array:
    """The x of least sum that stands for some values, whatever the sum has to be."""
    if not qp.is_split:
        return values[qp.variable]
    beta = np.asarray(values[qp.variable], dtype=float)
    return np.maximum(np.concatenate([beta, -beta]), 0.0)


@singledispatch
def differs_in_upper_bounds(qp: QP, other: QP | None) -> bool:
    """Whether all else is known to be as in the other program."""
    return False


@differs_in_upper_bounds.register
def _(qp: PairedQP, other: QP | None) -> bool:
    return (
        isinstance(other, PairedQP)
        and other.problem is qp.problem
        and other.hessian == qp.hessian
        and np.array_equal(other.feasible.totals, qp.feasible.totals)
        and other.feasible.has_classes == qp.feasible.has_classes
        and np.array_equal(other.linear, qp.linear)
    )


def kernel_qp(
    problem: Any, hessian: float, linear: float | Array, upper: float | Array, lines: int = 1,
    total: float = 0.0, sense: int = 1, variable: str = "alpha",
) -> PairedQP:  # fmt: skip
    """min ½h xᵀQx + cᵀx  s.t.  0 ≤ x ≤ u, with Q_ij = y_i y_j K_ij of a kernel problem.

    Parameters
    ----------
    problem : KernelProblem
        Has K and y; nothing is copied.
    hessian : float
        h > 0.
    linear, upper : float or (n,) array
        c, and u, which may be infinite if it is a number, and an array only where the sum of x is
        not fixed.
    lines : {0, 1, 2}
        Number of equations: none; yᵀx = 0, or eᵀx = t without labels; or yᵀx = 0 and eᵀx = t.
    total : float
        t > 0, or 0 where the sum of x is not fixed.
    """
    y, half = problem.y, 0.5 * total
    names = ("total",) if lines == 1 and total else ("balance", "total")[:lines]
    group = (y < 0).astype(np.int64) * (lines == 2)
    totals = np.array([half, -half] if lines == 2 else [total][:lines])
    box = PairedBox(y, group, totals, 0.0, upper, names, has_classes=lines == 2)
    return PairedQP(problem.gram, linear, box, hessian, problem, sense, variable=variable)


def svm_dual(
    problem: Any, C: float | Array, *, lines: int = 1, variable: str = "alpha"
) -> PairedQP:
    """The dual of a support vector machine, max eᵀx - ½xᵀQx on 0 ≤ x ≤ C, as a minimum.

    C is a number, or has an entry per point.
    """
    return kernel_qp(problem, 1.0, -1.0, C, lines, sense=-1, variable=variable)


def hull_dual(problem: Any, mu: float) -> PairedQP:
    """The nearest points of two convex hulls reduced by mu, max -xᵀQx, as a minimum."""
    return kernel_qp(problem, 2.0, 0.0, mu, 2, 2.0, sense=-1, variable="alphabar")


def _refuse_weight(qp: PairedQP) -> None:
    """Raise `UnboundedProblem` if F falls without end along a single weight."""
    diagonal, slope = qp.gram.diagonal, np.full(qp.n, qp.linear)
    endless = np.isinf(np.full(qp.n, qp.feasible.upper))
    endless &= (diagonal < 0.0) | ((diagonal == 0.0) & (slope < 0.0))
    if not endless.any():
        return
    worst = int(np.argmin(np.where(endless, diagonal, np.inf)))
    raise UnboundedProblem(
        f"without an upper bound and without a bias the program is unbounded: K[{worst}, {worst}] "
        f"= {diagonal[worst]:.6g} ≤ 0, so the objective is unbounded along that weight (Lin & "
        "Lin 2003, Theorem 10). Use a finite C, or a smaller one.",
        np.where(np.arange(qp.n) == worst, 1.0, 0.0),
    )


def _refuse_pair(qp: PairedQP) -> None:
    """Raise `UnboundedProblem` if F falls without end along two weights of opposite classes."""
    diagonal, slope, y = qp.gram.diagonal, np.full(qp.n, qp.linear), qp.feasible.signs
    free = np.isinf(np.full(qp.n, qp.feasible.upper))
    positive, negative = np.flatnonzero(free & (y > 0)), np.flatnonzero(free & (y < 0))
    for i in positive if negative.size else ():
        crossed = qp.gram.block(np.array([i]), negative)[0]
        squared = diagonal[i] + diagonal[negative] - 2.0 * crossed
        closest = np.flatnonzero(squared <= 0.0)
        for k in closest[np.argsort(squared[closest], kind="stable")].tolist():
            j, both = int(negative[k]), float(crossed[k])
            # Where terms cancel, the sign of a rounded sum proves nothing; that of fsum is exact.
            exact = math.fsum([diagonal[i], diagonal[j], -both, -both])
            if exact < 0.0 or (exact == 0.0 and math.fsum([slope[i], slope[j]]) < 0.0):
                raise UnboundedProblem(
                    f"without an upper bound the program is unbounded: points {i} and {j} of "
                    f"opposite classes have K_ii + K_jj - 2K_ij = {exact:.6g} ≤ 0, so the "
                    "objective is unbounded along that pair (Lin & Lin 2003, Theorem 5). Use "
                    "a finite C, or a smaller one.",
                    np.where(np.isin(np.arange(qp.n), [int(i), j]), 1.0, 0.0),
                )
