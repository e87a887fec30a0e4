"""Quadratic programs with proved optima, to check a solver against; it needs numpy alone.

    from depot import depot

    for p in depot(kind="convex", n_max=50):
        x = my_solver(p.P, p.q, p.G, p.h, p.A, p.b, p.lb, p.ub)
        print(p, p.check(x))

Every program is a minimisation,

    minimize ½ xᵀP x + qᵀx   subject to   G x ≤ h,  A x = b,  lb ≤ x ≤ ub.

Recipes make its arrays from its name, a family and whole numbers: `boxqp-50-40-1` is
`box_qp(50, 40, 1)`. What is proved about it is in the table `depot.csv.gz` beside this file, which
any language can read, one row a program:

    name, kind, n, status  kind is linear, convex, box (nonconvex without rows) or rows (nonconvex
                           with rows); status is optimal, unbounded or infeasible
    lower, upper           lower ≤ optimum ≤ upper, both proved
    optimum                where a closed form is known
    x                      the best known point; of an unbounded program a feasible one
    ray                    a direction from x along which the objective falls without end
    conflict               multipliers of the rows of G and then A that contradict the bounds
    negative               number of negative eigenvalues of P
    trace, frobenius, quadratic, linear, rows, bounds
                           the numbers of `digest`
    tags, source           words, and where the program comes from
    method, date, version  what proved the bracket, and when

References
----------
.. [B97] I. M. Bomze, Evolution towards the Maximum Clique, Journal of Global Optimization 10, 1997.
.. [BB78] M. R. Best, A. E. Brouwer, F. J. MacWilliams, A. M. Odlyzko and N. J. A. Sloane, Bounds
   for Binary Codes of Length Less than 25, IEEE Transactions on Information Theory 24, 1978.
.. [BBSS] A. E. Brouwer, J. B. Shearer, N. J. A. Sloane and W. D. Smith, A New Table of Constant
   Weight Codes, IEEE Transactions on Information Theory 36, 1990.
.. [Bl84] A. Blokhuis, On Subsets of GF(q²) with Square Differences, Indagationes Mathematicae 46,
   1984.
.. [CB12] J. Chen and S. Burer, Globally Solving Nonconvex Quadratic Programming Problems via
   Completely Positive Programming, Mathematical Programming Computation 4, 2012.
.. [DELPS] J. Debroni, J. D. Eblen, M. A. Langston, W. Myrvold, P. Shor and D. Weerapurage, A
   Complete Resolution of the Keller Maximum Clique Problem, SODA 2011.
.. [FP90] C. A. Floudas and P. M. Pardalos, A Collection of Test Problems for Constrained Global
   Optimization Algorithms, Lecture Notes in Computer Science 455, 1990.
.. [H05] B. Haasdonk, Feature Space Interpretation of SVMs with Indefinite Kernels, IEEE
   Transactions on Pattern Analysis and Machine Intelligence 27(4), 2005.
.. [HS81] W. Hock and K. Schittkowski, Test Examples for Nonlinear Programming Codes, Lecture Notes
   in Economics and Mathematical Systems 187, 1981.
.. [K76] H. Konno, A Cutting Plane Algorithm for Solving Bilinear Programs, Mathematical Programming
   11, 1976.
.. [MS65] T. S. Motzkin and E. G. Straus, Maxima for Graphs and a New Proof of a Theorem of Turán,
   Canadian Journal of Mathematics 17, 1965.
.. [S68] J. Schönheim, On Maximal Systems of k-Tuples, Studia Scientiarum Mathematicarum Hungarica
   1, 1966; J. Spencer, Maximal Consistent Families of Triples, Journal of Combinatorial Theory 5,
   1968.
.. [ST08] A. Scozzari and F. Tardella, A Clique Algorithm for Standard Quadratic Programming,
   Discrete Applied Mathematics 156, 2008.
.. [VN05] D. Vandenbussche and G. L. Nemhauser, A Branch-and-Cut Algorithm for Nonconvex Quadratic
   Programs with Box Constraints, Mathematical Programming 102, 2005.
"""

from __future__ import annotations

import csv
import gzip
import io
import itertools
import math
import re
from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

TABLE = Path(__file__).with_name("depot.csv.gz")

KINDS = {
    "linear": ("linear",),
    "convex": ("convex",),
    "box": ("box",),
    "rows": ("rows",),
    "nonconvex": ("box", "rows"),
}
"""The kinds that `depot` takes, and the entries of the table that they stand for."""

ROUNDING = 1e-9
"""Relative difference below which objectives count as equal: matrices of kernels may differ by a
few units in the last place between machines, and sums over 100² entries by a few hundred."""

MAX_VARIABLES = 5_000
"""Largest number of variables, and of rows: P then takes 200 MB."""


class NotKnown(LookupError):
    """A name that does not exist: its argument, the name, and the names that do.

    >>> str(NotKnown("kind", "cubic", ["linear", "convex"]))
    "kind: expected one of convex, linear, got 'cubic'"
    """

    def __str__(self) -> str:
        argument, name, known = self.args
        return f"{argument}: expected one of {', '.join(sorted(known))}, got {name!r}"


class NotAllowed(ValueError):
    """An argument that cannot be used: its name, what was expected, and what was given."""

    def __str__(self) -> str:
        argument, expected, got, *hint = self.args
        return " ".join([f"{argument}: expected {expected}, got {got}", *hint])


# ------------------------------------------------------------------------------------- the depot


def depot(
    pattern: str = "*",
    *,
    kind: str | None = None,
    n_max: int | None = None,
    tags: str | Iterable[str] = (),
    without: str | Iterable[str] = (),
) -> list[Problem]:
    """The problems of the table that meet all conditions, in the order of the table.

    Parameters
    ----------
    pattern : str
        Names, such as ``boxqp-50-*``.
    kind : {"linear", "convex", "nonconvex", "box", "rows"}, optional
        "box" and "rows" are the nonconvex ones without and with rows.
    n_max : int, optional
        Largest number of variables.
    tags, without : str or iterable of str
        Words that all or none of the problems have, such as "structured" or "open unbounded". There
        are

        - random, structured: how the numbers were made
        - rows: with rows
        - kernel: the dual of a support vector machine
        - units: variables and rows that differ by powers of ten in size
        - cancelling: an optimum that is far smaller than the terms of its objective
        - degenerate: more active constraints at a vertex than variables
        - several-optima: more than one point is optimal
        - unbounded, infeasible: no optimum exists
        - narrow: a point violates all rows by 1e-9 at most, so that most solvers call it feasible
        - open: the bracket has a gap

    Raises
    ------
    LookupError
        For a kind or a tag that does not exist.

    Examples
    --------
    >>> [str(p) for p in depot("hs*", kind="convex", n_max=3)]
    ['hs21', 'hs35']
    >>> len(depot(kind="nonconvex", n_max=100, without="open")) > 200
    True
    """
    kinds = tuple(KINDS) if kind is None else KINDS.get(kind)
    if kinds is None:
        raise NotKnown("kind", kind, list(KINDS))
    wanted, refused = _words(tags), _words(without)
    known = _tags()
    for argument, words in (("tags", wanted), ("without", refused)):
        for word in words:
            if word not in known:
                raise NotKnown(argument, word, known)
    limit = math.inf if n_max is None else n_max
    return [
        Problem(row)
        for row in _table().values()
        if row["kind"] in kinds and int(row["n"]) <= limit and fnmatchcase(row["name"], pattern)
        for own in [set(row["tags"].split())]
        if wanted <= own and not refused & own
    ]


def _words(text: str | Iterable[str]) -> set[str]:
    return set(text.split() if isinstance(text, str) else text)


@cache
def _table() -> dict[str, dict[str, str]]:
    """The rows of the table by name."""
    text = gzip.decompress(TABLE.read_bytes()).decode("utf-8")
    return {row["name"]: row for row in csv.DictReader(io.StringIO(text))}


@cache
def _tags() -> list[str]:
    return sorted({word for row in _table().values() for word in row["tags"].split()})


class Problem:
    """A quadratic program, and what is proved about it.

    Attributes
    ----------
    name : str
        The name, which is also the `str` of the problem.
    kind : str
        "linear", "convex", "box" (nonconvex, without rows) or "rows" (nonconvex, with rows).
    n : int
        Number of variables.
    P, q, G, h, A, b, lb, ub : arrays
        minimize ½ xᵀP x + qᵀx subject to G x ≤ h, A x = b, lb ≤ x ≤ ub. All are dense, and none
        is left out: without rows G has the shape (0, n). Bounds may be infinite.
    status : str
        "optimal", "unbounded" or "infeasible".
    lower, upper : float
        lower ≤ optimum ≤ upper, both proved; -inf and -inf where it is unbounded, inf and inf
        where it is infeasible.
    optimum : float or None
        The closed form, or `upper` if the bracket has no gap. None if there is no optimum, or if
        the problem is open.
    x : (n,) array or None
        The best known point, feasible to rounding; where the objective is unbounded a feasible one.
    ray : (n,) array or None
        A direction d in which the objective falls from x without end.
    conflict : array or None
        Multipliers y ≥ 0 of the rows of G and z of those of A, in one array. They prove that no
        point is feasible, as the least value of (Gᵀy + Aᵀz)ᵀx within the bounds is above hᵀy + bᵀz.
    inertia : str
        As in "3 of 20 eigenvalues negative".
    tags : tuple of str
        See `depot`.
    source : str
        Where the problem comes from.
    digest : tuple of float
        Six numbers of the arrays; see the function `digest`.
    K, y, C, formulation : arrays, float and str, or None
        For the dual of a support vector machine: kernel matrix, labels -1 and 1, largest weight,
        and the formulation whose negative it is.

    Examples
    --------
    >>> [p] = depot("hs76")
    >>> p.n, p.kind, p.inertia
    (4, 'convex', '0 of 4 eigenvalues negative')
    >>> print(p.check([0.0, 2.0, 0.0, 0.0]))
    MISSED BY 0.15. A better point has objective -4.681818181818182. The number is relative to \
|optimum|.
    """

    def __init__(self, row: dict[str, str]) -> None:
        self._row = row
        self.name, self.kind, self.status = row["name"], row["kind"], row["status"]
        self.source = row["source"]
        self.n = int(row["n"])
        self.lower, self.upper = float(row["lower"]), float(row["upper"])
        self.tags = tuple(row["tags"].split())
        self.digest = tuple(float(row[name]) for name in DIGEST)

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"Problem({self.name!r}, n={self.n}, {self.kind})"

    @property
    def inertia(self) -> str:
        return f"{self._row['negative']} of {self.n} eigenvalues negative"

    @property
    def optimum(self) -> float | None:
        if self.status != "optimal" or "open" in self.tags:
            return None
        return float(self._row["optimum"] or self.upper)

    @property
    def unit(self) -> float:
        """What objectives are relative to: |optimum|, or 1 where it is 0."""
        return abs(self.upper if self.optimum is None else self.optimum) or 1.0

    @property
    def x(self) -> Array | None:
        return self._numbers("x")

    @property
    def ray(self) -> Array | None:
        return self._numbers("ray")

    @property
    def conflict(self) -> Array | None:
        return self._numbers("conflict")

    def _numbers(self, column: str) -> Array | None:
        text = self._row[column]
        return np.array(text.split(), dtype=float) if text else None

    @cached_property
    def _arrays(self) -> dict[str, Any]:
        """What the recipe of the name makes, checked against the digest."""
        found = arrays(self.name)
        if not same(digest(found), self.digest):
            raise NotAllowed("table", f"the arrays of {self.name}", "those of other arrays")
        return found

    def _given(self, letter: str) -> Any:
        """A copy of an array, which a solver may overwrite; None if there is none."""
        found = self._arrays.get(letter)
        return found.copy() if isinstance(found, np.ndarray) else found

    @property
    def P(self) -> Array:
        return self._given("P")

    @property
    def q(self) -> Array:
        return self._given("q")

    @property
    def G(self) -> Array:
        return self._given("G")

    @property
    def h(self) -> Array:
        return self._given("h")

    @property
    def A(self) -> Array:
        return self._given("A")

    @property
    def b(self) -> Array:
        return self._given("b")

    @property
    def lb(self) -> Array:
        return self._given("lb")

    @property
    def ub(self) -> Array:
        return self._given("ub")

    @property
    def K(self) -> Array | None:
        return self._given("K")

    @property
    def y(self) -> NDArray[np.int64] | None:
        return self._given("y")

    @property
    def C(self) -> float | None:
        return self._given("C")

    @property
    def formulation(self) -> str | None:
        return self._given("formulation")

    def objective(self, x: ArrayLike) -> float:
        """½ xᵀP x + qᵀx, with the error of one rounding.

        >>> depot("hs76")[0].objective([0, 1, 0, 0])
        -2.5
        """
        point = np.asarray(x, dtype=float)
        P, q = self._arrays["P"], self._arrays["q"]
        i, j = np.nonzero(P)
        with np.errstate(all="ignore"):
            product, error = _product(P[i, j], point[j])
            half = 0.5 * point[i]
            terms = *_product(product, half), error * half, *_product(q, point)
            plain = float(0.5 * point @ P @ point + q @ point)
        total = _sum(np.concatenate(terms))
        if math.isfinite(total) or not math.isnan(plain) or not np.isfinite(point).all():
            return total if math.isfinite(total) else plain
        # Terms of both signs overflow; in smaller units they have a sum.
        scale = 2.0 ** -math.frexp(float(np.abs(point).max()))[1]
        small = point * scale
        sign = float(0.5 * small @ P @ small + scale * (q @ small))
        return math.copysign(math.inf, sign)

    def check(self, x: ArrayLike | None, tol: float = 1e-6) -> Verdict:
        """Judge a point x, or x = None, the answer that there is no optimum.

        The objective may miss the optimum by `tol`, relative to |optimum|, or absolute where the
        optimum is 0. A row may be violated by `tol` relative to its terms |g|·|x| + |h|, or to its
        largest entry if that is more; a bound of x_k relative to the largest of |x_k| and its
        finite bounds, where 1 takes the place of bounds that are all 0 or infinite. Variables with
        bounds count as no larger than these.

        Raises
        ------
        ValueError
            If x does not have n entries, or the tolerance is not between 0 and 1.

        Examples
        --------
        >>> [p] = depot("hs35")
        >>> print(p.check(p.x))
        OPTIMAL, PROVED. The objective is -8.88888888888889.
        >>> print(p.check([4 / 3, 7 / 9, 0.45]))
        NOT FEASIBLE: row G[0] by 0.0018, relative to its terms |g|·|x| + |h|.
        >>> print(p.check(None))
        AN OPTIMUM EXISTS. A point of objective -8.88888888888889 is feasible.
        """
        if not 0.0 < tol < 1.0:
            raise NotAllowed("tol", "a number between 0 and 1", repr(tol))
        if self.status != "optimal":
            return self._no_optimum(x)
        if x is None:
            text = f"AN OPTIMUM EXISTS. A point of objective {self.upper!r} is feasible."
            return Verdict(self, "AN OPTIMUM EXISTS", False, text)
        point = np.array(x, dtype=float)
        if point.shape != (self.n,):
            raise NotAllowed("x", f"{self.n} numbers", f"shape {point.shape}")
        if not np.isfinite(point).all():
            where = f"x[{np.flatnonzero(~np.isfinite(point))[0]}] is not finite"
            return Verdict(self, "NOT FEASIBLE", False, f"NOT FEASIBLE: {where}.", None, np.inf)
        violation, where = self.violation(point)
        value = self.objective(point)
        if violation > tol:
            text = f"NOT FEASIBLE: {where}."
            return Verdict(self, "NOT FEASIBLE", False, text, value, violation)
        return self._compared(point, value, violation, where, tol)

    def _no_optimum(self, x: ArrayLike | None) -> Verdict:
        """The verdict where no optimum exists."""
        verdict = "NO OPTIMUM EXISTS"
        if self.status == "unbounded":
            text = f"here is a ray, {_short(self.ray)}, along which the objective falls without end"
        else:
            text = (
                f"here are multipliers, {_short(self.conflict)}, of rows that contradict the rest"
            )
        found = Verdict(self, verdict, x is None, f"{verdict}: {text}.")
        found.ray, found.conflict = self.ray, self.conflict
        return found

    def _compared(
        self, x: Array, value: float, violation: float, where: str, tol: float
    ) -> Verdict:
        """The verdict on a point that is feasible within the tolerance."""
        best = self.upper if self.optimum is None else self.optimum
        unit = self.unit
        missed = (value - best) / unit if math.isfinite(value) else math.inf
        unit_text = "relative to |optimum|" if best else "absolute"
        sure = None
        # A point beyond the bracket, or beyond the best known one, may owe that to violated rows.
        if value < self.lower - ROUNDING * unit or missed < -tol:
            nearby = self.nearby(x)
            sure = None if nearby is None else self.objective(nearby)

        def verdict(name: str, passed: bool, *sentences: str) -> Verdict:
            return Verdict(
                self, name, passed, " ".join([f"{name}.", *sentences]), value, violation, missed
            )

        if sure is not None and -math.inf < sure < self.lower - ROUNDING * unit:
            return verdict(
                "FALSE PROOF", False,
                f"The point is feasible, and its objective {sure!r} is below the proved bound "
                f"{self.lower!r}.", "Please report this.",
            )  # fmt: skip
        known = "the best known" if self.optimum is None else "the optimum"
        if missed < -tol and (sure is None or sure >= best - tol * unit):
            return verdict(
                f"BELOW {known.upper()} BY {-missed:.2g} THROUGH VIOLATED ROWS", False,
                f"The largest violation is that of {where}.",
            )  # fmt: skip
        if not missed <= tol:
            return verdict(
                f"MISSED BY {missed:.2g}", False, f"A better point has objective {best!r}.",
                f"The number is {unit_text}.",
            )  # fmt: skip
        within = (value - self.lower) / unit
        if within <= tol or self.optimum is not None:
            # A bracket may have a larger gap than the caller's tolerance.
            proved = f" TO {within:.2g}" * (within > tol)
            return verdict(f"OPTIMAL, PROVED{proved}", True, f"The objective is {value!r}.")
        bracket = f"The optimum is proved to be in [{self.lower!r}, {self.upper!r}]."
        if missed < -tol:
            return verdict("BETTER THAN THE BEST KNOWN", True, bracket, "Please report the point.")
        return verdict("AS GOOD AS THE BEST KNOWN", True, bracket)

    def violation(self, x: Array) -> tuple[float, str]:
        """The largest violation in the units of `check`, and where it is."""
        G, h, A, b, lb, ub = self._constraints()
        # A power of two keeps products of huge numbers finite, and every share as it is.
        scale = 2.0**-600 if np.abs(x).max() > 2.0**500 else 1.0
        ends = np.abs([lb, ub])
        reach = np.max(ends, axis=0, where=np.isfinite(ends), initial=0.0)
        reach[reach == 0.0] = 1.0
        size = np.abs(x)
        found = [(0.0, "no row")]
        for rows, right, letter, equal in (
            (G, h, "G", False), (A, b, "A", True),
        ):  # fmt: skip
            excess = _residuals(rows, scale * right, scale * x)
            missed = np.abs(excess) if equal else np.maximum(excess, 0.0)
            entries = np.abs(rows)
            least = np.max(entries * np.minimum(reach, 1.0), axis=1, initial=0.0)
            unit = np.maximum(entries @ (scale * size) + scale * np.abs(right), scale * least)
            share = missed / np.where(unit > 0.0, unit, 1.0)
            if share.size:
                k = int(np.argmax(share))
                place = f"row {letter}[{k}] by {share[k]:.2g}, relative to its terms |g|·|x| + |h|"
                found.append((float(share[k]), place))
        with np.errstate(over="ignore"):
            sides = ("lower", lb - x), ("upper", x - ub)
        for side, missed in sides:
            share = np.maximum(missed, 0.0) / np.maximum(size, reach)
            k = int(np.argmax(share))
            place = f"{side} bound of x[{k}] by {share[k]:.2g}, relative to its size"
            found.append((float(share[k]), place))
        return max(found, key=lambda pair: pair[0])

    def _constraints(self) -> list[Array]:
        return [self._arrays[letter] for letter in ("G", "h", "A", "b", "lb", "ub")]

    def nearby(self, x: Array) -> Array | None:
        """The point moved onto its violated rows and bounds, or None if rounding is not reached."""
        G, h, A, b, lb, ub = self._constraints()
        point = x
        for _ in range(20):
            point = np.clip(point, lb, ub)
            excess, residual = _residuals(G, h, point), _residuals(A, b, point)
            over = excess > 0.0
            rows = np.vstack([G[over], A])
            if not rows.size or self.violation(point)[0] <= 1e-15:
                break
            free = (point > lb) & (point < ub)
            missed = np.concatenate([excess[over], residual])
            point = point.copy()
            point[free] -= np.linalg.lstsq(rows[:, free], missed, rcond=None)[0]
        point = np.clip(point, lb, ub)
        return point if self.violation(point)[0] <= 1e-14 else None


