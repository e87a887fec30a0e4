"""A solver whose answer a test chooses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from indefinite_opt.quadratic.programs.qp import QP
from indefinite_opt.quadratic.solving.solution import Solution, Status
from indefinite_opt.quadratic.solving.solver import Solver, Task
from indefinite_opt.workflow import solving


class Answer(Solver[QP]):
    """It ends at the given point, of any quadratic program, with the given status."""

    name = "answer"
    accepts = (QP,)
    needs_convex = False

    def __init__(self, *x: float, status: Status = Status.SOLVED) -> None:
        self.x, self.status = np.array(x), status

    def solve(self, task: Task[Any]) -> Solution:
        return Solution({task.program.variable: self.x}, self.status)


def everywhere(
    monkeypatch: pytest.MonkeyPatch, value: float, status: Status = Status.SOLVED
) -> None:
    """All solvers answer with a vector of equal entries, whatever the program."""

    class Constant(Answer):
        def solve(self, task: Task[Any]) -> Solution:
            program = task.program
            return Solution({program.variable: np.full(program.n, value)}, status)

    monkeypatch.setattr(solving, "as_solver", lambda name: Constant())
