"""How the last program of a formulation was compiled, for other problems of the same kind.

The models of a sequence of kernels, or of folds, differ only in the kernel matrix and the labels.
If a program reads these by reference, the program of another problem is made without compiling the
model again.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from indefinite_opt.algebra import Record
from indefinite_opt.problem import KernelProblem
from indefinite_opt.quadratic import PairedQP, kernel_qp

_LAST: dict[type, tuple[Record, dict[str, Any], Any]] = {}
"""For each formulation the record without its problem, the numbers of the program, and how the
model writes its constraints."""


def planned(formulation: type, record: Record, problem: KernelProblem) -> PairedQP | None:
    """The program of a model that differs from the last one only in its problem."""
    last, said = _LAST.get(formulation), _without(problem, record)
    if last is None or said is None or not said.agrees(last[0]):
        return None
    return replace(kernel_qp(problem, **last[1]), spelled=last[2])


def keep_plan(formulation: type, record: Record, problem: KernelProblem, program: Any) -> None:
    """Keep how a program was compiled, if all of it except kernel matrix and labels is numbers."""
    said = _without(problem, record)
    if said is None or type(program) is not PairedQP or program.problem is not problem:
        return
    box = program.feasible
    numbers = {
        "hessian": program.hessian, "linear": program.linear, "upper": box.upper,
        "lines": box.lines, "total": box.total, "sense": program.sense,
        "variable": program.variable,
    }  # fmt: skip
    if not any(map(np.ndim, numbers.values())):
        _LAST[formulation] = said, numbers, program.spelled


def _without(problem: KernelProblem, record: Record) -> Record | None:
    """The record without its problem, of two classes, whose labels are never those of one."""
    if problem.classes.size != 2:
        return None
    return record.without({"problem": problem, "K": problem.gram, "y": problem.y})