class Verdict:
    """What `Problem.check` says; true if the answer passed, and a sentence as `str`.

    Attributes
    ----------
    problem : Problem
    verdict : str
        "OPTIMAL, PROVED", "MISSED BY 0.0003", "NOT FEASIBLE", ..., as its text begins.
    passed : bool
    objective : float or None
        The objective of the point.
    violation : float
        The largest violation of a row or bound, relative as the text says.
    missed : float or None
        objective - optimum, relative to |optimum|, or absolute where the optimum is 0.
    ray, conflict : arrays or None
        Those of the problem, where no optimum exists.

    Examples
    --------
    >>> [p] = depot("fallflat-3")
    >>> verdict = p.check([0.0, 0.0, 0.0])
    >>> bool(verdict), verdict.verdict, verdict.ray
    (False, 'NO OPTIMUM EXISTS', array([1., 1., 1.]))
    """

    def __init__(
        self,
        problem: Problem,
        verdict: str,
        passed: bool,
        text: str,
        objective: float | None = None,
        violation: float = 0.0,
        missed: float | None = None,
    ) -> None:
        self.problem, self.verdict, self.passed, self.text = problem, verdict, passed, text
        self.objective, self.violation, self.missed = objective, violation, missed
        self.ray: Array | None = None
        self.conflict: Array | None = None

    def __bool__(self) -> bool:
        return self.passed

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<{self.problem.name}: {self.text}>"


def _short(numbers: Array | None) -> str:
    """An array on one line, without its middle if it is long."""
    return np.array2string(np.asarray(numbers), separator=", ", threshold=8, edgeitems=2)


def _product(a: Array, b: Array) -> tuple[Array, Array]:
    """The product and its rounding error, by the splitting of Dekker (1971)."""
    product = a * b
    high_a, high_b = (c - (c - v) for v in (a, b) for c in [134217729.0 * v])
    low_a, low_b = a - high_a, b - high_b
    error = low_a * low_b - (((product - high_a * high_b) - low_a * high_b) - high_a * low_b)
    return product, error


def _sum(terms: Array) -> float:
    """The sum with one rounding; nan if it overflows."""
    try:
        return math.fsum(terms)
    except (OverflowError, ValueError):
        return math.nan


def _residuals(rows: Array, right: Array, x: Array) -> Array:
    """rows · x - right with one rounding each."""
    with np.errstate(all="ignore"):
        terms = np.concatenate(
            [*_product(rows, np.broadcast_to(x, rows.shape)), -right[:, None]], 1
        )
        plain = rows @ x - right
    sums = np.array([_sum(row) for row in terms]).reshape(right.shape)
    return np.where(np.isfinite(sums), sums, plain)


DIGEST = ("trace", "frobenius", "quadratic", "linear", "rows", "bounds")


def digest(arrays: dict[str, Any]) -> tuple[float, ...]:
    """Six numbers that show whether arrays are the same, up to rounding.

    A hash would not do, as mathematical libraries differ in the last place. With w_i = i/n and
    v_k = k/m they are Σ P_ii, (Σ P_ij²)^½, wᵀP w, wᵀq, vᵀ(R w - r) for the m rows R of G and then
    of A with the right-hand sides r of h and then b, and wᵀlb + 2 wᵀub over all finite bounds.

    >>> digest(arrays("boxqp-20-100-1"))[5]
    21.0
    """
    P, q = arrays["P"], arrays["q"]
    w = np.arange(1, q.size + 1) / q.size
    rows = np.vstack([arrays["G"], arrays["A"]])
    right = np.concatenate([arrays["h"], arrays["b"]])
    v = np.arange(1, right.size + 1) / max(right.size, 1)
    low, high = (
        float(w[held] @ arrays[end][held])
        for end in ("lb", "ub")
        for held in [np.isfinite(arrays[end])]
    )
    numbers = np.trace(P), np.linalg.norm(P), w @ P @ w, w @ q, v @ (rows @ w - right)
    return (*map(float, numbers), low + 2.0 * high)


def same(mine: Iterable[float], theirs: Iterable[float], tol: float = ROUNDING) -> bool:
    """Whether two digests are the same up to rounding, relative to their largest number."""
    one, other = np.array([*mine]), np.array([*theirs])
    return bool(np.abs(one - other).max() <= tol * max(np.abs([one, other]).max(), 1.0))


# ------------------------------------------------------------------------------ names and recipes


class Family(NamedTuple):
    """A function of whole numbers that makes arrays, the tags of all of them, and their source."""

    make: Callable[..., dict[str, Any]]
    tags: str
    source: str


FAMILIES: dict[str, Family] = {}
"""By the first part of their names."""

GRAPHS: dict[str, Callable[..., Graph]] = {}
"""The functions of graphs by the first part of their names."""

OF_GRAPHS: dict[str, Family] = {}
"""Programs of a graph: the name of a graph follows theirs."""

Maker = TypeVar("Maker", bound=Callable[..., Any])


def family(
    name: str, tags: str, source: str, into: dict[str, Family] = FAMILIES
) -> Callable[[Maker], Maker]:
    """A decorator that enters a function under its name."""

    def entered(make: Maker) -> Maker:
        into[name] = Family(make, tags, source)
        return make

    return entered


def named_graph(name: str) -> Callable[[Maker], Maker]:
    """A decorator that enters the function of a graph under its name."""

    def entered(make: Maker) -> Maker:
        GRAPHS[name] = make
        return make

    return entered


def arrays(name: str) -> dict[str, Any]:
    """The arrays of a name by their letters, and what its recipe knows: an `optimum` and others.

    Names are those of the table, or of other sizes and seeds.

    Raises
    ------
    LookupError
        For a family or graph that does not exist.
    ValueError
        For other numbers than the recipe takes.

    Examples
    --------
    >>> program = arrays("clique-johnson-8-4-4")
    >>> program["q"].size, round(1 / (2 + 2 * program["optimum"]))
    (70, 14)
    """
    first, _, rest = name.partition("-")
    if first == "units":
        power, _, base = rest.partition("-")
        if power not in ("1", "2", "3") or not base:
            raise NotAllowed("name", "units-1-NAME, units-2-NAME or units-3-NAME", repr(name))
        return in_units(arrays(base), int(power)) | {"name": name}
    if first in OF_GRAPHS:
        return OF_GRAPHS[first].make(graph(rest)) | {"name": name}
    if first not in FAMILIES:
        kernel = _kernel_program(name)
        if kernel is not None:
            return kernel | {"name": name}
        families = {*FAMILIES, *OF_GRAPHS, *KERNELS, "units"}
        raise NotKnown("family", first, sorted(families))
    return _called(name, first, FAMILIES[first].make) | {"name": name}


def graph(name: str) -> Graph:
    """The graph of a name.

    >>> graph("keller-3").clique_number
    5
    """
    first = name.partition("-")[0]
    if first not in GRAPHS:
        raise NotKnown("graph", first, sorted(GRAPHS))
    return _called(name, first, GRAPHS[first])


def origin(name: str) -> tuple[str, str]:
    """The tags and the source of a name, without those that its arrays and proofs add."""
    first, _, rest = name.partition("-")
    if first == "units":
        tags, source = origin(rest.partition("-")[2])
        return f"{tags} units", f"{source} Variables and rows are in other units."
    if first in OF_GRAPHS or first in FAMILIES:
        found = OF_GRAPHS.get(first) or FAMILIES[first]
        narrow = first in ("chain", "overfull") and int(rest.split("-")[1]) > 6
        return found.tags + " narrow" * narrow, found.source
    return _kernel_origin(name)


def _called(name: str, first: str, function: Callable[..., Any]) -> Any:
    """What a function returns for the numbers in a name."""
    parameters = function.__code__.co_varnames[: function.__code__.co_argcount]
    parts = name.split("-")[1:]
    try:
        numbers = [int(part) for part in parts]
    except ValueError:
        numbers = []  # which do not make up the name again
    if "-".join(map(str, [first, *numbers])) != name or len(numbers) != len(parameters):
        raise NotAllowed("name", "-".join([first, *parameters]), repr(name))
    return function(*numbers)


def _whole(name: str, value: int, least: int, most: float, reason: str = "") -> None:
    if not least <= value <= most:
        words = f"an integer from {least} to {most}" if most < np.inf else f"at least {least}"
        raise NotAllowed(name, words + f" ({reason})" * bool(reason), str(value))


def _check(least: int = 1, density: int = 100, **sizes: int) -> None:
    for name, size in sizes.items():
        _whole(name, size, least, MAX_VARIABLES)
    _whole("density", density, 0, 100, "percent")


def program(
    P: Any = None, q: Any = None, G: Any = None, h: Any = None, A: Any = None, b: Any = None,
    lb: Any = -np.inf, ub: Any = np.inf, **facts: Any,
) -> dict[str, Any]:  # fmt: skip
    """All arrays as floats, without signed zeros: P symmetrised, and rows and bounds completed."""
    n = len(q) if P is None else len(P)
    square = np.zeros((n, n)) if P is None else np.asarray(P, dtype=float)
    found = {
        "P": 0.5 * (square + square.T),
        "q": np.zeros(n) if q is None else q,
        "G": np.zeros((0, n)) if G is None else G,
        "h": np.zeros(0) if h is None else h,
        "A": np.zeros((0, n)) if A is None else A,
        "b": np.zeros(0) if b is None else b,
        "lb": np.broadcast_to(lb, n),
        "ub": np.broadcast_to(ub, n),
    }
    return {key: np.array(value, dtype=float) + 0.0 for key, value in found.items()} | facts


def in_units(base: dict[str, Any], power: int) -> dict[str, Any]:
    """The same program with x_j in units of 10^±power or 1 in turns, and likewise its rows."""
    sizes = base["q"].size, base["h"].size, base["b"].size
    x, g, a = (10.0 ** (power * (np.arange(size) % 3 - 1)) for size in sizes)
    facts = {"optimum": base["optimum"]} if "optimum" in base else {}
    return program(
        x[:, None] * base["P"] * x, x * base["q"], g[:, None] * base["G"] * x, g * base["h"],
        a[:, None] * base["A"] * x, a * base["b"], base["lb"] / x, base["ub"] / x, **facts,
    )  # fmt: skip


# ------------------------------------------------------------------------------- random programs


