"""Any quadratic program: a problem and its formulation in one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

import indefinite_opt.algebra as cp
from indefinite_opt.algebra import Model, constants
from indefinite_opt.errors import ParameterError, ProblemError, shown
from indefinite_opt.foundation import (
    MAX_BYTES,
    Array,
    cached_property,
    checks,
    html_card,
    is_sparse,
    real_array,
)
from indefinite_opt.quadratic.data.arrays import LETTERS, quadratic_arrays
from indefinite_opt.quadratic.data.naming import Names
from indefinite_opt.quadratic.data.standard_form import StandardForm
from indefinite_opt.quadratic.files.reading import read_program, suffix_of, write_program
from indefinite_opt.quadratic.instances.named import named_arrays
from indefinite_opt.quadratic.matrices.sparse import Matrix
from indefinite_opt.quadratic.programs.declaration import Declaration
from indefinite_opt.quadratic.programs.problem import Problem
from indefinite_opt.quadratic.rows.polyhedral_qp import PolyhedralQP
from indefinite_opt.quadratic.rows.polyhedron import Polyhedron

_MEANINGS = {
    "x": "variables",
    "P": "matrix of the quadratic term, of any inertia",
    "q": "linear term",
    "constant": "constant of the objective",
    "G": "rows of the inequalities",
    "h": "right-hand sides of the inequalities",
    "A": "rows of the equations",
    "b": "right-hand sides of the equations",
    "lb": "lower bounds",
    "ub": "upper bounds",
}


class QuadraticProgram(Declaration, Problem):
    r"""Any quadratic program, convex or not, in the letters and the order of qpsolvers.

    .. math:: \min_x\ \tfrac12 x^\top P x + q^\top x
              \quad\text{s.t.}\quad Gx \le h,\ Ax = b,\ lb \le x \le ub

    Parameters
    ----------
    P : (n, n) array_like or sparse matrix, optional
        Of any inertia; without it the program is linear. If it is not symmetric it is replaced by
        (P + Pᵀ)/2, rounded to doubles, and the certificate says so.
    q : (n,) array_like, optional
        Zero by default.
    G, h : (m, n), (m,) array_like, optional
        Inequality rows; G may be sparse. Entries of h of 1e20 and more are infinite.
    A, b : (k, n), (k,) array_like, optional
        Equality rows; A may be sparse. Entries of b are below 1e20 in size.
    lb, ub : float or (n,) array_like, optional
        Bounds, which may be infinite; a number holds for every variable. None by default. Large
        finite bounds stay as they are.
    name : str
        What to call the program in reports.
    sense : {1, -1}
        1 to minimise ½xᵀPx + qᵀx + constant, -1 to maximise it.
    constant : float
        Added to the objective.
    variables, inequalities, equalities : sequence of str, optional
        Names of the variables, of the rows of G and of those of A, for messages, files and `named`.

    Attributes
    ----------
    P, q, G, h, A, b, lb, ub : arrays
        Read-only copies. P, G and A are csr_array if they were given sparse, and so is a P that was
        not given. P, q and the constant belong to the minimisation that is solved, whose objective
        is `sense` times the declared one.
    names : Names
        Names of the variables and rows; each of the three is empty if there are none.
    notes : tuple of str
        What was changed when the program was read, as sentences.
    assumed : str
        What a file does not tell and was assumed, or empty: "maximised, as the library's readme
        says" of a .in file that was read without a sense.
    cvxpy_origin : CvxpyOrigin or None
        The cvxpy problem that the program was made from. Its `assign(x)` writes a point into the
        variables, `point()` reads it there, and `duals(multipliers)` gives the multipliers by
        constraint.

    Raises
    ------
    ProblemError
        For arrays of other shapes, or with entries that are not numbers; for too many, too few or
        repeated names.
    ParameterError
        For another name, sense or constant.
    InfeasibleProblem
        If a lower bound is above its upper bound; when the program is solved or bounded, if no
        point satisfies all constraints.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> qp = iopt.QuadraticProgram([[0.0, 2.0], [2.0, 0.0]], [-1.0, 0.0], lb=-1.0, ub=1.0)
    >>> print(qp.declare())
    QuadraticProgram(2 variables)
      minimize    ½ xᵀPx + qᵀx
      subject to  lb ≤ x ≤ ub  (lower, upper)
      with        x ∈ R², P ∈ R^(2×2), q ∈ R², lb = -e ∈ R², ub = e ∈ R²
      solved as   a quadratic program on a box, by multistart
    >>> result = iopt.solve(qp, solver="global")
    >>> result.values["x"], result.objective, result.certificate.claim.name
    (array([ 1., -1.]), -3.0, 'GLOBAL')
    """

    reference: ClassVar[str] = "the letters of qpsolvers"
    program_type: ClassVar[type] = PolyhedralQP
    convex: ClassVar[bool | None] = None

    P: Matrix
    q: Array
    G: Matrix
    h: Array
    A: Matrix
    b: Array
    lb: Array
    ub: Array
    constant: float
    sense: int
    name: str
    names: Names
    optimum: float | None
    """The optimal value, where a closed form is known."""
    symmetrised: bool
    assumed = ""

    def __init__(
        self,
        P: Any = None,
        q: ArrayLike | None = None,
        G: Any = None,
        h: ArrayLike | None = None,
        A: Any = None,
        b: ArrayLike | None = None,
        lb: ArrayLike | None = None,
        ub: ArrayLike | None = None,
        *,
        name: str = "quadratic program",
        sense: int = 1,
        constant: float = 0.0,
        variables: Sequence[str] = (),
        inequalities: Sequence[str] = (),
        equalities: Sequence[str] = (),
    ) -> None:
        checks.number("constant", constant)
        if not checks.is_number(sense) or sense not in (1, -1):
            raise ParameterError("sense", "1, or -1 for a maximisation", shown(sense))
        if not isinstance(name, str):
            raise ParameterError("name", "a text", shown(name))
        arrays = quadratic_arrays(
            P, q, G, h, A, b, lb, ub, name=name, sense=sense, constant=sense * float(constant),
            names=Names(variables, inequalities, equalities),  # type: ignore[arg-type]
        )  # fmt: skip
        if sense < 0:
            P = arrays["P"]
            arrays |= {"P": -P if is_sparse(P) else 0.0 - P, "q": 0.0 - arrays["q"]}
        self._hold(arrays)

    def _hold(self, arrays: Mapping[str, Any]) -> None:
        self.__dict__.update(arrays, name=arrays["name"] or "quadratic program")
        for value in arrays.values():
            parts = (value.data, value.indices, value.indptr) if is_sparse(value) else (value,)
            for part in parts:
                if isinstance(part, np.ndarray):
                    part.flags.writeable = False

    def __setattr__(self, name: str, value: Any) -> None:
        """Refuse to replace what solvers may have read, all but the name and `cvxpy_origin`."""
        if name not in ("name", "cvxpy_origin"):
            raise AttributeError(f"{name} of a quadratic program cannot change: make another one")
        self.__dict__[name] = value

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{name} of a quadratic program cannot be deleted")

    @property
    def n(self) -> int:
        """Number of variables."""
        return self.q.size

    def objective(self, x: Array) -> float:
        """½ xᵀP x + qᵀx + constant."""
        return float(x @ (0.5 * (self.P @ x) + self.q)) + self.constant

    @property
    def notes(self) -> tuple[str, ...]:
        """What was changed when the program was read, as sentences."""
        changed = "P was not symmetric and was replaced by (P + Pᵀ)/2, rounded to doubles."
        return (changed,) if self.symmetrised else ()

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Any]) -> QuadraticProgram:
        """The program of `quadratic_arrays` that a file or a generator has given."""
        program = cls.__new__(cls)
        program._hold(arrays)
        return program

    @classmethod
    def read(
        cls, source: str | Path, max_bytes: int = MAX_BYTES, sense: str | None = None
    ) -> QuadraticProgram:
        """The program in a file, or a generated one by its name.

        Parameters
        ----------
        source : path or str
            A file whose name ends in .in (the BoxQP library), .lp, .mps, .npz, .qplib or .qps; or a
            name such as "boxqp-50-40-1", which stands for the same program on every machine.
        max_bytes : int
            Largest size of an unpacked file in bytes.
        sense : {"max", "min"}, optional
            Whether a .in file is to be maximised or minimised. Collections differ in this, and the
            file does not say it. The default is a maximum, as in the readme of the BoxQP library,
            and `assumed` then says so. Other files state their sense.

        Raises
        ------
        DataError
            For a file that cannot be read or does not keep to its format.
        ParameterError
            For another sense, or a sense with a file that is not a .in file.
        UnknownName
            If the name is neither a file nor a family of programs.

        Examples
        --------
        >>> QuadraticProgram.read("clique-paley-5")
        QuadraticProgram('clique-paley-5', n=25, rows=1)
        """
        if isinstance(source, str) and not Path(source).suffix and not Path(source).exists():
            if sense is not None:
                hint = "A generated program has one."
                raise ParameterError("sense", "a sense for .in files only", shown(sense), hint)
            return cls.from_arrays(named_arrays(source))
        program = cls.from_arrays(read_program(source, max_bytes, sense))
        if sense is None and suffix_of(Path(source)) == ".in":
            program.__dict__["assumed"] = "maximised, as the library's readme says"
        return program

    @classmethod
    def from_cvxpy(cls, problem: Any) -> QuadraticProgram:
        """The program that a `cvxpy.Problem` states, convex or not.

        The objective must be quadratic and the constraints affine; piecewise linear atoms, their
        squares and `huber` are allowed where they are convex. x holds the entries of all variables,
        in the order of `names.variables`. Behind them are entries that stand for atoms, and rows
        keep them at or above the atoms. In a given x they count as the least possible ones. Rows
        have the labels of their constraints, or their places in `problem.constraints`.

        Raises
        ------
        ProblemError
            For any other part, or an integer variable; the message quotes it.

        Examples
        --------
        >>> import cvxpy as cp
        >>> u, v = cp.Variable(name="u"), cp.Variable(name="v")
        >>> problem = cp.Problem(cp.Minimize(u * v - u), [u + v <= 1, u >= 0, v >= 0])
        >>> qp = QuadraticProgram.from_cvxpy(problem)
        >>> qp.P, qp.q, qp.G
        (array([[0., 1.],
               [1., 0.]]), array([-1.,  0.]), array([[1., 1.]]))
        >>> qp.cvxpy_origin.assign(np.array([1.0, 0.0]))
        >>> float(problem.objective.value)
        -1.0

        |u - 3| is minimised subject to u + v ≤ 1, and has an entry behind those of u and v:

        >>> problem = cp.Problem(cp.Minimize(cp.abs(u - 3)), [u + v <= 1, v >= 0])
        >>> qp = QuadraticProgram.from_cvxpy(problem)
        >>> len(qp.names.variables), qp.q
        (3, array([0., 0., 1.]))
        """
        from indefinite_opt.quadratic.rows.cvxpy_problem import program_of_cvxpy

        arrays, origin = program_of_cvxpy(problem)
        program = cls.from_arrays(arrays)
        program.cvxpy_origin = origin
        return program

    @classmethod
    def from_qpsolvers(cls, problem: Any) -> QuadraticProgram:
        """The program of a `qpsolvers.Problem`, or of any object with its attributes.

        These are P, q, G, h, A, b, lb and ub; all except P and q may be None.

        Raises
        ------
        ProblemError
            For another object, or arrays that make no program.

        Examples
        --------
        >>> from types import SimpleNamespace
        >>> problem = SimpleNamespace(P=[[2.0]], q=[1.0], lb=[0.0], ub=[3.0])
        >>> QuadraticProgram.from_qpsolvers(problem).ub
        array([3.])
        """
        given: dict[str, Any] = {letter: getattr(problem, letter, None) for letter in LETTERS}
        missing = [letter for letter in ("P", "q") if given[letter] is None]
        if missing:
            raise ProblemError(
                "problem", "an object with attributes P and q, as a qpsolvers.Problem",
                f"one of type {type(problem).__name__} without {' and '.join(missing)}",
            )  # fmt: skip
        return cls.from_arrays(quadratic_arrays(**given))

    @classmethod
    def from_linprog(
        cls, c: ArrayLike, A_ub: Any = None, b_ub: ArrayLike | None = None, A_eq: Any = None,
        b_eq: ArrayLike | None = None, bounds: Any = (0, None),
    ) -> QuadraticProgram:  # fmt: skip
        """The linear program of `scipy.optimize.linprog`, with its arguments and defaults.

        `verify` takes what linprog returns with this program.

        Parameters
        ----------
        c, A_ub, b_ub, A_eq, b_eq
            min cᵀx s.t. A_ub x ≤ b_ub, A_eq x = b_eq. The matrices may be sparse.
        bounds : sequence of (lower, upper), or one pair for every variable
            None stands for no bound. By default every variable is nonnegative.

        Raises
        ------
        ProblemError
            For arrays that make no program.

        Examples
        --------
        >>> import indefinite_opt as iopt
        >>> from scipy.optimize import linprog
        >>> arguments = {"c": [-1.0, -2.0], "A_ub": [[1.0, 1.0]], "b_ub": [4.0]}
        >>> qp = QuadraticProgram.from_linprog(**arguments)
        >>> iopt.verify(qp, linprog(**arguments)).claim.name
        'GLOBAL'
        """
        q = np.atleast_1d(np.squeeze(real_array("c", c, "finite real numbers")))
        lower, upper = _pairs(bounds, q.size)
        return cls(None, q, A_ub, b_ub, A_eq, b_eq, lower, upper)

    def write(self, path: str | Path) -> Path:
        """Write the program to a .in, .lp, .mps, .npz, .qplib or .qps file, which `read` reads.

        A .in file is written as in the BoxQP library, for a maximum.

        Raises
        ------
        DataError
            For another ending, for a format that cannot hold the program, and for a file that
            cannot be written.
        """
        form = StandardForm.of(
            **{letter: getattr(self, letter) for letter in LETTERS},
            sense=self.sense, constant=self.constant, name=self.name, names=self.names,
        )  # fmt: skip
        return write_program(form, path)

    def named(self, values: Mapping[str, ArrayLike]) -> dict[str, dict[str, float]]:
        """Values or multipliers by the names of variables and rows, without those of atoms.

        Parameters
        ----------
        values : mapping of arrays
            Those of a result, of its certificate or of a conflict: x, inequalities, equalities,
            lower and upper, each of them or not.

        Raises
        ------
        ParameterError
            For another key, or an array of another size.

        Examples
        --------
        >>> import indefinite_opt as iopt
        >>> qp = iopt.QuadraticProgram(
        ...     q=[-3.0, -1.0], G=[[1.0, 2.0]], h=[4.0], lb=0.0,
        ...     variables=["tea", "milk"], inequalities=["money"],
        ... )
        >>> qp.named({"x": [4.0, 0.0], "inequalities": [3.0]})
        {'x': {'tea': 4.0, 'milk': 0.0}, 'inequalities': {'money': 3.0}}
        """
        variables = [self.names.variable(j) for j in range(self.n)]
        called = {
            **dict.fromkeys(("x", "lower", "upper"), variables),
            "inequalities": self.names.inequalities or [f"G[{k}]" for k in range(self.h.size)],
            "equalities": self.names.equalities or [f"A[{k}]" for k in range(self.b.size)],
        }
        found, atoms = {}, self._atoms
        for key, value in values.items():
            numbers = np.asarray(value, dtype=float)
            if key not in called or numbers.shape != (len(called[key]),):
                raise ParameterError(
                    "values", f"arrays {', '.join(called)} of this program's sizes",
                    f"{key!r} of shape {numbers.shape}",
                )  # fmt: skip
            named = zip(called[key], numbers.tolist(), strict=True)
            found[key] = {name: number for name, number in named if name not in atoms}
        return found

    @property
    def _atoms(self) -> frozenset[str]:
        """Names of variables and rows that stand for atoms of cvxpy."""
        return frozenset() if self.cvxpy_origin is None else self.cvxpy_origin.atoms

    def __getstate__(self) -> dict[str, Any]:
        # The variables of cvxpy stay with the process that has made them.
        return self.__dict__ | {"cvxpy_origin": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._hold(state)

    def __repr__(self) -> str:
        parts = [repr(self.name), f"n={self.n}", f"rows={self.h.size + self.b.size}"]
        return f"QuadraticProgram({', '.join([*parts, *[self.assumed] * bool(self.assumed)])})"

    def _repr_html_(self) -> str:
        rows = [
            ("variables", self.n),
            ("inequality rows", self.h.size),
            ("equality rows", self.b.size),
            ("finite bounds", int(np.isfinite(self.lb).sum() + np.isfinite(self.ub).sum())),
        ]
        return html_card(f"QuadraticProgram {self.name}", rows)

    def __str__(self) -> str:
        rows = self.h.size + self.b.size
        parts = [_count(self.n, "variable")] + [_count(rows, "row")] * bool(rows)
        parts += [self.assumed] * bool(self.assumed)
        return f"QuadraticProgram({', '.join(parts)})"

    def parameters(self) -> dict[str, str]:
        return {}

    def model(self, problem: object = None) -> Model:
        x = cp.Variable(self.n, name="x")
        sense = float(self.sense)
        P, q = constants(P=sense * self.P, q=sense * self.q)
        G, h, A, b = constants(G=self.G, h=self.h, A=self.A, b=self.b)
        objective: Any = 0.5 * cp.quad_form(x, P)
        if self.q.any():
            objective = objective + q @ x
        if self.constant:
            objective = objective + constants(constant=sense * self.constant)[0]
        rows: dict[str, Any] = {}
        if self.h.size:
            rows["inequalities"] = G @ x <= h
        if self.b.size:
            rows["equalities"] = A @ x == b
        for name, end, sign in (("lower", self.lb, 1), ("upper", self.ub, -1)):
            held = np.flatnonzero(np.isfinite(end))
            if held.size:
                (bound,) = constants(**{"lb" if sign > 0 else "ub": end[held]})
                part = x if held.size == self.n else x[held]
                rows[name] = part >= bound if sign > 0 else part <= bound
        if self.sense < 0:
            return Model(maximize=objective, subject_to=rows, meanings=_MEANINGS)
        return Model(minimize=objective, subject_to=rows, meanings=_MEANINGS)

    @property
    def declaration(self) -> QuadraticProgram:
        return self

    def declare(self, problem: object = None) -> Any:
        """The program as mathematics."""
        return self.model().program(str(self), self.program())

    def program(self, problem: object = None) -> PolyhedralQP:
        self._compiled.refuse_without_optimum()
        return self._compiled

    def compiled(self, problem: object = None) -> PolyhedralQP:
        """The program as solvers read it, whether or not it has a feasible point."""
        return self._compiled

    @cached_property
    def _compiled(self) -> PolyhedralQP:
        body = Polyhedron(
            self.G, self.h, self.A, self.b, self.lb, self.ub, self.names, atoms=self._atoms
        )
        epigraphs = () if self.cvxpy_origin is None else tuple(self.cvxpy_origin.epigraphs)
        return PolyhedralQP(
            body, self.P, self.q, sense=self.sense, constant=self.constant, notes=self.notes,
            epigraphs=epigraphs,
        )  # fmt: skip


def _pairs(bounds: Any, n: int) -> tuple[Array, Array]:
    """Lower and upper bounds of n variables, of pairs as linprog has them."""
    expected = f"pairs (lower, upper) of numbers or None, one or {n} of them"
    given = [(0, None)] if bounds is None or np.size(bounds) == 0 else bounds
    try:
        pairs = np.array(given, dtype=float)  # None is nan
    except (TypeError, ValueError):
        pairs = np.zeros(0)
    if pairs.shape not in ((2,), (1, 2), (n, 2)):
        raise ProblemError("bounds", expected, shown(bounds))
    lower, upper = np.broadcast_to(pairs, (n, 2)).T
    free = np.isnan(lower), np.isnan(upper)
    return np.where(free[0], -np.inf, lower), np.where(free[1], np.inf, upper)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"
