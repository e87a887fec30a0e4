"""A canonical form while a compiled program takes it over, part by part."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np

from indefinite_opt.algebra import (
    Affine,
    AffineRows,
    Canonical,
    ColumnFactor,
    DiagonalFactor,
    Hidden,
    NormRow,
    Operator,
    QuadraticTerm,
    RowFactor,
    SeparableTerm,
    VariableBound,
    level,
)
from indefinite_opt.foundation import Array
from indefinite_opt.problem import KernelFactor, KernelProblem
from indefinite_opt.quadratic import Spelling


class Mismatch(Exception):
    """A class of programs cannot hold this form."""


def require(condition: object) -> None:
    """Raise `Mismatch` unless the condition holds."""
    if not condition:
        raise Mismatch


class Reading:
    """Hands out the parts of a canonical form and counts them.

    A program is a faithful compilation only if it `is_complete`: each part was taken exactly once.
    """

    def __init__(self, form: Canonical) -> None:
        self.form = form
        self._taken: Counter[object] = Counter()
        self.spelled: dict[str, Spelling] = {}
        """Constraints of the program under other names, or times other numbers, in the form."""

    @property
    def is_complete(self) -> bool:
        """Whether each part of the form was taken exactly once."""
        form = self.form
        parts: list[object] = [("cost", name) for name in form.affine.linear]
        parts += [("constant",)] * (form.constant != 0.0)
        parts += [*form.quadratics, *form.separables, *form.rows, *form.norms, *form.bounds]
        parts += form.hidden
        return self._taken == Counter(map(_key, parts))

    def spell(self, name: str, declared: str, multiple: Array | float = 1.0) -> None:
        """Say that the declared constraint is so many times that of the program."""
        if name != declared or np.any(np.asarray(multiple) != 1.0):
            self.spelled[name] = Spelling(declared, multiple)

    def _take(self, parts: list[object]) -> None:
        self._taken.update(map(_key, parts))

    def cost(self, name: str) -> Array:
        """The coefficients of a variable in the affine term, which may be zero."""
        cost = self.form.cost(name)
        if cost is None:
            return np.zeros(math.prod(self.form.variables[name]))
        self._take([("cost", name)])
        return cost

    def constant(self) -> float:
        """The constant of the objective."""
        if self.form.constant != 0.0:
            self._take([("constant",)])
        return self.form.constant

    def quadratics(self) -> list[QuadraticTerm]:
        """All quadratic terms."""
        self._take([*self.form.quadratics])
        return self.form.quadratics

    def square_of(self, variable: str) -> QuadraticTerm:
        """The only quadratic term, which must be ½vᵀPv in this variable."""
        require(len(self.form.quadratics) == 1)
        (square,) = self.quadratics()
        require(square.v is None and square.weight == 0.5 and is_variable(square.u, variable))
        return square

    def objective(
        self, plain: Canonical, places: dict[str, slice], total: int
    ) -> tuple[Array, Array, float]:
        """P, q and the constant of all affine and quadratic terms; see `Canonical.arrays`.

        They are taken from a form with the same objective.
        """
        self.constant()
        self.quadratics()
        self._take([("cost", name) for name in self.form.affine.linear])
        return plain.arrays(places, total)

    def separables(self) -> list[SeparableTerm]:
        """All separable terms."""
        self._take([*self.form.separables])
        return self.form.separables

    def hidden(self) -> list[Hidden]:
        """All hidden variables."""
        self._take([*self.form.hidden])
        return self.form.hidden

    def norms(self) -> list[NormRow]:
        """All bounds of norms."""
        self._take([*self.form.norms])
        return self.form.norms

    def inequality(self, name: str, variable: str) -> Affine:
        """u of the only inequality ku ≤ 0, with this name in the program.

        k is such that the first coefficient of a variable in u is 1 or -1.
        """
        found = [row for row in self.form.rows if not row.equal]
        require(len(found) == 1 and variable in found[0].u.linear)
        self._take([*found])
        A = found[0].u.linear[variable]
        require(A.multiple is not None or A.shape[1] == 1)
        k = abs(float(A.column[0] if A.multiple is None else A.multiple))
        require(k > 0.0)
        self.spell(name, found[0].name, k)
        return found[0].u.scaled(1.0 / k)

    def equation(self, name: str, variable: str, a: Array) -> float | None:
        """b of the equation that is a multiple of aᵀv = b, with this name in the program."""
        for row in self.form.rows:
            if not row.equal or row.u.m != 1 or list(row.u.linear) != [variable]:
                continue
            given = row.u.linear[variable].row
            k = float(given[0] / a[0])
            if k != 0.0 and np.array_equal(given, k * a):
                self._take([row])
                self.spell(name, row.name, k)
                return -float(row.u.constants[0]) / k
        return None

    def rows(self) -> list[AffineRows]:
        """All rows."""
        self._take([*self.form.rows])
        return self.form.rows

    def bounds(self, variable: str, lower: str = "", upper: str = "") -> dict[str, VariableBound]:
        """The bounds of a variable by their sides, at most one on each.

        `lower` and `upper` are their names in the program.
        """
        found = self.all_bounds(variable)
        require(len({bound.side for bound in found}) == len(found))
        for bound in found:
            self.spell({"lower": lower, "upper": upper}[bound.side], bound.name, bound.size)
        return {bound.side: bound for bound in found}

    def all_bounds(self, variable: str) -> list[VariableBound]:
        """The bounds of a variable, of which several may be on one side."""
        found = [bound for bound in self.form.bounds if bound.variable == variable]
        self._take([*found])
        return found

    def is_nonnegative(self, variable: str, name: str) -> bool:
        """Whether the only bound of a variable is v ≥ 0, with this name in the program."""
        bounds = self.bounds(variable, name)
        require(set(bounds) == {"lower"})
        return np.ndim(bounds["lower"].end) == 0 and bounds["lower"].end == 0.0

    def quadratic_form(self, variable: str) -> tuple[Operator, Array, float]:
        """H, c and a constant of all smooth terms, ½vᵀHv + cᵀv + constant, in one variable."""
        n = math.prod(self.form.variables[variable])
        H, c, constant = Operator.zero(n, n), np.zeros(n), self.constant()
        c += self.cost(variable)
        for term in self.quadratics():
            u, v = term.u, term.v or term.u
            require(list(u.linear) == list(v.linear) == [variable])
            L, M, k = u.linear[variable], v.linear[variable], term.weight
            P = Operator.identity(u.m) if term.P is None else term.P
            half = (L.T @ P @ M).scaled(k)
            H = H + half + half.T
            if u.constants.any() or v.constants.any():
                image = P.times(v.constants)
                c += k * (L.T.times(image) + M.T.times(P.T.times(u.constants)))
                constant += k * float(u.constants @ image)
        return H, c, constant


def _key(part: object) -> object:
    return part if isinstance(part, tuple) else id(part)


def only(values: Array | float) -> float:
    """The number that all entries are."""
    found = level(values)
    require(not np.ndim(found))
    return float(found)


def is_variable(u: Affine, name: str) -> bool:
    """Whether u is the variable itself."""
    return list(u.linear) == [name] and u.linear[name].multiple == 1.0 and not u.constants.any()


def positive(values: Array | float) -> float:
    """The positive number that all entries are, as theorems on penalties need it."""
    found = only(values)
    require(found > 0.0)
    return found


def kernel_in(A: Operator, shape: str) -> tuple[float, KernelFactor]:
    """c and K, if A is c times K between the diagonals of a pattern such as "dKd", "dK" or "K".

    Every d is diag(y) for the labels y of the problem that K belongs to.
    """
    require(len(A.terms) == 1)
    ((c, factors),) = A.terms
    kinds = "".join({KernelFactor: "K", DiagonalFactor: "d"}.get(type(f), "?") for f in factors)
    require(kinds == shape)
    (kernel,) = (factor for factor in factors if isinstance(factor, KernelFactor))
    for factor in factors:
        if isinstance(factor, DiagonalFactor):
            require(np.array_equal(factor.d, kernel.problem.y))
    return c, kernel


def is_kernel_of(problem: KernelProblem, A: Operator, c: float, shape: str) -> bool:
    """Whether A is c times K of the problem between diagonals, by reference or as an array."""
    try:
        multiple, kernel = kernel_in(A, shape)
    except Mismatch:
        if problem.gram.on_demand or A.shape != (problem.n, problem.n):
            return False
        K = c * problem.K
        K = K * problem.y[:, None] if shape.startswith("d") else K
        return np.array_equal(A.dense(), K * problem.y if shape.endswith("d") else K)
    return multiple == c and kernel.problem.gram is problem.gram


def reduced(H: Operator, c: Array, fixed: list[tuple[Array, float]]) -> tuple[Operator, Array]:
    """H and c without the terms k·abᵀ of H where aᵀx or bᵀx is fixed by an equation.

    `fixed` has the vector and the value of each equation.
    """
    kept = []
    for k, factors in H.terms:
        choices: list[tuple[float, Array]] = []
        if [type(factor) for factor in factors] == [ColumnFactor, RowFactor]:
            a, b = factors[0].v, factors[1].v  # type: ignore[attr-defined]
            values = (_fixed(a, fixed), b), (_fixed(b, fixed), a)
            choices = [(value, other) for value, other in values if value is not None]
        if choices:  # ½k(aᵀx)(bᵀx) = ½k · value · bᵀx, which vanishes if one value is 0
            value, other = min(choices, key=lambda choice: abs(choice[0]))
            c = c + 0.5 * k * value * other
        else:
            kept.append((k, factors))
    return Operator(H.shape, tuple(kept)), c


def _fixed(a: Array, fixed: list[tuple[Array, float]]) -> float | None:
    """The value of aᵀx, if a is a multiple of the vector of an equation."""
    for vector, value in fixed:
        if vector[0] != 0.0 and np.array_equal(a * vector[0], vector * a[0]):
            return value * float(a[0] / vector[0])
    return None