class Draws:
    """Uniform integers from the raw words of PCG64.

    numpy keeps the words of a seeded bit generator for good, but not what its `Generator` makes of
    them. A word below the largest multiple of k in 64 bits chooses one of k values by its
    remainder; other words are skipped, so that all values are equally likely.
    >>> Draws(1).integers(-50, 50, 4)
    array([ -1., -23., -17., -32.])
    """

    def __init__(self, seed: int) -> None:
        _whole("seed", seed, 0, 2**32 - 1)
        self._words = np.random.PCG64(seed)

    def integers(self, least: int, most: int, *shape: int) -> Array:
        """Independent integers from `least` to `most`, both included, as floats."""
        values = most - least + 1
        limit = 2**64 - 2**64 % values
        count = int(np.prod(shape, dtype=np.int64))
        accepted: NDArray[np.uint64] = np.zeros(0, np.uint64)
        while accepted.size < count:
            words = self._words.random_raw(count - accepted.size)
            accepted = np.concatenate([accepted, words[words <= np.uint64(limit - 1)]])
        return (accepted % np.uint64(values)).astype(np.float64).reshape(shape) + float(least)

    def chosen(self, percent: int, *shape: int) -> NDArray[np.bool_]:
        """Independent choices, each made with a probability of `percent` in a hundred."""
        return self.integers(1, 100, *shape) <= percent

    def symmetric(self, least: int, most: int, percent: int, n: int) -> Array:
        """A symmetric matrix; entries on and above the diagonal are 0 unless chosen, or uniform."""
        entries = self.integers(least, most, n, n) * self.chosen(percent, n, n)
        return np.triu(entries) + np.triu(entries, 1).T

    def order(self, n: int) -> NDArray[np.intp]:
        """A random permutation of 0, ..., n - 1."""
        return np.argsort(self.integers(0, 2**53 - 1, n), kind="stable")


@family(
    "boxqp",
    "random",
    "Random, of the class of Vandenbussche and Nemhauser, Mathematical Programming 102, 2005.",
)
def box_qp(n: int, density: int, seed: int) -> dict[str, Any]:
    """A box-constrained program of the class of Vandenbussche and Nemhauser [VN05]_.

        minimize  ½ xᵀP x + qᵀx   subject to  0 ≤ x ≤ 1

    The entries of P on and above the diagonal are integers, each of -50, ..., 50 equally likely,
    and so are those of q; those of P are 0 unless chosen with the density, those of q never.
    The instances of [VN05]_ maximise; since the law is symmetric about 0, the class is the same.

    >>> made = box_qp(50, 40, 1)
    >>> made["P"].shape, float(made["P"][0, 1]), float(made["q"][0])
    ((50, 50), -23.0, -18.0)
    """
    _check(n=n, density=density)
    draws = Draws(seed)
    P = draws.symmetric(-50, 50, density, n)
    q = draws.integers(-50, 50, n)
    return program(P, q, lb=0.0, ub=1.0)


@family("maxcut", "random", "Random: the maximum cut of a graph with weights 1 to 10.")
def max_cut(n: int, density: int, seed: int) -> dict[str, Any]:
    """The maximum cut of a random graph with weights 1 to 10, as a box-constrained program.

        minimize  Σ w_ij (2 x_i x_j - x_i - x_j)   over i < j, subject to  0 ≤ x ≤ 1

    An edge is there with the density. The objective is linear in every single variable, so that a
    vertex of the box is optimal: minus the weight of the largest cut.
    """
    _check(n=n, density=density)
    weights = Draws(seed).symmetric(1, 10, density, n)
    np.fill_diagonal(weights, 0.0)
    return _cut(weights)


@family("spinglass", "random", "Random: ground states of the ±J model on a toroidal grid.")
def spin_glass(rows: int, columns: int, seed: int) -> dict[str, Any]:
    """The maximum cut of a toroidal grid with weights -1 and 1: ground states of the ±J model.

    The weights of the edges to the right are drawn first, then those of the edges downwards.
    """
    _check(least=3, rows=rows, columns=columns)
    n = rows * columns
    _check(variables=n)
    draws, place = Draws(seed), np.arange(n).reshape(rows, columns)
    weights = np.zeros((n, n))
    for axis in (1, 0):
        signs = 2.0 * draws.integers(0, 1, n) - 1.0
        neighbours = np.roll(place, -1, axis).ravel()
        weights[place.ravel(), neighbours] = signs
        weights[neighbours, place.ravel()] = signs
    return _cut(weights)


def _cut(weights: Array) -> dict[str, Any]:
    return program(2.0 * weights, -weights.sum(axis=0), lb=0.0, ub=1.0)


@family(
    "stqp",
    "random",
    "Random, of the class of Scozzari and Tardella, Discrete Applied Mathematics 156, 2008.",
)
def standard_qp(n: int, density: int, seed: int) -> dict[str, Any]:
    """A standard quadratic program whose convexity graph has a prescribed density.

        minimize  ½ xᵀP x   subject to  Σ x_i = 1,  x ≥ 0

    The diagonal of P is an even integer, each of 0, 2, ..., 100 equally likely. An edge ij of the
    convexity graph, that is a pair with P_ij < (P_ii + P_jj)/2, is there with the density; P_ij is
    (P_ii + P_jj)/2 less an integer from 1 to 100 on an edge, and as much more elsewhere. Two
    weights of a minimiser are positive only on an edge, so that its support is a clique [ST08]_.
    """
    _check(n=n, density=density)
    draws = Draws(seed)
    diagonal = 2.0 * draws.integers(0, 50, n)
    signs = np.where(draws.chosen(density, n, n), -1.0, 1.0)
    steps = np.triu(draws.integers(1, 100, n, n) * signs, 1)
    P = 0.5 * np.add.outer(diagonal, diagonal) + steps + steps.T
    return program(P, np.zeros(n), A=np.ones((1, n)), b=[1.0], lb=0.0, ub=1.0)


@family(
    "rowqp",
    "random",
    "Random, of the sizes of Chen and Burer, Mathematical Programming Computation 4, 2012.",
)
def row_qp(n: int, inequalities: int, equalities: int, density: int, seed: int) -> dict[str, Any]:
    """A random program with inequality and equality rows, of the kind of Chen and Burer [CB12]_.

        minimize  ½ xᵀP x + qᵀx   subject to  G x ≤ h,  A x = b,  0 ≤ x ≤ 1

    [CB12]_ have n = 20, 30, 40 and 50 with n/2 rows; what they drew their entries from is not
    restated here, the law is this one. P and q are as in `box_qp`. The entries of G and then of A
    are 0 unless chosen with the density, else integers from -50 to 50, and an entry of a
    row that is left without any is set to 1, at a random place. A point z has coordinates 1/4, 1/2
    or 3/4; b = A z, and h = G z + an integer from 0 to 10, so that z is feasible.

    >>> made = row_qp(20, 7, 3, 50, 1)
    >>> made["G"].shape, made["A"].shape
    ((7, 20), (3, 20))
    """
    _check(n=n, density=density)
    _check(least=0, inequalities=inequalities, equalities=equalities)
    _whole("equalities", equalities, 0, n - 1, "one fewer than variables")
    draws = Draws(seed)
    P = draws.symmetric(-50, 50, density, n)
    q = draws.integers(-50, 50, n)
    G = _random_rows(draws, inequalities, n, density)
    A = _random_rows(draws, equalities, n, density)
    z = draws.integers(1, 3, n) / 4.0
    h = G @ z + draws.integers(0, 10, inequalities)
    return program(P, q, G, h, A, A @ z, 0.0, 1.0)


def _random_rows(draws: Draws, m: int, n: int, density: int) -> Array:
    """Rows of integers from -50 to 50, none of them without an entry."""
    rows = draws.integers(-50, 50, m, n) * draws.chosen(density, m, n)
    places = draws.integers(0, n - 1, m).astype(np.intp)
    empty = np.flatnonzero(~rows.any(axis=1))
    rows[empty, places[empty]] = 1.0
    return rows


@family(
    "bilinear",
    "random",
    "Random: a bilinear program as in Konno, Mathematical Programming 11, 1976.",
)
def bilinear(n: int, m: int, rows: int, seed: int) -> dict[str, Any]:
    """A bilinear program whose two blocks of variables have rows of their own [K76]_.

        minimize  xᵀC y + cᵀx + dᵀy   subject to  E x ≤ e,  F y ≤ f,  0 ≤ x, y ≤ 10

    C (n, m), c and d have integers from -10 to 10. E and F have `rows` rows each, with integers
    from 0 to 10; e and f are 5 times their sums, half of what the box allows. A pair of vertices of
    the two polytopes is optimal.
    """
    _check(n=n, m=m, variables=n + m)
    _check(least=0, rows=rows)
    draws = Draws(seed)
    C = draws.integers(-10, 10, n, m)
    q = draws.integers(-10, 10, n + m)
    E, F = draws.integers(0, 10, rows, n), draws.integers(0, 10, rows, m)
    G = np.zeros((2 * rows, n + m))
    G[:rows, :n], G[rows:, n:] = E, F
    return program(_coupling(C), q, G, 5.0 * G.sum(axis=1), lb=0.0, ub=10.0)


@family(
    "jointbilinear",
    "random",
    "Random: a bilinear program whose rows hold both blocks of variables.",
)
def joint_bilinear(n: int, m: int, rows: int, seed: int) -> dict[str, Any]:
    """A bilinear program whose rows hold both blocks of variables, as `bilinear` otherwise.

    There are `rows` rows with integers from -10 to 10; their right-hand sides are 5 times their
    sums, so that the centre of the box is feasible. The optimum need not be at a vertex.
    """
    _check(n=n, m=m, variables=n + m)
    _check(least=0, rows=rows)
    draws = Draws(seed)
    C = draws.integers(-10, 10, n, m)
    q = draws.integers(-10, 10, n + m)
    G = draws.integers(-10, 10, rows, n + m)
    return program(_coupling(C), q, G, 5.0 * G.sum(axis=1), lb=0.0, ub=10.0)


def _coupling(C: NDArray[np.floating[Any]]) -> Array:
    """The Hessian of xᵀC y."""
    n, m = C.shape
    return np.block([[np.zeros((n, n)), C], [C.T, np.zeros((m, m))]])


@family("concave", "random", "Random: a concave function over a polytope.")
def concave(n: int, rows: int, rank: int, seed: int) -> dict[str, Any]:
    """A concave quadratic function to be minimised over a polytope.

        minimize  qᵀx - ½ ‖B x‖²   subject to  G x ≤ h,  0 ≤ x ≤ 10

    B (rank, n) has integers from -5 to 5, q from -50 to 50, and G from -10 to 10; h is 5 times the
    sums of the rows of G plus an integer from 0 to 50. A vertex of the polytope is optimal.
    """
    _check(n=n, rank=rank)
    _check(least=0, rows=rows)
    draws = Draws(seed)
    B = draws.integers(-5, 5, rank, n)
    q = draws.integers(-50, 50, n)
    G = draws.integers(-10, 10, rows, n)
    h = 5.0 * G.sum(axis=1) + draws.integers(0, 50, rows)
    return program(-(B.T @ B), q, G, h, lb=0.0, ub=10.0)


@family(
    "transportation",
    "random",
    "Random: a transportation problem whose unit costs fall with the amount.",
)
def transportation(sources: int, sinks: int, seed: int) -> dict[str, Any]:
    """A transportation problem whose unit costs fall with the amount.

        minimize  Σ c_ij x_ij - ½ d_ij x_ij²
        subject to  Σ_j x_ij = s_i,  Σ_i x_ij = t_j,  0 ≤ x_ij ≤ min(s_i, t_j)

    Supplies s are integers from 10 to 30. Demands t are 1 plus the numbers of units that random
    sinks get when the rest of the supply is dealt out one by one. d_ij is an integer from 1 to 4,
    and c_ij = d_ij min(s_i, t_j) + an integer from 0 to 20, so that costs never fall with x_ij. The
    variables are in the order x_11, x_12, ...; the last row, which follows from the others, is
    left out. A vertex of the polytope is optimal.
    """
    _check(least=2, sources=sources, sinks=sinks)
    _check(variables=sources * sinks)
    _whole("sinks", sinks, 2, 10 * sources, "10 for each source")
    draws = Draws(seed)
    supply = draws.integers(10, 30, sources)
    dealt = draws.integers(0, sinks - 1, int(supply.sum()) - sinks).astype(np.intp)
    demand = 1.0 + np.bincount(dealt, minlength=sinks)
    ub = np.minimum.outer(supply, demand).ravel()
    d = draws.integers(1, 4, ub.size)
    c = d * ub + draws.integers(0, 20, ub.size)
    rows = np.vstack([
        np.kron(np.eye(sources), np.ones(sinks)), np.kron(np.ones(sources), np.eye(sinks))
    ])[:-1]  # fmt: skip
    totals = np.concatenate([supply, demand])[:-1]
    return program(-np.diag(d), c, A=rows, b=totals, lb=0.0, ub=ub)


@family(
    "portfolio",
    "random",
    "Random: a portfolio whose cost of trading is concave in the weights.",
)
def portfolio(n: int, factors: int, seed: int) -> dict[str, Any]:
    """A portfolio whose cost of trading is concave in the weights: economies of scale.

        minimize  ½ ‖F x‖² + Σ (c_i - r_i) x_i - ½ Σ d_i x_i²   subject to  Σ x_i = 1,  x ≥ 0

    F (factors, n) has integers from -10 to 10, the returns r from 0 to 30, the linear costs c from
    0 to 20 and their falls d from 10 to 100. The Hessian has at most `factors` positive
    eigenvalues.
    """
    _check(n=n, factors=factors)
    draws = Draws(seed)
    F = draws.integers(-10, 10, factors, n)
    r, c = draws.integers(0, 30, n), draws.integers(0, 20, n)
    P = F.T @ F - np.diag(draws.integers(10, 100, n))
    return program(P, c - r, A=np.ones((1, n)), b=[1.0], lb=0.0, ub=1.0)


@family(
    "blending",
    "random",
    "Random: the bilinear core of the pooling problem, with prices for quality.",
)
def blending(inputs: int, pools: int, products: int, seed: int) -> dict[str, Any]:
    """Blending in pools with prices for quality: the bilinear core of the pooling problem.

        minimize  Σ_p Σ_i Σ_t (c_i + w_t λ_i - r_t) x_pi y_pt
        subject to  Σ_i x_pi = 1,  Σ_t y_pt ≤ 20 for every pool,  Σ_p y_pt ≤ D_t for every product,
                    Σ_p x_pi ≤ 2 for every input,  x ≥ 0,  0 ≤ y_pt ≤ D_t

    x_pi is the share of the input i in the pool p, and y_pt the flow from the pool to the product
    t. Costs c are integers from 1 to 10, impurities λ from 0 to 10, penalties w from 0 to 3,
    revenues r from 5 to 40 and demands D from 5 to 20. No input may supply more than two pools'
    worth. In the pooling problem quality is a bilinear constraint; here it has a price instead.
    """
    _check(least=2, inputs=inputs, products=products)
    _check(pools=pools)
    _check(variables=pools * (inputs + products))
    _whole("pools", pools, 1, 2 * inputs, "two for each input")
    draws = Draws(seed)
    cost, impurity = draws.integers(1, 10, inputs), draws.integers(0, 10, inputs)
    penalty, revenue = draws.integers(0, 3, products), draws.integers(5, 40, products)
    demand = draws.integers(5, 20, products)
    value = cost[:, None] + np.outer(impurity, penalty) - revenue
    each = np.eye(pools)
    P = _coupling(np.kron(each, value))
    shares, flows = pools * inputs, pools * products
    A = np.hstack([np.kron(each, np.ones(inputs)), np.zeros((pools, flows))])
    G = np.zeros((pools + products + inputs, shares + flows))
    G[:pools, shares:] = np.kron(each, np.ones(products))
    G[pools : pools + products, shares:] = np.kron(np.ones(pools), np.eye(products))
    G[pools + products :, :shares] = np.kron(np.ones(pools), np.eye(inputs))
    h = np.concatenate([np.full(pools, 20.0), demand, np.full(inputs, 2.0)])
    ub = np.concatenate([np.ones(shares), np.tile(demand, pools)])
    return program(P, np.zeros(ub.size), G, h, A, np.ones(pools), 0.0, ub)


# ---------------------------------------------------------------------------------------- graphs

CODE_SIZES = {
    (5, 3): 4, (6, 3): 8, (7, 3): 16, (8, 3): 20, (8, 5): 4, (9, 5): 6, (10, 5): 12,
}  # fmt: skip
"""A(n, d), the largest number of binary words of length n at distances of at least d, for odd d,
from [BB78]_, Table I; for even d, A(n, d) = A(n - 1, d - 1)."""

