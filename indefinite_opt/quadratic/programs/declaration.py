"""What states a program for a problem."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

from indefinite_opt.algebra import Model, Program
from indefinite_opt.foundation import Values
from indefinite_opt.quadratic.programs.program import CompiledProgram


class Declaration(ABC):
    """A program for people, and for direct solvers.

    It is a formulation of a kernel problem, or a `QuadraticProgram`, which is its own problem.

    Attributes
    ----------
    reference : str
        Where the program stands, with equation numbers.
    program_type : type of CompiledProgram
        The kind of compiled program that a solver must accept.
    convex : bool or None
        Whether it is convex for every problem; None where the problem or a parameter decides.
    """

    reference: ClassVar[str]
    program_type: ClassVar[type[CompiledProgram[Any]]]
    convex: ClassVar[bool | None]

    def declare(self, problem: Any) -> Program:
        """The program as the paper writes it, with its name, and what it was compiled to."""
        return self.model(problem).program(str(self), self.program(problem))

    @abstractmethod
    def model(self, problem: Any) -> Model:
        """The objective and the constraints."""

    @abstractmethod
    def compiled(self, problem: Any) -> Any:
        """The `CompiledProgram` of `model`, whether or not the program has an optimum."""

    def program(self, problem: Any) -> Any:
        """The `CompiledProgram` of `model`, for direct solvers.

        Raises
        ------
        UnboundedProblem, InfeasibleProblem
            If it is known to have no optimum.
        """
        program: CompiledProgram[Any] = self.compiled(problem)
        program.refuse_without_optimum()
        return program

    def program_order(self, problem: Any) -> int:
        """Order of the largest matrix that `program` decomposes or multiplies, at most n."""
        return int(problem.n)

    def settled(self, problem: Any) -> Self:
        """The same declaration, which says of a problem for ever what it says now.

        It is what a result and its certificate are about. `unsettled` says what is declared later.
        """
        return self

    @property
    def unsettled(self) -> Self:
        """The declaration itself, where this one is `settled`."""
        return self

    @abstractmethod
    def parameters(self) -> dict[str, str]:
        """The parameters as text."""

    def remarks(self, problem: Any, values: Values) -> list[str]:
        """Sentences for the certificate on what feasible values define."""
        return []
