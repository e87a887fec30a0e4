"""A compiled program: what solvers, certificates and files read of a declared one.

The compiler compares a program with the model that it was compiled from at random values of the
variables, for up to 200 training points; a contract test compares all programs.
"""

from __future__ import annotations

import enum
import io
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Generic, NamedTuple, Self, TypeVar

import numpy as np

from indefinite_opt.errors import DataError
from indefinite_opt.foundation import Array, Values, cached_property, write_bytes
from indefinite_opt.quadratic.data.standard_form import StandardForm
from indefinite_opt.quadratic.files.reading import write_program
from indefinite_opt.quadratic.programs.feasible_set import FeasibleSet

X = TypeVar("X")


class Curvature(enum.Enum):
    """The sign of the Hessian along the feasible directions, and a sentence on it."""

    UNKNOWN = "First-order conditions hold."
    NO_DIRECTION = (
        "First-order conditions hold and the critical cone is {{0}}: second-order conditions hold "
        "trivially."
    )
    POSITIVE = "First-order conditions hold, curvature is positive on {where}."
    FLAT = (
        "First-order conditions hold, curvature is nonnegative on {where}, flat to rounding along "
        "some directions."
    )
    UNDECIDED = (
        "First-order conditions hold, curvature is negative on {where}. That decides nothing, "
        "because at a bound only one side of a direction is feasible."
    )
    NEGATIVE = (
        "First-order conditions hold, curvature is negative on {where}: the point is not a "
        "local optimum, and can be improved."
    )

    def sentence(self, weak: int = 0) -> str:
        """The sentence, if `weak` variables are at a bound with zero multiplier."""
        among = f" and {weak} at bounds with zero multiplier" if weak else ""
        return self.value.format(where=f"the free variables{among}")

    @property
    def is_nonnegative(self) -> bool:
        """Whether a stationary point with this curvature is a local optimum, up to rounding."""
        return self in (Curvature.NO_DIRECTION, Curvature.POSITIVE, Curvature.FLAT)


def sign_of_curvature(least: float, rounding: float) -> Curvature:
    """What the least eigenvalue of a Hessian along some directions says; inf if there are none."""
    if np.isinf(least):
        return Curvature.NO_DIRECTION
    if least > rounding:
        return Curvature.POSITIVE
    return Curvature.FLAT if least >= -rounding else Curvature.NEGATIVE


@dataclass(frozen=True, eq=False)
class Point(Generic[X]):
    """A point x with F, and with ∇F if the program uses it; else the gradient is empty."""

    x: X
    value: float
    gradient: Array


@dataclass(frozen=True, eq=False)
class Optimality:
    """How far a point with multipliers is from the first-order conditions."""

    multipliers: Values
    """The checked multipliers, given or recovered from the point."""
    stationarity: float
    """Violation of the conditions on the gradient, in its natural unit; inf without multipliers."""
    complementarity: float
    """Multipliers times slacks, in units of the objective; inf without multipliers."""
    unit: float = 1.0
    """Size relative to which the sign of a multiplier is judged."""
    reduced: Array = field(default_factory=lambda: np.empty(0))
    """Reduced gradient; empty if the program does not examine curvature."""
    stacked: Values = field(default_factory=dict)
    """Multipliers of all rows and bounds of a program with rows, by their kind, if there are more
    than those of `multipliers`."""


class LowerBound(NamedTuple):
    """A lower bound on a convex F."""

    value: float
    attained: float | None = None
    """An upper bound on the least value of the program that `value` bounds: a feasible point near
    the certified one attains it. None if that program is the declared one."""
    why: str | None = None
    """Why it proves a global optimum, if the declared program alone does not say so."""


class Spelling(NamedTuple):
    """How a model writes a constraint: as a multiple of that of the program, under a name."""

    name: str
    multiple: float | Array


