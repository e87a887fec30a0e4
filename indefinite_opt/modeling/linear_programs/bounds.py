"""Units, feasible points and bounds of the two large linear programs.

A bound holds for any multipliers, and includes the rounding of its own computation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from indefinite_opt.foundation import EPS, TILE_ENTRIES, Array, Values, power_near, tiles
from indefinite_opt.modeling.linear_programs.linear_program import Units
from indefinite_opt.modeling.structures.box_line import cheapest
from indefinite_opt.problem import KernelProblem
from indefinite_opt.quadratic import CANCELLED, project_line

_MIN_REDUCTION = 8.0
"""Factor by which a shift of a matrix must reduce its largest entry to be used: it gains three bits
of the entries."""

_MAX_ROUNDING = 1e-8
"""Relative rounding of a bound beyond which it is also computed from a shifted matrix, and in the
longest floating-point format there is: a hundredth of the default tolerance."""


@dataclass(frozen=True, eq=False)
class KernelUnits(Units):
    """u = scale∘u' and b = b' - levelᵀu: each column of K minus its level, times its scale."""

    scale: Array
    level: Array

    def signed_kernel(self, problem: KernelProblem) -> Array:
        """y∘K in these units, a new (n, n) array."""
        signed = problem.K - self.level
        signed *= self.scale
        signed *= problem.y[:, None]
        return signed

    def read(self, values: Values) -> Values:
        u = self.scale * values["u"]
        return values | {"u": u, "b": values["b"] - self.level @ u}

    def write(self, values: Values) -> Values:
        u = values["u"]
        return values | {"u": u / self.scale, "b": values["b"] + self.level @ u}


@dataclass(frozen=True, eq=False)
class OneNormMachine:
    """min ‖u‖₁ + C eᵀξ  s.t.  y∘(Ku + be) ≥ e - ξ,  ξ ≥ 0."""

    problem: KernelProblem
    C: float

    def natural_units(self) -> KernelUnits:
        """The units of the problem as it stands."""
        return KernelUnits(np.ones(self.problem.n), np.zeros(self.problem.n))

    def units(self) -> KernelUnits:
        """Units in which the largest entry of K is about 1, that of each column at least 1/8."""
        problem, K = self.problem, self.problem.K
        sizes, level = np.abs(K).max(axis=0), K.mean(axis=0)
        spreads = np.abs(K - level).max(axis=0)
        # The rounding of a constant column does not count as spread.
        steep = (_MIN_REDUCTION * spreads < sizes) & (spreads > problem.n * EPS * sizes)
        wanted = np.where(steep, spreads, sizes)
        largest = float(wanted.max())
        # Columns of similar sizes keep a common unit, and thus equal multipliers, as in the
        # problem.
        wanted = np.where(wanted >= largest / 8.0, largest, wanted)
        return KernelUnits(1.0 / power_near(wanted), np.where(steep, level, 0.0))

    def repaired(self, values: Values) -> Values:
        """The same u and b with the least feasible slacks."""
        margins = self.problem.y * (self.problem.gram.times(values["u"]) + values["b"])
        return values | {"xi": np.maximum(1.0 - margins, 0.0)}

    def bound(self, margin: Array) -> float:
        """eᵀλ after λ is clipped to [0, C], balanced between classes, and scaled into the dual.

        yᵀλ = 0 then holds exactly, and the rounding of the products with K is allowed for.
        """
        problem = self.problem
        lam = _balanced(np.clip(margin, 0.0, self.C), problem.y)
        total = float(lam.sum())
        signed, terms = problem.y * lam, (problem.n + 4) * total
        sums, error = np.abs(problem.K @ signed), terms * EPS * problem.largest
        largest = float(sums.max())
        if error <= _MAX_ROUNDING * max(1.0, largest):
            return _scaled(total, largest + error)
        # Only these columns of K may decide. As yᵀλ = 0, any number may be subtracted from one.
        decisive = np.flatnonzero(sums + error > max(1.0, largest - error))
        reached = min(1.0, largest + error)
        for part in tiles(decisive.size, TILE_ENTRIES // problem.n):
            columns = problem.K[decisive[part]].astype(np.longdouble)
            columns -= columns.mean(axis=1)[:, None]
            fine = terms * np.finfo(np.longdouble).eps * np.abs(columns).max()
            reached = max(reached, float((np.abs(columns @ signed).max() + fine) * (1.0 + EPS)))
        return _scaled(total, reached)


def _scaled(total: float, reach: float) -> float:
    """total / max(1, reach), and less by the rounding of the sum and of the quotient."""
    return total / max(1.0, reach) * (1.0 - 4.0 * EPS) if total > 0.0 else 0.0


def _balanced(lam: Array, y: Array) -> Array:
    """λ reduced in one class until yᵀλ = 0 exactly, in units in which all sums are integers."""
    sums = float(lam[y > 0].sum()), float(lam[y < 0].sum())
    if not min(sums) > 1e-280:  # below it units would underflow
        return np.zeros_like(lam)
    unit = 2.0 ** (np.ceil(np.log2(min(sums))) - 51.0)
    shares = np.where(y > 0, min(1.0, sums[1] / sums[0]), min(1.0, sums[0] / sums[1]))
    counts = np.floor(lam * shares / unit)
    excess = float(y @ counts)
    larger = np.where(y * excess > 0.0, counts, 0.0)
    before = np.concatenate([[0.0], np.cumsum(larger)[:-1]])
    return np.asarray(unit * (counts - np.clip(abs(excess) - before, 0.0, larger)))


@dataclass(frozen=True, eq=False)
class SensitivityUnits(Units):
    """δ = scale·δ', and (Δ_ki - level of the class of k in row i)/scale in place of Δ_ki.

    Every feasible α has weight ½ in each class, so that row i decreases by half the sum of its
    levels.
    """

    scale: float
    level: Array

    @property
    def shift(self) -> Array:
        """The decrease of each row, in these units."""
        return 0.5 * self.level.sum(axis=0) / self.scale

    def transposed(self, game: SensitivityGame) -> Array:
        """Δᵀ in these units."""
        Delta = game.Delta()
        shifted = _less(Delta, self.level, game.problem.y) if self.level.any() else Delta
        return shifted.T if self.scale == 1.0 else shifted.T / self.scale

    def read(self, values: Values) -> Values:
        return values | {"delta": self.scale * values["delta"]}

    def write(self, values: Values) -> Values:
        return values | {"delta": values["delta"] / self.scale}

    def read_multipliers(self, multipliers: Values) -> Values:
        pi = multipliers["sensitivity"] / self.scale
        return self._moved(multipliers | {"sensitivity": pi}, -pi)

    def write_multipliers(self, multipliers: Values) -> Values:
        pi = multipliers["sensitivity"]
        return self._moved(multipliers | {"sensitivity": pi * self.scale}, pi)

    def _moved(self, multipliers: Values, weights: Array) -> Values:
        """Move what the levels contribute between the rows and the two equality constraints."""
        plus, minus = self.level @ weights
        return multipliers | {
            "balance": multipliers["balance"] + 0.5 * (plus - minus),
            "total": multipliers["total"] + 0.5 * (plus + minus),
        }


@dataclass(frozen=True, eq=False)
class SensitivityGame:
    """min max_i (Δᵀα)_i  s.t.  yᵀα = 0,  eᵀα = 1,  0 ≤ α ≤ β̄."""

    problem: KernelProblem
    given: Array | None
    """Δ, (n, n), or None for 2Q, which is formed only when needed."""
    beta: float
    """β̄."""

    def Delta(self) -> Array:
        """Δ, (n, n)."""
        return 2.0 * self.problem.Q if self.given is None else self.given

    def _rows(self, alpha: Array) -> tuple[Array, float]:
        """Δᵀα, and the largest |Δ_ij|."""
        if self.given is None:
            y = self.problem.y
            return 2.0 * y * self.problem.gram.times(y * alpha), 2.0 * self.problem.largest
        return self.given.T @ alpha, float(np.max(np.abs(self.given)))

    def units(self) -> SensitivityUnits:
        """Units in which entries are at most about 1, with levels if they make Δ far smaller."""
        Delta, y = self.Delta(), self.problem.y
        level = _class_means(Delta, y)
        largest = float(np.max(np.abs(Delta)))
        spread = float(np.max(np.abs(_less(Delta, level, y))))
        # The rounding of a constant matrix does not count as spread.
        if not y.size * EPS * largest < spread < largest / _MIN_REDUCTION:
            level, spread = np.zeros_like(level), largest
        return SensitivityUnits(float(power_near(np.array(spread))), level)

    def natural_units(self) -> SensitivityUnits:
        """The units of the problem as it stands."""
        return SensitivityUnits(1.0, np.zeros((2, self.problem.n)))

    def repaired(self, values: Values) -> Values:
        """The nearest feasible α with its least feasible δ."""
        y, alpha = self.problem.y, np.empty(self.problem.n)
        for sign in (1.0, -1.0):
            group = y == sign
            ones = np.ones(int(group.sum()))
            alpha[group] = project_line(values["alpha"][group], ones, 0.5, self.beta)
        return {"alpha": alpha, "delta": np.asarray(np.max(self._rows(alpha)[0]))}

    def gap_floor(self, values: Values) -> float:
        """`CANCELLED` times Σ_k α_k |y_ky_iΔ_ki - c_i| in the largest row i, with c_i the mean.

        c_i has no effect on balanced weights; see `gaps`. Several rows are the largest up to
        rounding where they are active, of which the one with the least sum counts.
        """
        y, alpha = self.problem.y, np.maximum(values["alpha"], 0.0)
        n, mass = y.size, float(alpha.sum()) or 1.0
        sums, largest = self._rows(alpha)
        rows = np.flatnonzero(sums >= sums.max() - 4.0 * (n + 2.0) * EPS * largest * mass)
        least = np.inf
        for part in tiles(rows.size, TILE_ENTRIES // n):
            if self.given is None:
                terms = 2.0 * self.problem.gram.block(rows[part], np.arange(n))
            else:
                terms = y[rows[part], None] * self.given[:, rows[part]].T * y
            terms -= (terms @ alpha / mass)[:, None]
            least = min(least, float((np.abs(terms, out=terms) @ alpha).min()))
        # If sums have overflowed there is no largest row, and no floor that hides a gap.
        return CANCELLED * least if rows.size else 0.0

    def bound(self, sensitivity: Array) -> float:
        """min over α of αᵀΔπ minus its rounding, with π the multipliers scaled to sum to one."""
        pi = np.maximum(sensitivity, 0.0)
        if not pi.max() > 0.0:
            return -np.inf
        pi = pi / pi.max()
        pi = pi / pi.sum()
        y = self.problem.y
        # 2Q is symmetric.
        costs, largest = self._rows(pi)
        if self.given is not None:
            costs = self.given @ pi
        bound, rounding = self._cheapest(costs, largest)
        if rounding > _MAX_ROUNDING * abs(bound):
            # As each class has weight ½, constants per class change a row by half of their sum.
            Delta = self.Delta()
            level = _class_means(Delta, y)
            shifted = _less(Delta, level, y)
            largest = float(np.max(np.abs(shifted)))
            constants = 0.5 * level.sum(axis=0) * pi
            fine, error = self._cheapest(shifted @ pi, largest)
            error += 4.0 * (y.size + 4) * EPS * float(np.abs(constants).sum())
            fine += float(constants.sum())
            if fine - error > bound - rounding:
                bound, rounding = fine, error
        return bound - rounding - 4.0 * EPS * abs(bound)

    def _cheapest(self, costs: Array, largest: float) -> tuple[float, float]:
        """min costsᵀα over the feasible α, and a bound on its rounding.

        It covers the n products in each cost, the sum of π, which is 1 up to rounding, and the n
        products of the minimum.
        """
        y = self.problem.y
        bound = sum(cheapest(part, 0.5, self.beta) for part in (costs[y > 0], costs[y < 0]))
        return bound, 4.0 * (y.size + 4) * EPS * largest


def _class_means(Delta: Array, y: Array) -> Array:
    """Means of Δ_ki over the k of each class, (2, n)."""
    return np.array([Delta[y > 0].mean(axis=0), Delta[y < 0].mean(axis=0)])


def _less(Delta: Array, level: Array, y: Array) -> Array:
    """Δ_ki minus the level of the class of k in row i, a new array."""
    return Delta - level[(y < 0).astype(int)]


@dataclass(frozen=True, eq=False)
class MatrixUnits(Units):
    """ρ = scale·ρ' and ξ = scale·ξ', where the matrix is divided by its scale."""

    scale: float

    def read(self, values: Values) -> Values:
        return values | {name: self.scale * values[name] for name in ("rho", "xi")}

    def write(self, values: Values) -> Values:
        return values | {name: values[name] / self.scale for name in ("rho", "xi")}

    def read_multipliers(self, multipliers: Values) -> Values:
        return multipliers | self._times(multipliers, 1.0 / self.scale)

    def write_multipliers(self, multipliers: Values) -> Values:
        return multipliers | self._times(multipliers, self.scale)

    def _times(self, multipliers: Values, factor: float) -> Values:
        scaled = {"boundary", "slack", "radius"} & multipliers.keys()
        return {name: factor * multipliers[name] for name in scaled}


@dataclass(frozen=True, eq=False)
class OneClassDescription:
    """min σρ + p eᵀξ  s.t.  σMw ≤ σρe + ξ,  eᵀw = 1,  w ≥ 0,  ξ ≥ 0, and ρ ≥ 0 if σ = 1.

    M holds distances and σ = 1, or similarities and σ = -1.
    """

    problem: KernelProblem
    sigma: float
    price: float

    def units(self) -> MatrixUnits:
        """Units in which the largest entry of M is about 1."""
        return MatrixUnits(float(power_near(np.array(self.problem.largest))))

    def repaired(self, values: Values) -> Values:
        """The nearest w, and the least feasible slacks."""
        w = project_line(values["w"], np.ones(self.problem.n), 1.0, np.inf)
        rho = np.maximum(values["rho"], 0.0 if self.sigma > 0.0 else -np.inf)
        excess = self.sigma * (self.problem.gram.times(w) - rho)
        return {"w": w, "rho": rho, "xi": np.maximum(excess, 0.0)}

    def gap_floor(self, values: Values) -> float:
        """`CANCELLED` times the largest sum of the absolute terms of a row of Mw."""
        used = np.flatnonzero(values["w"])
        block = np.abs(self.problem.gram.block(np.arange(self.problem.n), used))
        return CANCELLED * float(np.max(block @ np.abs(values["w"][used]), initial=0.0))

    def bound(self, boundary: Array) -> float:
        """min_j σ(Mᵀλ)_j after λ is clipped to [0, p] and made to sum to 1 exactly.

        Where ρ ≥ 0 a sum of at most 1 suffices. Where rounding of p prevents that of 1, there is no
        bound for a ρ of either sign.
        """
        problem, lam = self.problem, np.clip(boundary, 0.0, self.price)
        if self.sigma < 0.0 or float(lam.sum()) > 1.0 - problem.n * EPS:
            lam = _of_sum_one(lam, self.price)
            if self.sigma < 0.0 and float(lam.sum()) != 1.0:
                return -np.inf
        error = (problem.n + 8.0) * EPS * problem.largest
        return float(np.min(self.sigma * (problem.K @ lam))) - error


def _of_sum_one(lam: Array, most: float) -> Array:
    """λ with 0 ≤ λ ≤ most and the sum 1, where n·most allows it; sums of its units are exact."""
    total = float(lam.sum())
    if total > 1.0:
        lam = lam / total
    elif total < 1.0:
        space = float((most - lam).sum())
        lam = lam + (most - lam) * min(1.0, (1.0 - total) / (space or 1.0))
    unit = 2.0**-52
    most_counts = np.floor(most / unit)
    counts = np.minimum(np.floor(lam / unit), most_counts)
    missing = 1.0 / unit - float(counts.sum())
    room = most_counts - counts if missing > 0.0 else counts
    before = np.concatenate([[0.0], np.cumsum(room)[:-1]])
    moved = np.clip(abs(missing) - before, 0.0, room)
    return np.asarray(unit * (counts + np.sign(missing) * moved))