CONSTANT_WEIGHT_CODE_SIZES = {
    (8, 4, 4): 14, (9, 4, 4): 18, (10, 4, 4): 30, (11, 4, 4): 35, (12, 4, 4): 51,
    (8, 6, 4): 2, (9, 6, 4): 3, (10, 6, 4): 5, (11, 6, 4): 6, (12, 6, 4): 9, (13, 6, 4): 13,
    (10, 4, 5): 36, (10, 6, 5): 6, (11, 6, 5): 11, (12, 6, 5): 12,
}  # fmt: skip
"""A(n, d, w), the largest number of binary words of length n and weight w at distances of at least
d, from [BBSS]_, Table I."""

KELLER_CLIQUES = {1: 1, 2: 2, 3: 5, 4: 12, 5: 28, 6: 60}
"""The clique numbers of the Keller graphs by dimension, from [DELPS]_."""


class Graph(NamedTuple):
    """A simple graph by its adjacency, (n, n), its clique number, and the size of its largest cut.

    The last two are None where no closed form is known here.
    """

    adjacency: NDArray[np.bool_]
    clique_number: int | None
    largest_cut: int | None = None

    @property
    def n(self) -> int:
        """Number of vertices."""
        return len(self.adjacency)


@named_graph("johnson")
def johnson(n: int, w: int, d: int) -> Graph:
    """Binary words of length n and weight w, adjacent if they differ in at least d places.

    Its cliques are the codes of constant weight: ω = A(n, d, w). That is 1 if no two words differ
    in d places, C(n, w) for d ≤ 2, ⌊n/w⌋ for d = 2w, Schönheim's and Spencer's formula for w = 3
    and d = 4 [S68]_, and an entry of the table of [BBSS]_ otherwise. Distances are even, so that an
    odd d counts as d + 1, and w and n - w give the same graph.

    >>> graph = johnson(8, 4, 4)
    >>> graph.n, graph.clique_number
    (70, 14)
    """
    _whole("n", n, 1, 64)
    _whole("w", w, 0, n)
    _whole("d", d, 1, 2 * n)
    words = math.comb(n, w)
    _check_vertices(words)
    size = _constant_weight_code(n, d + d % 2, min(w, n - w))
    return Graph(_distant(_words_of_weight(n, w), d), size)