class CompiledProgram(ABC, Generic[X]):
    """min F(x) over a feasible set, for solvers that know the kind of program it is.

    x is a vector or the declared variables by name, depending on the kind. A method that is not
    abstract has a default for programs to which it does not apply.
    """

    title: ClassVar[str]
    """What kind of program it is, with its article, for messages."""
    usual_solver: ClassVar[str]
    """Name of the solver of this kind of program if the caller names none."""
    has_inner_problem: ClassVar[bool] = False
    """Whether F is a minimum over matrices: its values need the eigenvalues of the kernel matrix,
    and the declared program has a matrix variable."""
    is_linear: ClassVar[bool] = False
    """Whether F and all constraints are linear."""
    has_cones: ClassVar[bool] = False
    """Whether it is a user's program with cones, which takes long for few points."""
    has_own_rows: ClassVar[bool] = False
    """Whether its matrix and rows are a user's, of which nothing is known in advance."""
    is_bounded_by_dual: ClassVar[bool] = False
    """Whether it has proved lower bounds, although it is not convex."""
    multipliers_from_solver: ClassVar[bool] = False
    """Whether multipliers cannot be recovered from a point. The bound that they prove is then all
    that is claimed."""
    sense: int = 1
    """1 or -1: the declared objective is sense · (F + constant)."""
    constant: float = 0.0
    """Constant that F omits."""
    feasible: FeasibleSet | None
    """The set of vectors on which F is minimised; None if x is no vector."""
    spelled: Mapping[str, Spelling] = MappingProxyType({})
    """Constraints of this program that the declared one writes in another way. A multiplier of
    k times a constraint is 1/k times that of the constraint."""

    # ------------------------------------------------------------- what kind of program it is

    @property
    @abstractmethod
    def is_convex(self) -> bool:
        """Whether F is convex on the feasible set."""

    @property
    def known_convex(self) -> bool:
        """Whether `is_convex` is known to be true; nothing is decomposed."""
        return self.is_convex

    @property
    def solved_as(self) -> str:
        """What kind of program it is, and which solver solves it by default."""
        return f"{self.title}, by {self.usual_solver}"

    def refuse_without_optimum(self) -> None:
        """Raise `UnboundedProblem` or `InfeasibleProblem` if the program is known to have none."""
        return

    @property
    def plain(self) -> Self:
        """The same F on the feasible set, with fewer terms that cancel; by default itself."""
        return self

    # --------------------------------------------------------- declared variables and values

    @property
    @abstractmethod
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Shape of every declared variable."""

    @abstractmethod
    def from_values(self, values: Values) -> X:
        """x from the declared variables."""

    def declared(self, value: float, away: float | None = None) -> float:
        """The declared objective for this value of F.

        Adding the constant rounds. With `away` = -inf the result is rounded down, so that a lower
        bound stays one; with inf it is rounded up.
        """
        total = value + self.constant
        if away is not None and self.constant != 0.0:
            total = float(np.nextafter(total, away))
        return self.sense * total

    # -------------------------------------------------------------------------------- points

    @abstractmethod
    def at(self, x: X, gradient: Array | None = None) -> Point[X]:
        """F and ∇F at x, using the gradient if it is given."""

    @abstractmethod
    def infeasibility(self, x: X) -> float:
        """How far x is from a point that satisfies all constraints, relative to its variables.

        Where no such point is computed, it is the largest violation of a constraint, relative to
        the size of its terms.
        """

    # --------------------------------------------------------------------------- other forms

    @abstractmethod
    def arrays(self) -> dict[str, Array]:
        """The data of the program by the names of the papers, for export."""

    def standard_form(self) -> StandardForm | None:
        """The program in standard form; None if it is neither linear nor quadratic."""
        return None

    def export(self, path: Path) -> Path:
        """Write the model to a file, in its declared sense.

        .lp and .mps hold every number to the last bit, quadratic terms included. .npz holds arrays
        under the names in min ½xᵀHx + qᵀx s.t. Ax = b, lower ≤ x ≤ upper for a quadratic program,
        and under those in min costᵀx s.t. row_lower ≤ Ax ≤ row_upper, lower ≤ x ≤ upper for a
        linear one; `sense` is -1 if the declared problem maximises the negative of that objective.
        Problems that are neither can be written as .npz only, which then holds their data under the
        names of the papers.

        Raises
        ------
        DataError
            For another suffix, one that cannot hold the model, or a file that cannot be written.
        """
        if path.suffix not in (".lp", ".mps", ".npz"):
            raise DataError("path", "a file name ending in .lp, .mps or .npz", str(path))
        if path.suffix == ".npz":
            file = io.BytesIO()
            # mypy assumes that one of the names might be allow_pickle.
            np.savez_compressed(file, **self.arrays())  # type: ignore[arg-type]
            write_bytes(path, file.getvalue())
            return path
        form = self.standard_form()
        if form is None:
            raise DataError(
                "path", "a file name ending in .npz", str(path),
                "This problem is neither linear nor quadratic.",
            )  # fmt: skip
        return write_program(form, path)

    def cvxpy_objective(self, variables: Mapping[str, Any]) -> Any:
        """The objective in a form that cvxpy recognises as convex; None to use it as declared."""
        return None

    def inner_minimiser(self, values: Mapping[str, Array]) -> Array | None:
        """The minimiser of the inner problem; None if there is no inner problem."""
        return None


class VectorProgram(CompiledProgram[Array]):
    """min F(x) over a set of vectors x, (n,)."""

    variable: str
    """Name of x in the declared program."""
    feasible: FeasibleSet
    """The set of all x that satisfy the constraints."""

    @cached_property
    def n(self) -> int:
        """Number of variables."""
        return self.feasible.n

    @abstractmethod
    def value(self, x: Array, gradient: Array | None = None) -> float:
        """F(x), without computing the gradient if it is given."""

    @abstractmethod
    def gradient(self, x: Array) -> Array:
        """∇F(x), (n,)."""

    @abstractmethod
    def gradient_unit(self, gradient: Array) -> float:
        """Size relative to which the residual of the first-order conditions is judged."""

    @abstractmethod
    def start(self) -> Array:
        """A feasible point."""

    def infeasibility(self, x: Array) -> float:
        return self.feasible.infeasibility(x)

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        return {self.variable: (self.n,)}

    def from_values(self, values: Values) -> Array:
        return values[self.variable]

    def values(self, x: Array) -> Values:
        """x under its declared name."""
        return {self.variable: x}

    def at(self, x: Array, gradient: Array | None = None) -> Point[Array]:
        slope = self.gradient(x) if gradient is None else gradient
        return Point(x, self.value(x, slope), slope)


class ExplicitProgram(CompiledProgram[Values]):
    """min F over several named variables; subclasses define residuals, multipliers and bounds.

    For formulations that are neither linear nor a quadratic program on a box with lines. Solvers
    accept only subclasses that they know.
    """

    feasible = None

    def from_values(self, values: Values) -> Values:
        return values

    def at(self, x: Values, gradient: Array | None = None) -> Point[Values]:
        return Point(x, self.value(x), np.empty(0))

    def repaired(self, x: Values) -> Values:
        """The values, changed as little as it takes to satisfy every constraint exactly."""
        return x

    @abstractmethod
    def value(self, values: Values) -> float:
        """F."""

    @abstractmethod
    def residual(self, values: Values, multipliers: Values) -> float:
        """Violation of the first-order conditions, in the natural unit of the gradient."""

    @abstractmethod
    def complementarity(self, values: Values, multipliers: Values) -> float:
        """Multipliers times slacks, in units of the objective; 0 without inequalities."""

    @abstractmethod
    def multipliers(self, values: Values) -> dict[str, Array]:
        """Multipliers of the constraints of this program, recovered from a point, or {}."""

    @abstractmethod
    def lower_bound(self, values: Values, multipliers: Values) -> float:
        """A lower bound on F that holds for any arguments; -inf if there is none."""

    def explanation(self, values: Values) -> tuple[str, ...]:
        """Further sentences for the certificate about a stationary point."""
        return ()