def _constant_weight_code(n: int, d: int, w: int) -> int:
    """A(n, d, w) for even d and w ≤ n/2."""
    if d <= 2:  # all words are at distances of at least 2
        return math.comb(n, w)
    if d > 2 * w:  # no two words are so far apart
        return 1
    if d == 2 * w:  # disjoint sets of w places
        return n // w
    if (w, d) == (3, 4):
        return n * ((n - 1) // 2) // 3 - (n % 6 == 5)
    known = CONSTANT_WEIGHT_CODE_SIZES.get((n, d, w))
    if known is None:
        raise NotAllowed(
            "n, w, d", "one of a code of constant weight whose size is known here",
            f"A({n}, {d}, {w}).",
            f"Known are d ≤ 2, d = 2w, w = 3 with d = 4, and {sorted(CONSTANT_WEIGHT_CODE_SIZES)}.",
        )  # fmt: skip
    return known


@named_graph("hamming")
def hamming(n: int, d: int) -> Graph:
    """Binary words of length n, adjacent if they differ in at least d places: ω = A(n, d).

    That is 2^n for d = 1, 2^(n-1) for d = 2, 1 for d > n, 2 for d > 2n/3, and an entry of the table
    of [BB78]_ otherwise.

    >>> graph = hamming(6, 4)
    >>> graph.n, graph.clique_number
    (64, 4)
    """
    _whole("n", n, 1, MAX_VARIABLES.bit_length() - 1)
    _whole("d", d, 1, 2 * n)
    words = (np.arange(2**n)[:, None] >> np.arange(n)) & 1
    return Graph(_distant(words.astype(np.int64), d), _binary_code(n, d))


def _binary_code(n: int, d: int) -> int:
    """A(n, d)."""
    if d > n:  # no two words are so far apart
        return 1
    if d <= 2:  # all words, or those of even weight
        return 2 ** (n - d + 1)
    if 3 * d > 2 * n:  # three words have distances of at most 2n in all
        return 2
    odd = (n, d) if d % 2 else (n - 1, d - 1)
    if odd not in CODE_SIZES:
        raise NotAllowed(
            "n, d", "one of a binary code whose size is known here", f"A({n}, {d}).",
            f"Known are d ≤ 2, d > 2n/3, and {sorted(CODE_SIZES)}.",
        )  # fmt: skip
    return CODE_SIZES[odd]


@named_graph("keller")
def keller(n: int) -> Graph:
    """Words of length n in 0, 1, 2, 3, adjacent if they differ in at least two places, in one by 2.

    The difference of 2 is modulo 4. The clique numbers are those of [DELPS]_.

    >>> graph = keller(3)
    >>> graph.n, graph.clique_number
    (64, 5)
    """
    _whole("n", n, 1, max(KELLER_CLIQUES))
    words = (np.arange(4**n)[:, None] >> (2 * np.arange(n))) & 3
    differing = np.zeros((4**n, 4**n), np.int8)
    opposite = np.zeros((4**n, 4**n), bool)
    for letter in words.T:
        difference = (letter[:, None] - letter) % 4
        differing += difference != 0
        opposite |= difference == 2
    return Graph(opposite & (differing >= 2), KELLER_CLIQUES[n])


@named_graph("turan")
def turan(n: int, parts: int) -> Graph:
    """Vertices in parts of nearly equal sizes, adjacent if they are in different parts: ω = parts.

    >>> turan(9, 3).clique_number
    3
    """
    _whole("n", n, 1, MAX_VARIABLES)
    _whole("parts", parts, 1, n)
    _check_vertices(n)
    part = np.arange(n) % parts
    return Graph(part[:, None] != part, parts)


@named_graph("paley")
def paley(p: int) -> Graph:
    """The field of p² elements, p an odd prime, adjacent if they differ by a square: ω = p [Bl84]_.

    The subfield of p elements is a clique, since each of its elements has a root in the larger one.

    >>> graph = paley(5)
    >>> graph.n, graph.clique_number
    (25, 5)
    """
    _whole("p", p, 3, MAX_VARIABLES)
    _check_vertices(p * p)
    if any(p % k == 0 for k in range(2, p)):
        raise NotAllowed("p", "an odd prime", str(p))
    roots = {k * k % p for k in range(p)}
    nonresidue = next(k for k in range(2, p) if k not in roots)
    # An element is u + v√r with a nonresidue r of the subfield; its number is p u + v.
    u, v = np.divmod(np.arange(p * p), p)
    square = np.zeros(p * p, bool)
    square[((u * u + nonresidue * v * v) % p) * p + 2 * u * v % p] = True
    square[0] = False
    adjacency = square[((u[:, None] - u) % p) * p + (v[:, None] - v) % p]
    return Graph(adjacency, p)


@named_graph("triangular")
def triangular(m: int) -> Graph:
    """The pairs of m things, adjacent if they share one: ω = m - 1, and 3 for m = 3 by a triple.

    >>> graph = triangular(7)
    >>> graph.n, graph.clique_number
    (21, 6)
    """
    _whole("m", m, 3, MAX_VARIABLES)
    _check_vertices(m * (m - 1) // 2)
    pairs = _words_of_weight(m, 2)
    return Graph(pairs @ pairs.T == 1, max(m - 1, 3))


@named_graph("lattice")
def lattice(m: int) -> Graph:
    """The squares of an m by m board, adjacent in a row or a column: ω = m, rows and columns."""
    _whole("m", m, 2, MAX_VARIABLES)
    _check_vertices(m * m)
    row, column = np.divmod(np.arange(m * m), m)
    return Graph((row[:, None] == row) != (column[:, None] == column), m)


@named_graph("cyclejoin")
def cycle_join(cycles: int, length: int) -> Graph:
    """The complement of disjoint cycles of the same length of at least 4: ω = cycles ⌊length/2⌋.

    For odd lengths the bound of Lovász is above that, for pentagons by the factor √5/2.

    >>> graph = cycle_join(6, 5)
    >>> graph.n, graph.clique_number
    (30, 12)
    """
    _whole("cycles", cycles, 1, MAX_VARIABLES)
    _whole("length", length, 4, MAX_VARIABLES)
    n = cycles * length
    _check_vertices(n)
    cycle, place = np.divmod(np.arange(n), length)
    step = (place[:, None] - place) % length
    joined = (cycle[:, None] == cycle) & ((step <= 1) | (step == length - 1))
    return Graph(~joined, cycles * (length // 2))


def _words_of_weight(n: int, w: int) -> NDArray[np.int64]:
    words = np.zeros((math.comb(n, w), n), np.int64)
    for word, places in zip(words, itertools.combinations(range(n), w), strict=True):
        word[list(places)] = 1
    return words


def _distant(words: NDArray[np.int64], d: int) -> NDArray[np.bool_]:
    """Whether two binary words differ in at least d places."""
    common, weights = words @ words.T, words.sum(axis=1)
    return np.add.outer(weights, weights) - 2 * common >= d


def _check_vertices(n: int) -> None:
    _whole("number of vertices", n, 1, MAX_VARIABLES)


@named_graph("cycle")
def cycle(n: int) -> Graph:
    """A cycle: its largest cut has all edges, or all but one if n is odd."""
    _whole("n", n, 3, MAX_VARIABLES)
    step = np.subtract.outer(np.arange(n), np.arange(n)) % n
    return Graph((step == 1) | (step == n - 1), 3 if n == 3 else 2, n - n % 2)


@named_graph("complete")
def complete(n: int) -> Graph:
    """All pairs are adjacent: ω = n, and halves cut ⌊n²/4⌋ edges."""
    _whole("n", n, 2, MAX_VARIABLES)
    return Graph(~np.eye(n, dtype=bool), n, n * n // 4)


@named_graph("bipartite")
def bipartite(n: int, m: int) -> Graph:
    """All pairs of one of n and one of m vertices, which are all cut."""
    _check(n=n, m=m, vertices=n + m)
    part = np.arange(n + m) < n
    return Graph(part[:, None] != part, 2, n * m)


@named_graph("petersen")
def petersen() -> Graph:
    """The pairs of five things, adjacent if they share none: 12 of the 15 edges can be cut."""
    return kneser(5, 2)._replace(largest_cut=12)


@named_graph("kneser")
def kneser(n: int, k: int) -> Graph:
    """The sets of k among n things, adjacent if they share none: ω = ⌊n/k⌋."""
    _whole("n", n, 2, 64)
    _whole("k", k, 1, n)
    _check_vertices(math.comb(n, k))
    sets = _words_of_weight(n, k)
    return Graph(sets @ sets.T == 0, n // k)


@named_graph("mobius")
def mobius(k: int) -> Graph:
    """The Möbius ladder: a cycle of 2k vertices and the k pairs of opposite ones, k > 2.

    It is bipartite if k is odd. Otherwise the cycle and every chord are odd in common: with c
    edges of the cycle uncut, c is even, and all but at least two edges can be cut.
    """
    _whole("k", k, 3, MAX_VARIABLES // 2)
    n = 2 * k
    step = np.subtract.outer(np.arange(n), np.arange(n)) % n
    return Graph((step == 1) | (step == n - 1) | (step == k), 2, 3 * k - 2 * (k % 2 == 0))


@named_graph("torus")
def torus(rows: int, columns: int) -> Graph:
    """A toroidal grid: every row or column of odd length has an edge that is not cut."""
    _check(3, rows=rows, columns=columns, vertices=rows * columns)
    place = np.arange(rows * columns).reshape(rows, columns)
    adjacency = np.zeros((place.size, place.size), bool)
    for axis in (0, 1):
        neighbours = np.roll(place, -1, axis).ravel()
        adjacency[place.ravel(), neighbours] = adjacency[neighbours, place.ravel()] = True
    cut = 2 * place.size - rows * (columns % 2) - columns * (rows % 2)
    return Graph(adjacency, 3 if min(rows, columns) == 3 else 2, cut)


@named_graph("hypercube")
def hypercube(d: int) -> Graph:
    """Binary words of length d, adjacent if they differ in one place, which is bipartite."""
    _whole("d", d, 1, 12)
    words = (np.arange(2**d)[:, None] >> np.arange(d)) & 1
    differing = np.abs(words[:, None] - words).sum(axis=2)
    return Graph(differing == 1, 2, d * 2 ** (d - 1))


@named_graph("wheel")
def wheel(n: int) -> Graph:
    """A cycle of n vertices and a hub: ⌊3n/2⌋ edges can be cut, as every triangle keeps one."""
    _whole("n", n, 3, MAX_VARIABLES - 1)
    adjacency = np.zeros((n + 1, n + 1), bool)
    adjacency[:n, :n] = cycle(n).adjacency
    adjacency[n, :n] = adjacency[:n, n] = True
    return Graph(adjacency, 4 if n == 3 else 3, 3 * n // 2)


@named_graph("circulant")
def circulant(n: int, step: int) -> Graph:
    """Vertices of a cycle, adjacent if they are 1 or `step` apart."""
    _whole("n", n, 5, MAX_VARIABLES)
    _whole("step", step, 2, n // 2)
    apart = np.subtract.outer(np.arange(n), np.arange(n)) % n
    return Graph(np.isin(np.minimum(apart, n - apart), (1, step)), None)


def _known(graph: Graph, what: str) -> int:
    """The clique number or largest cut of a graph, which a program needs."""
    value = graph.clique_number if what == "clique number" else graph.largest_cut
    if value is None:
        raise NotAllowed("graph", f"one whose {what} is known here", "another")
    return value


@family(
    "clique",
    "structured",
    "The largest clique of a graph as a standard quadratic program: Bomze, Journal of Global "
    "Optimization 10, 1997.",
    OF_GRAPHS,
)
def bomze(graph: Graph) -> dict[str, Any]:
    """Minimise -xᵀ(A + ½ I) x over the simplex; the optimum is 1/(2ω) - 1 [B97]_.

    Half of the identity is added to the program of Motzkin and Straus [MS65]_. Every local
    minimiser is the uniform distribution on a clique that no vertex extends.

    >>> bomze(turan(6, 3))["optimum"]
    -0.8333333333333334
    """
    P, simplex = -2.0 * graph.adjacency - np.eye(graph.n), np.ones((1, graph.n))
    optimum = 0.5 / _known(graph, "clique number") - 1.0
    return program(P, A=simplex, b=[1.0], lb=0.0, ub=1.0, optimum=optimum)


@family(
    "packing",
    "structured",
    "The largest clique of a graph as a box-constrained program: Harant, Discussiones "
    "Mathematicae Graph Theory 20, 2000, for stable sets of the complement.",
    OF_GRAPHS,
)
def packing(graph: Graph) -> dict[str, Any]:
    """Minimise Σ x_i x_j - Σ x_i, the first sum over pairs that are not adjacent, 0 ≤ x ≤ 1.

    The objective is linear in every single variable, so that a vertex of the box is optimal; one of
    every pair in it that is not adjacent can be left out. The optimum is -ω.
    """
    P = ~graph.adjacency & ~np.eye(graph.n, dtype=bool)
    optimum = -float(_known(graph, "clique number"))
    return program(P, -np.ones(graph.n), lb=0.0, ub=1.0, optimum=optimum)


@family(
    "cut",
    "structured several-optima",
    "The largest cut of a graph with unit weights as a box-constrained program.",
    OF_GRAPHS,
)
def cut(graph: Graph) -> dict[str, Any]:
    """Minimise Σ (2 x_i x_j - x_i - x_j) over the edges, 0 ≤ x ≤ 1: minus the largest cut."""
    found = _cut(graph.adjacency.astype(float))
    known = graph.largest_cut
    return found if known is None else found | {"optimum": -float(known)}


# ------------------------------------------------------------------------------- linear programs


def _modulo(p: int, *shape: int) -> Array:
    """(i j) mod p for i = 1, 2, ... and j = 1, 2, ..., or i² mod p for one index."""
    numbers = [np.arange(1, size + 1) for size in shape]
    product = np.multiply.outer(*numbers) if len(shape) == 2 else numbers[0] ** 2
    return (product % p).astype(float)


@family(
    "kleeminty",
    "structured",
    "The cube of Klee and Minty (1972), whose vertices the simplex method of Dantzig visits all.",
)
def klee_minty(n: int) -> dict[str, Any]:
    """Maximise Σ 2^(n-j) x_j subject to Σ_(j<i) 2^(i-j+1) x_j + x_i ≤ 5^i, x ≥ 0: 5^n."""
    _whole("n", n, 1, 20)
    i = np.arange(1, n + 1)
    rows = np.tril(2.0 ** (np.subtract.outer(i, i) + 1), -1) + np.eye(n)
    return program(None, -(2.0 ** (n - i)), rows, 5.0**i, lb=0.0, optimum=-(5.0**n))


@family("beale", "structured degenerate", "The example of cycling of Beale (1955).")
def beale() -> dict[str, Any]:
    """Its optimum is -5/4, or -5 after the rows and the objective are made whole."""
    q = [-3.0, 80.0, -2.0, 24.0]
    G = [[1.0, -32.0, -4.0, 36.0], [1.0, -24.0, -1.0, 6.0], [0.0, 0.0, 1.0, 0.0]]
    return program(None, q, G, [0.0, 0.0, 1.0], lb=0.0, optimum=-5.0)


@family(
    "kuhn",
    "structured degenerate",
    "The example of cycling of Kuhn, in Balinski and Tucker (1969).",
)
def kuhn() -> dict[str, Any]:
    """Its optimum is -2; the second row is multiplied by 3."""
    G = [[-2.0, -9.0, 1.0, 9.0], [1.0, 3.0, -1.0, -6.0], [2.0, 3.0, -1.0, -12.0]]
    return program(None, [-2.0, -3.0, 1.0, 12.0], G, [0.0, 0.0, 2.0], lb=0.0, optimum=-2.0)


@family(
    "marshallsuurballe",
    "structured degenerate",
    "The example of cycling of Marshall and Suurballe (1969), times 10, with a bound.",
)
def marshall_suurballe() -> dict[str, Any]:
    """Its optimum is -20 at (4, 1, 0)."""
    G = [[6.0, -64.0, 48.0], [2.0, -18.0, 6.0], [4.0, -16.0, 2.0], [0.0, 1.0, 0.0]]
    return program(None, [-4.0, -4.0, 18.0], G, [0.0, 0.0, 0.0, 1.0], lb=0.0, optimum=-20.0)


@family(
    "chvatal",
    "structured degenerate",
    "The example of cycling in Chvátal, Linear Programming (1983).",
)
def chvatal() -> dict[str, Any]:
    """Its optimum is -1; two rows are multiplied by 2."""
    G = [[1.0, -11.0, -5.0, 18.0], [1.0, -3.0, -1.0, 2.0], [1.0, 0.0, 0.0, 0.0]]
    return program(None, [-10.0, 57.0, 9.0, 24.0], G, [0.0, 0.0, 1.0], lb=0.0, optimum=-1.0)


def _sums(rows: int, columns: int) -> Array:
    """The rows that sum a matrix over its rows and then over its columns, without the last."""
    over = np.kron(np.eye(rows), np.ones(columns)), np.kron(np.ones(rows), np.eye(columns))
    return np.vstack(over)[:-1]


@family("assignment", "structured degenerate", "An assignment problem with the costs i j mod p.")
def assignment(n: int, p: int) -> dict[str, Any]:
    """Minimise Σ (i j mod p) x_ij over doubly stochastic matrices."""
    _check(2, n=n, p=p, variables=n * n)
    b = np.ones(2 * n - 1)
    return program(None, _modulo(p, n, n).ravel(), A=_sums(n, n), b=b, lb=0.0)


@family("transport", "structured", "A transport problem with the costs i j mod p.")
def transport(m: int, n: int, p: int) -> dict[str, Any]:
    """m sources have n + i units, i = 1..m, and n sinks need m units or m + 1 to m + i more."""
    _check(2, m=m, n=n, p=p, variables=m * n)
    supply = n + np.arange(1.0, m + 1)
    total = int(supply.sum())
    demand = np.full(n, total // n) + (np.arange(n) < total % n)
    b = np.concatenate([supply, demand])[:-1]
    return program(None, _modulo(p, m, n).ravel(), A=_sums(m, n), b=b, lb=0.0)


@family(
    "minimax",
    "structured",
    "The monic polynomial of degree n that is smallest on [-1, 1], by Chebyshev (1854).",
)
def minimax(n: int) -> dict[str, Any]:
    """Minimise t with |x^n + Σ a_j x^j| ≤ t at the points cos(kπ/n), k = 0..n: 2^(1-n)."""
    _whole("n", n, 1, 30)
    x = np.cos(np.arange(n + 1) * np.pi / n)
    powers, last = np.vander(x, n, increasing=True), -np.ones((n + 1, 1))
    G = np.block([[powers, last], [-powers, last]])
    h = np.concatenate([-(x**n), x**n])
    return program(None, np.append(np.zeros(n), 1.0), G, h, optimum=2.0 ** (1 - n))


@family("l1fit", "structured", "The line of least absolute deviations through t² mod p.")
def l1_fit(m: int, p: int) -> dict[str, Any]:
    """Minimise Σ u + v with a + b t + u_t - v_t = t² mod p, t = 1..m, and u, v ≥ 0."""
    _check(2, m=m, p=p)
    t, one = np.arange(1.0, m + 1), np.eye(m)
    A = np.column_stack([np.ones(m), t, one, -one])
    q, lb = np.append([0.0, 0.0], np.ones(2 * m)), np.append([-np.inf] * 2, np.zeros(2 * m))
    return program(None, q, A=A, b=_modulo(p, m), lb=lb)


@family(
    "gridflow", "structured degenerate", "Two units of flow through a grid with costs modulo p."
)
def grid_flow(rows: int, columns: int, p: int) -> dict[str, Any]:
    """From the first to the last of the nodes, to the right or downwards, one unit on an arc.

    The costs of the arcs k = 1, 2, ... are k² mod p.
    """
    _check(2, rows=rows, columns=columns, p=p, nodes=rows * columns)
    place = np.arange(rows * columns).reshape(rows, columns)
    tails = np.concatenate([place[:, :-1].ravel(), place[:-1].ravel()])
    heads = np.concatenate([place[:, 1:].ravel(), place[1:].ravel()])
    A = np.zeros((place.size, tails.size))
    A[tails, np.arange(tails.size)] = 1.0
    A[heads, np.arange(tails.size)] = -1.0
    b = np.zeros(place.size)
    b[0] = 2.0
    return program(None, _modulo(p, tails.size), A=A[:-1], b=b[:-1], lb=0.0, ub=1.0)


@family(
    "pennies", "structured", "Hide and seek in n places, a zero-sum game of von Neumann (1953)."
)
def pennies(n: int) -> dict[str, Any]:
    """Maximise v with v ≤ i x_i for i = 1..n and x a distribution: 1 / Σ 1/i."""
    _check(n=n)
    i = np.arange(1.0, n + 1)
    G, A = np.column_stack([-np.diag(i), np.ones(n)]), np.append(np.ones(n), 0.0)[None]
    q, lb = np.append(np.zeros(n), -1.0), np.append(np.zeros(n), -np.inf)
    return program(None, q, G, np.zeros(n), A, [1.0], lb, optimum=-1.0 / float((1.0 / i).sum()))


@family("stones", "structured", "Stone, paper and scissors for an odd number of things.")
def stones(n: int) -> dict[str, Any]:
    """Maximise v with v ≤ (xᵀS)_j, where things win against the next (n-1)/2 of a circle: 0."""
    _whole("n", n, 3, 999)
    _whole("n mod 2", n % 2, 1, 1)
    step = np.subtract.outer(np.arange(n), np.arange(n)) % n
    S = np.where(step == 0, 0.0, np.where(step <= n // 2, -1.0, 1.0))
    G, A = np.column_stack([-S.T, np.ones(n)]), np.append(np.ones(n), 0.0)[None]
    q, lb = np.append(np.zeros(n), -1.0), np.append(np.zeros(n), -np.inf)
    return program(None, q, G, np.zeros(n), A, [1.0], lb, optimum=0.0)


@family(
    "knapsack", "structured", "A knapsack that may hold parts of things, filled by Dantzig (1957)."
)
def knapsack(n: int, p: int) -> dict[str, Any]:
    """Maximise Σ v x with Σ w x ≤ ⌊Σ w / 2⌋, 0 ≤ x ≤ 1, w_i = 1 + i² mod p, v_i = 1 + i³ mod p.

    The best things per weight are taken first.
    """
    _check(2, n=n, p=p)
    i = np.arange(1, n + 1)
    w, v = 1.0 + i * i % p, 1.0 + i**3 % p
    room = limit = float(w.sum() // 2)
    value = 0.0
    for k in np.argsort(-v / w, kind="stable"):
        part = min(1.0, room / w[k])
        value, room = value + part * v[k], room - part * w[k]
    return program(None, -v, w[None], [limit], lb=0.0, ub=1.0, optimum=-value)


@family(
    "octahedron",
    "structured degenerate",
    "A linear function on the cross-polytope by its 2^n facets.",
)
def octahedron(n: int) -> dict[str, Any]:
    """Minimise -Σ i x_i subject to ±x_1 ± ... ± x_n ≤ 1 for all signs: -n."""
    _whole("n", n, 1, 12)
    signs = np.array([*itertools.product((-1.0, 1.0), repeat=n)])
    return program(None, -np.arange(1.0, n + 1), signs, np.ones(2**n), optimum=-float(n))


@family("ties", "structured several-optima", "A whole facet of a simplex is optimal.")
def ties(n: int) -> dict[str, Any]:
    """Minimise -Σ x_i subject to Σ x_i ≤ 1, x ≥ 0: -1."""
    _check(n=n)
    return program(None, -np.ones(n), np.ones((1, n)), [1.0], lb=0.0, optimum=-1.0)


@family("randomlp", "random", "Random: a linear program with integers and a feasible point.")
def random_lp(n: int, inequalities: int, equalities: int, seed: int) -> dict[str, Any]:
    """The rows of `row_qp` with its linear term alone."""
    found = row_qp(n, inequalities, equalities, 50, seed)
    return found | {"P": np.zeros((n, n))}


# ------------------------------------------------------------------------------- convex programs

_HOCK = "Hock and Schittkowski, Test Examples for Nonlinear Programming Codes (1981), problem"


@family("hs21", "structured", f"{_HOCK} 21, without its constant -100.")
def hs21() -> dict[str, Any]:
    """The value there is -99.96."""
    P, lb = np.diag([0.02, 2.0]), [2.0, -50.0]
    return program(P, None, [[-10.0, 1.0]], [-10.0], lb=lb, ub=50.0, optimum=0.04)


@family("hs35", "structured", f"{_HOCK} 35, without its constant 9.")
def hs35() -> dict[str, Any]:
    """The value there is 1/9."""
    P = [[4.0, 2.0, 2.0], [2.0, 4.0, 0.0], [2.0, 0.0, 2.0]]
    q = [-8.0, -6.0, -4.0]
    return program(P, q, [[1.0, 1.0, 2.0]], [3.0], lb=0.0, optimum=1.0 / 9.0 - 9.0)


@family("hs44", "structured", f"{_HOCK} 44, which is not convex.")
def hs44() -> dict[str, Any]:
    """The value there is -15 at (0, 3, 0, 4)."""
    P = np.zeros((4, 4))
    P[0, 2:], P[1, 2:] = (-1.0, 1.0), (1.0, -1.0)
    G = [
        [1.0, 2.0, 0.0, 0.0], [4.0, 1.0, 0.0, 0.0], [3.0, 4.0, 0.0, 0.0],
        [0.0, 0.0, 2.0, 1.0], [0.0, 0.0, 1.0, 2.0], [0.0, 0.0, 1.0, 1.0],
    ]  # fmt: skip
    h = [8.0, 12.0, 12.0, 8.0, 8.0, 5.0]
    return program(P + P.T, [1.0, -1.0, -1.0, 0.0], G, h, lb=0.0, optimum=-15.0)


_HS_ROWS = [[1.0, 3.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0, -2.0], [0.0, 1.0, 0.0, 0.0, -1.0]]


def _squares(rows: ArrayLike, right: ArrayLike) -> tuple[Array, Array]:
    """P and q of ‖R x - r‖², whose constant is left out."""
    R, r = np.array(rows, dtype=float), np.array(right, dtype=float)
    return 2.0 * R.T @ R, -2.0 * R.T @ r


_HS_SUM = [[0.0, 1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 0.0, 1.0]]


@family("hs51", "structured", f"{_HOCK} 51, without its constant 6.")
def hs51() -> dict[str, Any]:
    """The value there is 0."""
    P, q = _squares([[1.0, -1.0, 0.0, 0.0, 0.0], *_HS_SUM], [0.0, 2.0, 1.0, 1.0])
    return program(P, q, A=_HS_ROWS, b=[4.0, 0.0, 0.0], optimum=-6.0)


@family("hs52", "structured", f"{_HOCK} 52, without its constant 6.")
def hs52() -> dict[str, Any]:
    """The value there is 1859/349."""
    P, q = _squares([[4.0, -1.0, 0.0, 0.0, 0.0], *_HS_SUM], [0.0, 2.0, 1.0, 1.0])
    return program(P, q, A=_HS_ROWS, b=np.zeros(3), optimum=1859.0 / 349.0 - 6.0)


@family("hs53", "structured", f"{_HOCK} 53, without its constant 6.")
def hs53() -> dict[str, Any]:
    """The value there is 176/43."""
    P, q = _squares([[1.0, -1.0, 0.0, 0.0, 0.0], *_HS_SUM], [0.0, 2.0, 1.0, 1.0])
    optimum = 176.0 / 43.0 - 6.0
    return program(P, q, A=_HS_ROWS, b=np.zeros(3), lb=-10.0, ub=10.0, optimum=optimum)


@family("hs76", "structured", f"{_HOCK} 76.")
def hs76() -> dict[str, Any]:
    """The value there is -4.681818181, which is -103/22."""
    P = [[2.0, 0.0, -1.0, 0.0], [0.0, 1.0, 0.0, 0.0], [-1.0, 0.0, 2.0, 1.0], [0.0, 0.0, 1.0, 1.0]]
    G = [[1.0, 2.0, 1.0, 1.0], [3.0, 1.0, 2.0, -1.0], [0.0, -1.0, -4.0, 0.0]]
    q = [-1.0, -3.0, 1.0, -1.0]
    return program(P, q, G, [5.0, 4.0, -1.5], lb=0.0, optimum=-103.0 / 22.0)


@family("hs118", "structured", f"{_HOCK} 118.")
def hs118() -> dict[str, Any]:
    """The value there is 664.8204500."""
    P = np.diag(np.tile([0.0002, 0.0002, 0.0003], 5))
    step = np.eye(15)[3:] - np.eye(15)[:-3]
    G = np.vstack([step, -step, -np.kron(np.eye(5), np.ones(3))])
    h = np.concatenate([np.tile([6.0, 7.0, 6.0], 4), np.full(12, 7.0), [-60, -50, -70, -85, -100]])
    lb, ub = np.append([8, 43, 3], np.zeros(12)), np.append([21, 57, 16], np.tile([90, 120, 60], 4))
    return program(P, np.tile([2.3, 1.7, 2.2], 5), G, h, lb=lb, ub=ub, optimum=664.82045)


@family(
    "hs268",
    "structured",
    "Schittkowski, More Test Examples for Nonlinear Programming Codes (1987), problem 268.",
)
def hs268() -> dict[str, Any]:
    """‖D x - d‖² with the value 0 at (1, 2, -1, 3, -4); the constant dᵀd = 14463 is left out."""
    D = [
        [-74, 80, 18, -11, -4], [14, -69, 21, 28, 0], [66, -72, -5, 7, 1],
        [-12, 66, -30, -23, 3], [3, 8, -7, -4, 1], [4, -12, 4, 4, 0],
    ]  # fmt: skip
    P, q = _squares(D, [51, -61, -56, 69, 10, -12])
    G = [
        [1, 1, 1, 1, 1], [-10, -10, 3, -5, -4], [8, -1, 2, 5, -3],
        [-8, 1, -2, -5, 3], [4, 2, -3, 5, -1],
    ]  # fmt: skip
    return program(P, q, G, [5.0, -20.0, 40.0, -11.0, 30.0], optimum=-14463.0)


@family(
    "hilbert", "structured", "Least squares with the matrix of Hilbert (1894), in whole numbers."
)
def hilbert(n: int) -> dict[str, Any]:
    """½ xᵀP x - eᵀP x with P_ij = L/(i+j-1), L = lcm(1, ..., 2n-1): -½ eᵀP e at x = e."""
    _whole("n", n, 1, 12)
    P = _hilbert(n)
    return program(P, -P.sum(axis=1), optimum=-0.5 * float(P.sum()))


def _hilbert(n: int) -> Array:
    i = np.arange(1, n + 1)
    return math.lcm(*range(1, 2 * n)) / (np.add.outer(i, i) - 1.0)


@family("hilbertbox", "structured", "The same in a box that cuts its optimum off.")
def hilbert_box(n: int) -> dict[str, Any]:
    """`hilbert` with 0 ≤ x_i ≤ 1 or 1/2 in turns."""
    found = hilbert(n)
    del found["optimum"]
    return found | {"lb": np.zeros(n), "ub": 1.0 / (1.0 + np.arange(n) % 2)}


def _second_differences(n: int) -> Array:
    return 2.0 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)


@family("obstacle", "structured", "A string under a load above an obstacle.")
def obstacle(n: int) -> dict[str, Any]:
    """½ xᵀT x + Σ x_i with second differences T and x ≥ -⌈n²/12⌉."""
    _check(n=n)
    return program(_second_differences(n), np.ones(n), lb=-float(math.ceil(n * n / 12)))


@family("torsion", "structured", "Elastic-plastic torsion of a square bar on n by n points.")
def torsion(n: int) -> dict[str, Any]:
    """½ xᵀL x - 2 Σ x_i with |x_i| at most the distance from the edge, and L the Laplacian."""
    _check(n=n, variables=n * n)
    T, one = _second_differences(n), np.eye(n)
    i = np.arange(1, n + 1)
    end = np.minimum(i, n + 1 - i)
    distance = np.minimum.outer(end, end).ravel().astype(float)
    return program(
        np.kron(T, one) + np.kron(one, T), np.full(n * n, -2.0), lb=-distance, ub=distance
    )


@family("mpc", "structured", "Model predictive control of a double integrator over N steps.")
def mpc(steps: int) -> dict[str, Any]:
    """½ Σ s² + u² with s' = s + v, v' = v + u, |v| ≤ 3, |u| ≤ 1, from s = 10 and v = 0."""
    _check(steps=steps)
    n, one, previous = steps, np.eye(steps), np.eye(steps, k=-1)
    before = np.eye(steps, k=-1)
    A = np.block([[one - previous, -before, 0 * one], [0 * one, one - previous, -one]])
    b = np.zeros(2 * n)
    b[0] = 10.0
    P = np.diag(np.concatenate([np.ones(n), np.zeros(n), np.ones(n)]))
    ub = np.concatenate([np.full(n, np.inf), np.full(n, 3.0), np.ones(n)])
    return program(P, None, A=A, b=b, lb=-ub, ub=ub)


@family(
    "isotonic",
    "structured",
    "Isotonic regression, whose solution are means of blocks: Ayer and others, Annals of "
    "Mathematical Statistics 26, 1955.",
)
def isotonic(n: int, p: int) -> dict[str, Any]:
    """½ ‖x - y‖² without its constant, x_1 ≤ ... ≤ x_n, y_i = i² mod p: -½ Σ x_i²."""
    _check(2, n=n, p=p)
    y = _modulo(p, n)
    blocks: list[tuple[float, int]] = []
    for value in y:
        total, count = float(value), 1
        while blocks and blocks[-1][0] * count >= total * blocks[-1][1]:
            more, others = blocks.pop()
            total, count = total + more, count + others
        blocks.append((total, count))
    optimum = -0.5 * math.fsum(total * total / count for total, count in blocks)
    G = np.eye(n)[:-1] - np.eye(n)[1:]
    return program(np.eye(n), -y, G, np.zeros(n - 1), optimum=optimum)


def _toeplitz(n: int) -> Array:
    i = np.arange(n)
    return 0.5 ** np.abs(np.subtract.outer(i, i))


@family("markowitz", "structured", "The portfolio of least variance, with the covariance 2^-|i-j|.")
def markowitz(n: int) -> dict[str, Any]:
    """½ xᵀS x with Σ x_i = 1, x ≥ 0: 3/(2n + 4), as eᵀS⁻¹e = (n + 2)/3."""
    _whole("n", n, 2, MAX_VARIABLES)
    optimum = 1.5 / (n + 2.0)
    return program(_toeplitz(n), None, A=np.ones((1, n)), b=[1.0], lb=0.0, optimum=optimum)


@family("frontier", "structured", "A point of the efficient frontier of Markowitz (1952).")
def frontier(n: int, p: int) -> dict[str, Any]:
    """`markowitz` with returns r_i = i² mod p of (p - 1)/2 at least, r not all below."""
    _check(2, n=n, p=p)
    returns = _modulo(p, n)
    G, h = -returns[None], [-min((p - 1) / 2.0, float(returns.max()))]
    return program(_toeplitz(n), None, G, h, np.ones((1, n)), [1.0], 0.0)


@family("projsimplex", "structured", "The projection of a point onto the simplex, by sorting.")
def onto_simplex(n: int, p: int) -> dict[str, Any]:
    """½ ‖x - a‖² without its constant, Σ x_i = 1, x ≥ 0, with a_i = (i² mod p)/8."""
    _check(2, n=n, p=p)
    a = _modulo(p, n) / 8.0
    ordered = np.sort(a)[::-1]
    shifts = (np.cumsum(ordered) - 1.0) / np.arange(1, n + 1)
    shift = shifts[np.flatnonzero(ordered > shifts)[-1]]
    x = np.maximum(a - shift, 0.0)
    optimum = math.fsum(0.5 * x * x - a * x)
    return program(np.eye(n), -a, A=np.ones((1, n)), b=[1.0], lb=0.0, optimum=optimum)


@family(
    "birkhoff",
    "structured degenerate",
    "The projection of i j mod p onto the polytope of Birkhoff.",
)
def birkhoff(n: int, p: int) -> dict[str, Any]:
    """½ ‖X - M‖² without its constant over doubly stochastic X, M_ij = (i j mod p)/p."""
    _check(2, n=n, p=p, variables=n * n)
    M = _modulo(p, n, n).ravel() / p
    return program(np.eye(n * n), -M, A=_sums(n, n), b=np.ones(2 * n - 1), lb=0.0)


@family("nnls", "structured", "Nonnegative least squares with a matrix of numbers modulo p.")
def nnls(m: int, n: int, p: int) -> dict[str, Any]:
    """‖M x - d‖² without its constant, x ≥ 0, M_ij = i j² mod p and d_i = i² mod p."""
    _check(2, m=m, n=n, p=p)
    P, q = _squares(_design(m, n, p), _modulo(p, m))
    return program(P, q, lb=0.0)


def _design(m: int, n: int, p: int) -> Array:
    return (np.multiply.outer(np.arange(1, m + 1), np.arange(1, n + 1) ** 2) % p).astype(float)


@family("lasso", "structured", "The lasso of Tibshirani (1996) in positive and negative parts.")
def lasso(m: int, n: int, p: int) -> dict[str, Any]:
    """‖M (u - v) - d‖² + p Σ u + v without its constant, u, v ≥ 0, M and d as in `nnls`."""
    _check(2, m=m, n=n, p=p)
    P, q = _squares(_design(m, n, p), _modulo(p, m))
    return program(np.kron([[1.0, -1.0], [-1.0, 1.0]], P), np.append(q, -q) + p, lb=0.0)


@family("moments", "structured", "The shortest vector with given moments.")
def moments(n: int, m: int) -> dict[str, Any]:
    """½ ‖x‖² with Σ_i i^k x_i = 1 for k = 0..m-1: half of bᵀ(A Aᵀ)⁻¹b, in fractions."""
    _whole("n", n, 2, 100)
    _whole("m", m, 1, min(n, 5))
    A = np.arange(1.0, n + 1) ** np.arange(m)[:, None]
    return program(np.eye(n), None, A=A, b=np.ones(m), optimum=0.5 * _inverse_sum(A @ A.T))


def _inverse_sum(matrix: Array) -> float:
    """eᵀM⁻¹e of a matrix of integers, by elimination in fractions."""
    from fractions import Fraction

    n = len(matrix)
    rows = [[Fraction(v) for v in (*row, 1.0)] for row in matrix.tolist()]
    for k in range(n):
        pivot = next(row for row in rows[k:] if row[k])
        rows.remove(pivot)
        rows.insert(k, pivot)
        for j in range(n):
            if j != k and rows[j][k]:
                share = rows[j][k] / pivot[k]
                rows[j] = [v - share * u for v, u in zip(rows[j], pivot, strict=True)]
    return float(sum(rows[k][n] / rows[k][k] for k in range(n)))


@family("minnorm", "structured", "The point of a simplex that is nearest to the origin.")
def min_norm(n: int) -> dict[str, Any]:
    """½ Σ i² x_i² with Σ x_i = 1, x ≥ 0: half of 1/Σ i⁻²."""
    _check(n=n)
    i = np.arange(1.0, n + 1)
    optimum = 0.5 / math.fsum(i**-2.0)
    return program(np.diag(i * i), None, A=np.ones((1, n)), b=[1.0], lb=0.0, optimum=optimum)


@family(
    "faraway",
    "structured",
    "½ ‖x - 10⁴ e‖² without its constant: terms are large, and so is the optimum.",
)
def far_away(n: int) -> dict[str, Any]:
    """½ ‖x‖² - 10⁴ Σ x_i, 0 ≤ x_i ≤ 2·10⁴: -½·10⁸ n."""
    _check(n=n)
    return program(np.eye(n), np.full(n, -1e4), lb=0.0, ub=2e4, optimum=-0.5e8 * n)


@family(
    "cancel", "structured cancelling", "A distance of 1 that is the difference of numbers 10^2k."
)
def cancel(n: int, k: int) -> dict[str, Any]:
    """½ ‖x - c e‖² with c = 10^k and x ≤ c - 1, whose constant is the cost of a last x = 1: n/2."""
    _check(n=n)
    _whole("k", k, 0, 6)
    c = 10.0**k
    q = np.append(np.full(n, -c), 0.5 * n * c * c)
    ub, lb = np.append(np.full(n, c - 1.0), 1.0), np.append(np.full(n, -np.inf), 1.0)
    return program(np.diag(np.append(np.ones(n), 0.0)), q, lb=lb, ub=ub, optimum=0.5 * n)


@family("flat", "structured several-optima", "A square of a sum: a whole plane is optimal.")
def flat(n: int) -> dict[str, Any]:
    """½ (Σ x_i)² - Σ x_i, 0 ≤ x ≤ 1: -1/2."""
    _check(n=n)
    return program(np.ones((n, n)), -np.ones(n), lb=0.0, ub=1.0, optimum=-0.5)


@family("corner", "structured degenerate", "The tip of a cone of 2^n rows is optimal.")
def tip(n: int) -> dict[str, Any]:
    """½ ‖x‖² - 2 x_n with |x_1| + ... + |x_(n-1)| + x_n ≤ 1 by rows of all signs: -3/2."""
    _whole("n", n, 2, 10)
    signs = np.array([*itertools.product((-1.0, 1.0), repeat=n - 1)])
    q = np.append(np.zeros(n - 1), -2.0)
    G, h = np.column_stack([signs, np.ones(len(signs))]), np.ones(len(signs))
    return program(np.eye(n), q, G, h, optimum=-1.5)


@family(
    "randomconvex", "random", "Random: a convex program with integers, rows and a feasible point."
)
def random_convex(
    n: int, inequalities: int, equalities: int, rank: int, seed: int
) -> dict[str, Any]:
    """The rows of `row_qp`, and P = BᵀB, where B has `rank` rows of integers from -5 to 5."""
    _check(rank=rank)
    found = row_qp(n, inequalities, equalities, 50, seed)
    B = Draws(seed + 1).integers(-5, 5, rank, n)
    return found | {"P": B.T @ B}


# ---------------------------------------------------------------------------- nonconvex programs


@family(
    "hadamard",
    "structured several-optima",
    "The Hadamard matrix of Sylvester type with the largest sum.",
)
def hadamard(k: int) -> dict[str, Any]:
    """-½ xᵀH x, -1 ≤ x ≤ 1, n = 4^k, H symmetric with HHᵀ = n I and eᵀH e = n^(3/2): -½ n^(3/2)."""
    _whole("k", k, 1, 6)
    H: NDArray[np.floating[Any]] = np.ones((1, 1))
    for _ in range(k):
        H = np.kron(H, 1.0 - 2.0 * np.eye(4)[::-1])
    n = 4**k
    return program(-H, lb=-1.0, ub=1.0, optimum=-0.5 * n * 2.0**k)


@family("ring", "structured several-optima", "Neighbours on a ring that want to differ.")
def ring(n: int) -> dict[str, Any]:
    """Σ x_i x_(i+1) around a ring, -1 ≤ x ≤ 1: -n for even n, and 2 - n for odd n."""
    _whole("n", n, 3, MAX_VARIABLES)
    P = np.roll(np.eye(n), 1, axis=1)
    return program(P + P.T, lb=-1.0, ub=1.0, optimum=float(2 * (n % 2) - n))


@family(
    "separable", "structured", "A sum of functions of one variable, every second of them concave."
)
def separable(n: int, p: int) -> dict[str, Any]:
    """Σ ½ d_i x_i² + q_i x_i, 0 ≤ x ≤ 1, d_i = ±(1 + i² mod p), q_i = i³ mod p - (p - 1)/2."""
    _check(2, n=n, p=p)
    i = np.arange(1, n + 1)
    d = (1.0 + i * i % p) * (-1.0) ** i
    q = i**3 % p - (p - 1) / 2.0
    inner = np.clip(np.where(d > 0.0, -q / np.abs(d), 0.0), 0.0, 1.0)
    values = np.minimum(np.minimum(0.5 * d + q, 0.0), 0.5 * d * inner**2 + q * inner)
    return program(np.diag(d), q, lb=0.0, ub=1.0, optimum=math.fsum(values))


@family("modular", "structured", "A box-constrained program of the numbers i j modulo a prime.")
def modular(n: int, p: int) -> dict[str, Any]:
    """½ xᵀP x + qᵀx, 0 ≤ x ≤ 1, P_ij = i j mod p - (p - 1)/2 and q_i = i² mod p - (p - 1)/2."""
    _check(2, n=n, p=p)
    centre = (p - 1) / 2.0
    return program(_modulo(p, n, n) - centre, _modulo(p, n) - centre, lb=0.0, ub=1.0)


@family("modularrows", "structured", "The same with rows of numbers modulo a prime.")
def modular_rows(n: int, p: int, rows: int) -> dict[str, Any]:
    """`modular` with Σ_j ((k + 1) j mod p) x_j ≤ half of the largest sum, k = 1..rows."""
    found = modular(n, p)
    _whole("rows", rows, 1, p - 2)
    G = _modulo(p, rows + 1, n)[1:]
    return program(found["P"], found["q"], G, 0.5 * G.sum(axis=1), lb=0.0, ub=1.0)


@family(
    "modularsimplex",
    "structured",
    "A standard quadratic program of the numbers i j modulo a prime.",
)
def modular_simplex(n: int, p: int) -> dict[str, Any]:
    """½ xᵀP x with Σ x_i = 1, x ≥ 0 and P_ij = i j mod p + 1."""
    _check(2, n=n, p=p)
    return program(_modulo(p, n, n) + 1.0, A=np.ones((1, n)), b=[1.0], lb=0.0, ub=1.0)


def _on_simplex(matrix: ArrayLike) -> dict[str, Any]:
    """½ xᵀM x on the simplex, for a copositive matrix with a zero there."""
    P = np.array(matrix, dtype=float)
    n = len(P)
    return program(P, A=np.ones((1, n)), b=[1.0], lb=0.0, ub=1.0, optimum=0.0)


_ZERO = "structured several-optima cancelling"


@family("horn", _ZERO, "The copositive matrix of Horn, in Hall and Newman (1963).")
def horn() -> dict[str, Any]:
    """Entries are 1, but -1 between neighbours on a ring of five: 0 at (1, 1, 0, 0, 0)/2."""
    step = np.subtract.outer(np.arange(5), np.arange(5)) % 5
    return _on_simplex(np.where((step == 1) | (step == 4), -1.0, 1.0))


@family(
    "hoffmanpereira",
    _ZERO,
    "The copositive matrix of Hoffman and Pereira, Journal of Combinatorial Theory A 14, 1973.",
)
def hoffman_pereira() -> dict[str, Any]:
    """On a ring of seven: 1 on the diagonal, -1 between neighbours, then 1, then 0."""
    step = np.subtract.outer(np.arange(7), np.arange(7)) % 7
    return _on_simplex(np.array([1.0, -1.0, 1.0, 0.0])[np.minimum(step, 7 - step)])


@family(
    "hildebrand",
    _ZERO,
    "An extreme copositive matrix of order 5: Hildebrand, Linear Algebra and its Applications "
    "437, 2012.",
)
def hildebrand(k: int) -> dict[str, Any]:
    """T(θ) with θ = k π/30 in all five places, k = 1..5: cosines of 0, π + θ and 2θ on a ring."""
    _whole("k", k, 1, 5)
    step = np.subtract.outer(np.arange(5), np.arange(5)) % 5
    angle = k * np.pi / 30.0
    entries = np.array([1.0, -np.cos(angle), np.cos(2.0 * angle)])
    return _on_simplex(entries[np.minimum(step, 5 - step)])


@family(
    "nash",
    "structured cancelling",
    "The equilibrium of a game of two: Mangasarian and Stone, Journal of Mathematical Analysis "
    "and Applications 9, 1964.",
)
def nash(n: int, p: int) -> dict[str, Any]:
    """u + v - xᵀ(R + S) y with R y ≤ u e, Sᵀx ≤ v e, and x and y distributions: 0.

    R_ij = i j mod p and S_ij = i² j mod p are the payoffs of the two players.
    """
    _check(2, n=n, p=p)
    R, S = _modulo(p, n, n), _design(n, n, p).T
    one, none = np.ones((n, 1)), np.zeros((n, n))
    P = np.zeros((2 * n + 2, 2 * n + 2))
    P[: 2 * n, : 2 * n] = _coupling(-(R + S))
    G = np.block([[none, R, -one, 0 * one], [S.T, none, 0 * one, -one]])
    A = np.zeros((2, 2 * n + 2))
    A[0, :n] = A[1, n : 2 * n] = 1.0
    q, ub = np.append(np.zeros(2 * n), [1.0, 1.0]), np.append(np.ones(2 * n), [p, p])
    return program(P, q, G, np.zeros(2 * n), A, [1.0, 1.0], 0.0, ub, optimum=0.0)


@family(
    "partition",
    "structured several-optima",
    "Numbers that can be parted into halves of equal sums.",
)
def partition(n: int) -> dict[str, Any]:
    """Σ x_i - x_i² with Σ i x_i = ½ Σ i, 0 ≤ x ≤ 1, n or n + 1 divisible by 4: 0."""
    _whole("n", n, 3, MAX_VARIABLES)
    _whole("n (n + 1) / 2 mod 2", n * (n + 1) // 2 % 2, 0, 0)
    i = np.arange(1.0, n + 1)
    b = [0.5 * float(i.sum())]
    return program(-2.0 * np.eye(n), np.ones(n), A=i[None], b=b, lb=0.0, ub=1.0, optimum=0.0)


@family("oddsum", "structured", "Even numbers whose half an odd one must make up.")
def odd_sum(n: int) -> dict[str, Any]:
    """Σ x_i - x_i² with Σ 2 x_i odd and about n, 0 ≤ x ≤ 1: one x_i is 1/2, which costs 1/4."""
    _whole("n", n, 2, MAX_VARIABLES)
    A, b = np.full((1, n), 2.0), [2.0 * (n // 2) + 1.0 - 2.0 * (n % 2 == 0)]
    return program(-2.0 * np.eye(n), np.ones(n), A=A, b=b, lb=0.0, ub=1.0, optimum=0.25)


@family(
    "qap",
    "structured degenerate",
    "A quadratic assignment problem of Koopmans and Beckmann (1957), made concave.",
)
def qap(n: int, p: int) -> dict[str, Any]:
    """Σ f_ik d_jl x_ij x_kl - s Σ x_ij² over doubly stochastic x, f = |i - k|, d = j l mod p.

    s is the largest sum of f times that of d, so that a permutation is optimal; all are tried.
    """
    _whole("n", n, 2, 6)
    _check(2, p=p)
    f, d = np.abs(np.subtract.outer(np.arange(n), np.arange(n))).astype(float), _modulo(p, n, n)
    np.fill_diagonal(d, 0.0)
    shift = float(f.sum(axis=1).max() * d.sum(axis=1).max())
    orders = [np.array(order) for order in itertools.permutations(range(n))]
    least = min(float(np.sum(f * d[np.ix_(order, order)])) for order in orders)
    P = 2.0 * np.kron(f, d) - 2.0 * shift * np.eye(n * n)
    optimum = least - shift * n
    return program(P, None, A=_sums(n, n), b=np.ones(2 * n - 1), lb=0.0, ub=1.0, optimum=optimum)


# The rows that problems 5 and 6 of [FP90]_ share, and those of problems 7 and 10.
_ROWS_5 = [
    [-2, -6, -1, 0, -3, -3, -2, -6, -2, -2], [6, -5, 8, -3, 0, 1, 3, 8, 9, -3],
    [-5, 6, 5, 3, 8, -8, 9, 2, 0, -9], [9, 5, 0, -9, 1, -8, 3, -9, -9, -3],
    [-8, 7, -4, -5, -9, 1, -7, -1, 3, -2], [-7, -5, -2, 0, -6, -6, -7, -6, 7, 7],
    [1, -3, -3, -4, -1, 0, -4, 1, 6, 0], [1, -2, 6, 9, 0, -7, 9, -9, -6, 4],
    [-4, 6, 7, 2, 2, 0, 6, 6, -7, 4], [1] * 10, [-1] * 10,
]  # fmt: skip
_ROW_7 = [-3, 7, 0, -5, 1, 1, 0, 2, -1, -1, -9, 3, 5, 0, 0, 1, 7, -7, -4, -6]
_ROWS_10 = [
    [3, 5, 5, 6, 4, 4, 5, 6, 4, 4, 8, 4, 2, 1, 1, 1, 2, 1, 7, 3],
    [5, 4, 5, 4, 1, 4, 4, 2, 5, 2, 3, 6, 1, 7, 7, 5, 8, 7, 2, 1],
    [1, 5, 2, 4, 7, 3, 1, 5, 7, 6, 1, 7, 2, 4, 7, 5, 3, 4, 1, 2],
    [3, 2, 6, 3, 2, 1, 6, 1, 7, 3, 7, 7, 8, 2, 3, 4, 5, 8, 1, 2],
    [6, 6, 6, 4, 5, 2, 2, 4, 3, 2, 7, 5, 3, 6, 7, 5, 8, 4, 6, 3],
    [5, 5, 2, 1, 3, 5, 5, 7, 4, 3, 4, 1, 7, 3, 8, 3, 1, 6, 2, 8],
    [3, 6, 6, 3, 1, 6, 1, 6, 7, 1, 4, 3, 1, 4, 3, 6, 4, 6, 5, 4],
    [1, 2, 1, 7, 8, 7, 6, 5, 8, 7, 2, 3, 5, 5, 4, 5, 4, 2, 2, 8],
    [8, 5, 2, 5, 3, 8, 1, 3, 3, 5, 4, 5, 5, 6, 1, 7, 1, 2, 2, 4],
    [1] * 20,
]  # fmt: skip


@family(
    "floudas",
    "structured",
    "Floudas and Pardalos, A Collection of Test Problems (1990), chapter 2, of which no constants "
    "are kept.",
)
def floudas(problem: int) -> dict[str, Any]:
    """Problems 2.1 to 2.10 of [FP90]_; test sets call them ex2_1_1 to ex2_1_10."""
    _whole("problem", problem, 1, 10)
    return _FLOUDAS[problem - 1]()


def _floudas_1() -> dict[str, Any]:
    q, row = [42.0, 44.0, 45.0, 47.0, 47.5], [[20.0, 12.0, 11.0, 7.0, 4.0]]
    return program(-100.0 * np.eye(5), q, row, [40.0], lb=0.0, ub=1.0, optimum=-17.0)


def _floudas_2() -> dict[str, Any]:
    q = [-10.5, -7.5, -3.5, -2.5, -1.5, -10.0]
    G, P = [[6, 3, 3, 2, 1, 0], [10, 0, 10, 0, 0, 1]], np.diag([-1.0] * 5 + [0.0])
    ub = [1.0] * 5 + [np.inf]
    return program(P, q, G, [6.5, 20.0], lb=0.0, ub=ub, optimum=-213.0)


def _floudas_3() -> dict[str, Any]:
    rows = [
        {0: 2, 1: 2, 9: 1, 10: 1}, {0: 2, 2: 2, 9: 1, 11: 1}, {1: 2, 2: 2, 10: 1, 11: 1},
        {0: -8, 9: 1}, {1: -8, 10: 1}, {2: -8, 11: 1},
        {3: -2, 4: -1, 9: 1}, {5: -2, 6: -1, 10: 1}, {7: -2, 8: -1, 11: 1},
    ]  # fmt: skip
    G = np.zeros((9, 13))
    for k, row in enumerate(rows):
        G[k, [*row]] = [*row.values()]
    q, P = [5.0] * 4 + [-1.0] * 9, np.diag([-10.0] * 4 + [0.0] * 9)
    ub = [1.0] * 9 + [100.0] * 3 + [1.0]
    return program(P, q, G, [10.0] * 3 + [0.0] * 6, lb=0.0, ub=ub, optimum=-15.0)


def _floudas_4() -> dict[str, Any]:
    G = [
        [1, 2, 8, 1, 3, 5], [-8, -4, -2, 2, 4, -1], [2, 0.5, 0.2, -3, -1, -4],
        [0.2, 2, 0.1, -4, 2, 2], [-0.1, -0.5, 2, 5, -5, 3],
    ]  # fmt: skip
    q, P = [6.5, -1, -2, -3, -2, -1], np.diag([-1.0, 0, 0, 0, 0, 0])
    ub = [1.0, np.inf, np.inf, 1.0, 1.0, 2.0]
    return program(P, q, G, [16.0, -1.0, 24.0, 12.0, 3.0], lb=0.0, ub=ub, optimum=-11.0)


def _floudas_5() -> dict[str, Any]:
    P, h = np.diag([-10.0] * 7 + [0.0] * 3), [-4, 22, -6, -23, -12, -3, 1, 12, 15, 9, -1]
    q = [-20.0, -80, -20, -50, -60, -90, 0, 10, 10, 10]
    return program(P, q, _ROWS_5, h, lb=0.0, ub=1.0)


def _floudas_6() -> dict[str, Any]:
    q, h = [48.0, 42, 48, 45, 44, 41, 47, 42, 45, 46], [-4, 22, -6, -23, -12]
    return program(-100.0 * np.eye(10), q, _ROWS_5[:5], h, lb=0.0, ub=1.0, optimum=-39.0)


def _floudas_7() -> dict[str, Any]:
    weights = np.arange(1.0, 21)
    # Each row is that before it, moved by one place to the left.
    ring = np.array(_ROW_7)
    G = np.array([np.roll(ring, -k) for k in range(9)] + [np.ones(20)])
    h = [-5, 2, -1, -3, 5, 4, -1, 0, 9, 40]
    return program(-np.diag(weights), 2.0 * weights, G, h, lb=0.0)


def _floudas_8() -> dict[str, Any]:
    falls = [7, 4, 6, 8, 12, 9, 14, 7, 13, 12, 8, 4, 7, 9, 16, 8, 4, 10, 21, 13, 17, 9, 8, 4]
    costs = [300, 270, 460, 800, 740, 600, 540, 380, 300, 490, 380, 760, 430, 250, 390, 600,
             210, 830, 470, 680, 360, 290, 400, 310]  # fmt: skip
    b, P = [8, 24, 20, 24, 16, 12, 29, 41, 13], -2.0 * np.diag(falls)
    return program(P, costs, A=_sums(6, 4), b=b, lb=0.0, ub=100.0, optimum=15639.0)


def _floudas_9() -> dict[str, Any]:
    pairs = [(i, i + 1) for i in range(9)] + [(i, i + 2) for i in range(8)]
    pairs += [(0, 8), (0, 9), (1, 9), (0, 4), (3, 6)]
    adjacency = np.zeros((10, 10))
    adjacency[tuple(np.transpose(pairs))] = -1.0
    return program(adjacency + adjacency.T, A=np.ones((1, 10)), b=[1.0], lb=0.0, optimum=-0.375)


def _floudas_10() -> dict[str, Any]:
    weights = [-63, -15, -44, -91, -45, -50, -89, -58, -86, -82,
               42, 98, 48, 91, 11, 63, 61, 61, 38, 26]  # fmt: skip
    centres = [-19, -27, -23, -53, -42, 26, -33, -23, 41, 19,
               -52, -3, 81, 30, -85, 68, 27, -81, 97, -73]  # fmt: skip
    d, c = np.array(weights, dtype=float), np.array(centres, dtype=float)
    h = [380, 415, 385, 405, 470, 415, 400, 460, 400, 200]
    return program(np.diag(d), -d * c, _ROWS_10, h, lb=0.0)


_FLOUDAS = (
    _floudas_1, _floudas_2, _floudas_3, _floudas_4, _floudas_5,
    _floudas_6, _floudas_7, _floudas_8, _floudas_9, _floudas_10,
)  # fmt: skip


# -------------------------------------------------------------------- programs without an optimum

_NONE = "A program without an optimum: the objective falls along the ray"


def _falling(ray: ArrayLike, point: ArrayLike, **arrays: Any) -> dict[str, Any]:
    return program(**arrays, ray=np.array(ray, dtype=float), point=np.array(point, dtype=float))


@family("falllinear", "structured", f"{_NONE} (1, ..., 1) of a linear program.")
def fall_linear(n: int) -> dict[str, Any]:
    """-Σ x_i with x_i - x_(i+1) ≤ 1 and x ≥ 0."""
    _whole("n", n, 2, 1000)
    G = np.eye(n)[:-1] - np.eye(n)[1:]
    one, none = np.ones(n), np.zeros(n)
    return _falling(one, none, q=-one, G=G, h=np.ones(n - 1), lb=0.0)


@family("falledge", "structured", f"{_NONE} (1, ..., 1) of a linear program with coupled rows.")
def fall_edge(n: int) -> dict[str, Any]:
    """Σ x_i - (n + 1) x_n with x_n ≤ x_i + 1 and x_i ≤ 1 + 2 x_n, i < n, and x ≥ 0."""
    _whole("n", n, 2, 1000)
    one, last = np.eye(n)[:-1], np.eye(n)[-1]
    G = np.vstack([last - one, one - 2.0 * last])
    q = 1.0 - (n + 1.0) * last
    return _falling(np.ones(n), np.zeros(n), q=q, G=G, h=np.ones(2 * n - 2), lb=0.0)


@family("fallflat", "structured", f"{_NONE} (1, ..., 1), on which its convex part is flat.")
def fall_flat(n: int) -> dict[str, Any]:
    """½ Σ (x_i - x_(i+1))² - Σ x_i with x ≥ 0."""
    _whole("n", n, 2, 1000)
    D = np.eye(n)[:-1] - np.eye(n)[1:]
    return _falling(np.ones(n), np.zeros(n), P=D.T @ D, q=-np.ones(n), lb=0.0)


@family("fallrows", "structured", f"{_NONE} (1, ..., 1), on which its convex part is flat.")
def fall_rows(n: int) -> dict[str, Any]:
    """The same without bounds, with rows that keep neighbours within 1."""
    found = fall_flat(n)
    D = np.eye(n)[:-1] - np.eye(n)[1:]
    G, h = np.vstack([D, -D]), np.ones(2 * n - 2)
    return _falling(found["ray"], found["point"], P=found["P"], q=found["q"], G=G, h=h)


@family("fallsaddle", "structured", f"{_NONE} of negative curvature of a saddle without bounds.")
def fall_saddle(n: int) -> dict[str, Any]:
    """½ Σ_(i<n) i x_i² - ½ x_n² + Σ x_i."""
    _whole("n", n, 2, 1000)
    d = np.append(np.arange(1.0, n), -1.0)
    return _falling(np.eye(n)[-1], np.zeros(n), P=np.diag(d), q=np.ones(n))


@family(
    "fallorthant", "structured", f"{_NONE}, in an orthant on which its matrix is not copositive."
)
def fall_orthant(n: int) -> dict[str, Any]:
    """½ (‖x‖² - 2 (x_1 x_2 + ... + x_(n-1) x_n)) with x ≥ 0: 1 - n/2 along (1, ..., 1), n > 2."""
    _whole("n", n, 3, 1000)
    P = np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    return _falling(np.ones(n), np.zeros(n), P=P, lb=0.0)


@family("fallbilinear", "structured", f"{_NONE}, which has no curvature.")
def fall_bilinear(n: int) -> dict[str, Any]:
    """Σ (x_i - ½) y_i with 0 ≤ x_i ≤ 1, y ≥ 0: along any y at x = 0."""
    _check(n=n)
    P, q = _coupling(np.eye(n)), np.append(np.zeros(n), np.full(n, -0.5))
    ub = np.append(np.ones(n), np.full(n, np.inf))
    return _falling(np.append(np.zeros(n), np.ones(n)), np.zeros(2 * n), P=P, q=q, lb=0.0, ub=ub)


@family("fallcone", "structured", f"{_NONE} inside of a cone of rows.")
def fall_cone(n: int) -> dict[str, Any]:
    """½ (Σ_(i<n) x_i² - x_n²) with Σ_(i<n) x_i = 0 and ±x_i ≤ x_n / 2."""
    _whole("n", n, 3, 1000)
    d, one, last = np.append(np.ones(n - 1), -1.0), np.eye(n)[:-1], np.eye(n)[-1]
    G, A = np.vstack([2 * one - last, -2 * one - last]), (1.0 - last)[None]
    return _falling(last, np.zeros(n), P=np.diag(d), G=G, h=np.zeros(2 * n - 2), A=A, b=[0.0])


_EMPTY = "A program without a feasible point"


def _curved(n: int, curvature: int) -> Array | None:
    """No matrix, the identity, or one that is not definite, for a curvature of 0, 1 or 2."""
    _whole("curvature", curvature, 0, 2)
    return (None, np.eye(n), np.diag((-1.0) ** np.arange(n)))[curvature]


@family("chain", "structured", f"{_EMPTY}: a chain of rows is longer than its ends allow.")
def chain(n: int, k: int, curvature: int) -> dict[str, Any]:
    """x_1 ≥ 0, x_(i+1) - x_i ≥ 1 and x_n ≤ n - 1 - 10^-k."""
    _whole("n", n, 2, 1000)
    _whole("k", k, 0, 12)
    G, h = np.eye(n)[:-1] - np.eye(n)[1:], -np.ones(n - 1)
    lb, ub = np.append(0.0, np.full(n - 1, -np.inf)), np.full(n, np.inf)
    ub[-1] = n - 1.0 - 10.0**-k
    P, one = _curved(n, curvature), np.ones(n)
    return program(P, one, G, h, lb=lb, ub=ub, conflict=np.ones(n - 1))


@family(
    "parity", "structured", f"{_EMPTY}: sums of neighbours around a ring contradict each other."
)
def parity(n: int, curvature: int) -> dict[str, Any]:
    """x_i + x_(i+1) = 1 around a ring of even n, except that the first sum is 2."""
    _whole("n", n, 4, 1000)
    _whole("n mod 2", n % 2, 0, 0)
    A, b, signs = np.eye(n) + np.roll(np.eye(n), 1, axis=1), np.ones(n), (-1.0) ** np.arange(n)
    b[0] = 2.0
    return program(_curved(n, curvature), np.ones(n), A=A, b=b, conflict=-signs)


@family("overfull", "structured", f"{_EMPTY}: a row asks for more than the bounds allow.")
def overfull(n: int, k: int, curvature: int) -> dict[str, Any]:
    """Σ x_i ≥ n + 10^-k with 0 ≤ x ≤ 1."""
    _check(n=n)
    _whole("k", k, 0, 12)
    G, h = -np.ones((1, n)), [-n - 10.0**-k]
    return program(_curved(n, curvature), np.ones(n), G, h, lb=0.0, ub=1.0, conflict=np.ones(1))


@family("crossed", "structured", f"{_EMPTY}: rows of Farkas (1902) whose sum is 0 ≤ -1.")
def crossed(n: int, curvature: int) -> dict[str, Any]:
    """i x_i ≤ (i + 1) x_(i+1) for i < n, and n x_n ≤ x_1 - 1."""
    _whole("n", n, 2, 1000)
    i = np.arange(1.0, n + 1)
    G = np.diag(i) - np.roll(np.diag(i), -1, axis=0)
    h = np.append(np.zeros(n - 1), -1.0)
    return program(_curved(n, curvature), np.ones(n), G, h, conflict=np.ones(n))


# --------------------------------------------------------------------------------------- kernels

FEATURES = 8
"""Number of coordinates of the random points."""

PALEY_CLIQUES = {13: 3, 37: 4, 61: 5}
"""The clique number of the Paley graph on p vertices, by p."""


def _differences(X: Array) -> Array:
    return np.abs(X[:, None] - X[None])


def _squared(X: Array) -> Array:
    return (_differences(X) ** 2).sum(axis=2)


def _simpson(X: Array) -> Array:
    on = (X > 0.0).astype(float)
    size = on.sum(axis=1)
    smaller = np.minimum.outer(size, size)
    return np.where(smaller > 0, on @ on.T / np.maximum(smaller, 1.0), size[:, None] == size)


KERNELS: dict[str, Callable[[Array], Array] | None] = {
    "sigmoid": lambda X: np.tanh(X @ X.T - 1.0),
    "l1-gaussian": lambda X: np.exp(-0.02 * _differences(X).sum(axis=2) ** 2),
    "epanechnikov": lambda X: np.maximum(0.0, 1.0 - 0.15 * _squared(X)),
    "simpson": _simpson,
    "polynomial": lambda X: (0.5 * X @ X.T - 1.0) ** 3,
    "pseudo-euclidean": lambda X: X[:, :2] @ X[:, :2].T - X[:, 2:] @ X[:, 2:].T,
    "chebyshev-linear": lambda X: -(_differences(X).max(axis=2) ** 2) / 2.0,
    "chebyshev-gaussian": lambda X: np.exp(-0.3 * _differences(X).max(axis=2) ** 2),
    "cityblock-raw": lambda X: _differences(X).sum(axis=2),
    "random": None,
    "gaussian": lambda X: np.exp(-0.2 * _squared(X)),
    "linear": lambda X: X @ X.T,
    "minus-identity": lambda X: -np.eye(len(X)),
    "lemma4": None,
    "paley": None,
    "tl1": lambda X: np.maximum(0.0, 5.6 - _differences(X).sum(axis=2)),
    "words-linear": None,
    "words-gaussian": None,
    "grid-sigmoid": lambda X: np.tanh(X @ X.T - 1.0),
    "grid-epanechnikov": lambda X: np.maximum(0.0, 1.0 - 0.5 * _squared(X)),
    "grid-tl1": lambda X: np.maximum(0.0, 1.4 - _differences(X).sum(axis=2)),
    "grid-multiquadric": lambda X: -np.sqrt(1.0 + _squared(X)),
    "grid-l1-gaussian": lambda X: np.exp(-0.5 * _differences(X).sum(axis=2) ** 2),
}
"""Kernels by the first part of the names of their problems; those without a function have a matrix
of their own. Their order gives the seeds."""

NUMBERS = [
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
    "twenty",
]  # fmt: skip
"""The words of the kernels of edit distances; even and odd numbers are the classes."""

FORMULATIONS = {
    "c1": "SVMDual(C=1)",
    "c10": "SVMDual(C=10)",
    "c100": "SVMDual(C=100)",
    "c1-nobias": "SVMDual(C=1, bias=False)",
    "hull": "ConvexHullDual(mu=0.5)",
    "guo": "GuoSchuurmansQP(beta=0.1)",
}
"""Formulations by the end of the names of their problems. Exceptions:"""

OTHERS = {
    "chebyshev-linear-080-hull": "ConvexHullDual(mu=0.2)",
    "polynomial-080-guo": "GuoSchuurmansQP(beta=0.05)",
    "paley-014-guo": "GuoSchuurmansQP(beta=0.5)",
    "paley-038-guo": "GuoSchuurmansQP(beta=0.5)",
    "paley-062-guo": "GuoSchuurmansQP(beta=0.5)",
}


def _kernel_parts(name: str) -> tuple[str, int, str] | None:
    """Kernel, number of points and formulation of a name such as sigmoid-040-c10."""
    found = re.fullmatch(r"([a-z][a-z0-9-]*)-(\d{3})-(.+)", name)
    if found is None or found[1] not in KERNELS or found[3] not in FORMULATIONS:
        return None
    return found[1], int(found[2]), OTHERS.get(name, FORMULATIONS[found[3]])


def _kernel_origin(name: str) -> tuple[str, str]:
    parts = _kernel_parts(name)
    if parts is None:
        raise NotKnown("family", name.partition("-")[0], sorted([*FAMILIES, *OF_GRAPHS, *KERNELS]))
    kernel, _, formulation = parts
    dual = f"Minus the program of {formulation}, an SVM with an indefinite kernel"
    if kernel == "lemma4":
        return "structured kernel", f"{dual}: Haasdonk (2005), Lemma 4, with 2^q local optima."
    if kernel == "paley":
        return "structured kernel", f"{dual}: a Paley graph, by Motzkin and Straus (1965)."
    if kernel.startswith("words"):
        return "structured kernel", f"{dual}, of the edit distances of the words one to twenty."
    if kernel.startswith("grid"):
        return "structured kernel", f"{dual}, {kernel[5:]}, on a chequered grid of points."
    if kernel == "minus-identity":
        return "structured kernel several-optima", f"{dual}: minus the identity."
    return "random kernel", f"{dual}: {kernel} at random points."


def _kernel_program(name: str) -> dict[str, Any] | None:
    """The arrays of the dual of a kernel problem, as a minimisation; None for other names."""
    parts = _kernel_parts(name)
    if parts is None:
        return None
    kernel, n, formulation = parts
    _whole("number of points", n, 2, MAX_VARIABLES)
    K, y = _kernel_matrix(kernel, n)
    signs = y.astype(float)
    Q = signs[:, None] * K * signs
    facts: dict[str, Any] = {"K": K, "y": y, "formulation": formulation}
    title, C = formulation.partition("(")[0], float(re.findall(r"=([\d.]+)", formulation)[0])
    facts["C"] = C
    optimum = _kernel_optimum(kernel, y, C)
    if optimum is not None:
        facts["optimum"] = optimum
    if title == "SVMDual":
        rows = {} if "bias=False" in formulation else {"A": signs[None], "b": [0.0]}
        return program(Q, -np.ones(n), lb=0.0, ub=C, **rows, **facts)
    A = np.array([y > 0, y < 0], dtype=float)
    b = np.full(2, 1.0 if title == "ConvexHullDual" else 0.5)
    return program(2.0 * Q, None, A=A, b=b, lb=0.0, ub=C, **facts)


def _kernel_optimum(kernel: str, y: NDArray[np.int64], C: float) -> float | None:
    """The optimum of minus the dual, where the kernel was made to have a known one."""
    if kernel == "lemma4":
        # Lemma 4 of [H05]_: the origin and the vertex of least <v, v> = 4, for any C ≥ 1/2.
        return -0.5
    if kernel == "paley":
        # The only point of its class has weight 1/2 and the others u/2 with u in the simplex,
        # so the objective is -uᵀAu/4, and max uᵀAu = 1 - 1/ω for a graph A ([MS65]_).
        return -0.25 * (1.0 - 1.0 / PALEY_CLIQUES[y.size - 1])
    if kernel == "minus-identity":
        # -eᵀα - ½αᵀα is concave, so it is least at a vertex: in each class as many weights are at
        # C as the smaller class has points.
        return -min(int(np.sum(y > 0)), int(np.sum(y < 0))) * (2.0 * C + C * C)
    return None


def _kernel_matrix(kernel: str, n: int) -> tuple[Array, NDArray[np.int64]]:
    """Kernel matrix and labels -1, 1."""
    if kernel == "lemma4":
        q = (n - 1).bit_length() - 1
        _whole("number of points, 1 + 2^q", n, 1 + 2**q, 1 + 2**q)
        negative = np.arange(2**q)[:, None] >> np.arange(q)[::-1] & 1
        offset = 0.5 / 2.0 ** np.arange(1, q + 1)
        h = np.sqrt(4.0 + ((1.0 + offset) ** 2).sum())
        X = np.zeros((n, q + 1))
        X[:-1] = np.column_stack([np.full(n - 1, h), 1.0 - 2.0 * negative + offset])
        K = X[:, :1] @ X[:, :1].T - X[:, 1:] @ X[:, 1:].T
        return K, np.append(np.ones(n - 1, np.int64), -1)
    if kernel == "paley":
        p = n - 1
        if p not in PALEY_CLIQUES:
            raise NotAllowed("number of points", f"1 + one of {sorted(PALEY_CLIQUES)}", str(n))
        vertex, K = np.arange(p), np.zeros((n, n))
        K[:p, :p] = -1.0 * np.isin(np.subtract.outer(vertex, vertex) % p, vertex[1:] ** 2 % p)
        return K, np.append(np.ones(p, np.int64), -1)
    if kernel.startswith("words"):
        _whole("number of words", n, 2, len(NUMBERS))
        words = NUMBERS[:n]
        d = np.array([[_edits(a, b) for b in words] for a in words], dtype=float)
        K = -0.5 * d * d if kernel == "words-linear" else np.exp(-0.1 * d * d)
        return K, np.where(np.arange(n) % 2, 1, -1)
    if kernel.startswith("grid"):
        m = math.isqrt(n)
        _whole("number of points, a square,", n, m * m, m * m)
        place = np.indices((m, m)).reshape(2, n).T
        function = KERNELS[kernel]
        assert function is not None
        X = 2.0 * place / max(m - 1, 1) - 1.0
        return function(X), np.where(place.sum(axis=1) // 2 % 2, 1, -1)
    # NumPy keeps the stream of RandomState, but not that of default_rng.
    random = np.random.RandomState(1000 * (1 + [*KERNELS].index(kernel)) + n)
    X = random.uniform(-1.0, 1.0, (n, FEATURES))
    y = np.where(X[:, 0] + random.uniform(-1.0, 1.0, n) > 0.0, 1, -1)
    function = KERNELS[kernel]
    if function is None:
        A = random.uniform(-1.0, 1.0, (n, n))
        return 0.5 * (A + A.T), y
    return function(X), y


def _edits(a: str, b: str) -> int:
    """The edit distance of Levenshtein (1965)."""
    row = [*range(len(b) + 1)]
    for i, letter in enumerate(a, 1):
        last, row[0] = row[0], i
        for j, other in enumerate(b, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (letter != other))
    return row[-1]
