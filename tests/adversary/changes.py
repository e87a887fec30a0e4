"""Random sequences of changes, and what each program is worth at the time, by closed forms.

A module of formulations is changed in every way in which a session changes one: globals, parameters
of cvxpy, arrays in place, attributes, methods, whole classes, reloads. K is diagonal, and the
program max Σ g_i a_i - ½ d_i a_i² on 0 ≤ a ≤ u has one local maximum: min(g_i/d_i, u) for d_i > 0,
and u for others, as every g_i is positive.
"""

from __future__ import annotations

import contextlib
import itertools
import sys
import types
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

import indefinite_opt as iopt
from helpers.threads import run_together
from indefinite_opt.errors import IndefiniteOptError

TEXT = """
from dataclasses import dataclass
from typing import Any
import cvxpy
import numpy as np
import indefinite_opt as iopt
import indefinite_opt.algebra as cp

UPPER, W, FACTOR = {upper!r}, np.array({w!r}), cvxpy.Parameter(nonneg=True, value={factor!r})

@dataclass(frozen=True)
class Ours(iopt.Formulation):
    C: Any = 1.0
    V: Any = None

    def _numbers(self):
        gain = {gain!r} * W * (1.0 if self.V is None else self.V)
        return gain * (2.0 if self.C is True else 1.0), UPPER * self.C * getattr(self, "extra", 1.0)

    def model(self, problem):
        gain, upper = self._numbers()
        a = cp.Variable(problem.n, name="alpha")
        return cp.Model(
            maximize=gain @ a - 0.5 * cp.quad_form(a, problem.symbols("Q")[0]),
            subject_to={{"lower": a >= 0, "upper": a <= upper}},
            coef=cp.multiply(problem.y, a),
        )

@dataclass(frozen=True)
class Theirs(Ours):
    def model(self, problem):
        gain, upper = self._numbers()
        a = cvxpy.Variable(problem.n, name="alpha")
        curved = cvxpy.quad_form(a, problem.Q, assume_PSD=True)
        return cp.Model(
            maximize=FACTOR * (gain @ a) - 0.5 * curved,
            subject_to={{"lower": a >= 0, "upper": a <= upper}},
            coef=cvxpy.multiply(problem.y, a),
        )
"""
_NUMBERS = itertools.count()
N = 4


@dataclass
class Held:
    """A formulation, and the numbers that it has of its own."""

    formulation: Any
    C: Any
    V: np.ndarray | None
    text_gain: float
    extra: float = 1.0


@dataclass
class Solved:
    """An answer whose certificate is read later, and what it must say then."""

    answer: Any
    problem: Any
    optimum: float


@dataclass
class World:
    """The module, its problems and formulations, and the numbers that they have now."""

    seed: int
    stale: list[str] = field(default_factory=list)
    asked: int = 0

    def __post_init__(self) -> None:
        self.random = np.random.default_rng(self.seed)
        self.module = types.ModuleType(f"changing_{next(_NUMBERS)}")
        sys.modules[self.module.__name__] = self.module
        self.diagonals = [self.random.uniform(0.5, 3.0, N) for _ in range(3)]
        self.diagonals[1][0] *= -1.0
        y = [1, -1, 1, -1]
        self.problems: list[Any] = [iopt.KernelProblem(np.diag(d), y) for d in self.diagonals[:2]]
        self.problems.append(
            iopt.KernelProblem.from_data(
                np.diag(np.sqrt(self.diagonals[2])), y, "linear", cache_mb=8e-6 * N * 2
            )
        )
        self.held: list[Held] = []
        self.solved: list[Solved] = []
        self.reload()
        for _ in range(3):
            self.make()

    def close(self) -> None:
        del sys.modules[self.module.__name__]

    # ------------------------------------------------------------------ what is right

    def optimum(self, k: int, held: Held, upper: float | None = None) -> tuple[float, np.ndarray]:
        theirs = type(held.formulation).__name__ == "Theirs"
        gain = held.text_gain * self.w * (1.0 if held.V is None else held.V)
        gain = gain * (2.0 if held.C is True else 1.0) * (self.factor if theirs else 1.0)
        end = (self.upper if upper is None else upper) * float(held.C) * held.extra
        d = self.diagonals[k]
        inner = np.minimum(gain / np.where(d > 0.0, d, 1.0), end)
        a = np.where(d > 0.0, inner, end)
        return float(np.sum(gain * a - 0.5 * d * a**2)), a

    def see(self, what: str, found: float, right: float) -> None:
        self.asked += 1
        if not abs(found - right) <= 1e-5 * (1.0 + abs(right)):
            self.stale.append(f"seed {self.seed}, {what}: {found} instead of {right}")

    # ------------------------------------------------------------------ changes

    def number(self) -> float:
        return float(self.random.choice([0.25, 0.5, 1.0, 2.0, 3.0]))

    def reload(self) -> None:
        self.upper, self.factor, self.gain = self.number(), self.number(), self.number()
        self.w = self.random.choice([0.5, 1.0, 2.0], N)
        text = TEXT.format(upper=self.upper, w=self.w.tolist(), factor=self.factor, gain=self.gain)
        exec(compile(text, self.module.__name__, "exec"), self.module.__dict__)

    def autoreload(self) -> None:
        """The functions of the new classes in the old ones, and their instances."""
        self.reload()
        for held in self.held:
            cls = type(held.formulation)
            for name in ("model", "_numbers"):
                setattr(cls, name, getattr(getattr(self.module, cls.__name__), name))
            held.text_gain = self.gain

    def make(self) -> None:
        cls = getattr(self.module, str(self.random.choice(["Ours", "Theirs"])))
        C = [1, 1.0, True, 2.0, 0.5][int(self.random.integers(5))]
        V = self.random.choice([0.5, 1.0, 2.0], N) if self.random.random() < 0.4 else None
        made = Held(cls(C, V), C, None if V is None else V.copy(), self.gain)
        if V is not None:
            V[:] = 100.0  # the formulation has copied it
        self.held.append(made)

    def change_global(self) -> None:
        self.upper = self.module.UPPER = self.number()

    def change_parameter(self) -> None:
        self.factor = self.module.FACTOR.value = self.number()

    def change_in_place(self) -> None:
        self.w = self.random.choice([0.5, 1.0, 2.0], N)
        self.module.W[:] = self.w

    def change_attribute(self) -> None:
        held = self.one()
        held.extra = self.number()
        object.__setattr__(held.formulation, "extra", held.extra)

    def fail(self) -> None:
        """A parameter without a value, and a box without points: an error, and nothing more."""
        before, held = self.upper, self.one()
        self.module.UPPER, self.module.FACTOR.value = -1.0, None
        with contextlib.suppress(IndefiniteOptError):
            iopt.solve(self.problems[0], held.formulation)
        self.module.UPPER, self.module.FACTOR.value = before, self.factor

    # ------------------------------------------------------------------ questions

    def one(self) -> Held:
        return self.held[int(self.random.integers(len(self.held)))]

    def pair(self) -> tuple[int, Held]:
        held = self.one()
        whole = type(held.formulation).__name__ == "Ours"  # the others need the whole matrix
        return int(self.random.integers(3 if whole else 2)), held

    def solve(self) -> None:
        k, held = self.pair()
        right, a = self.optimum(k, held)
        result = iopt.solve(self.problems[k], held.formulation)
        self.see("solve", result.objective, right)
        y = np.array([1.0, -1.0, 1.0, -1.0])
        if self.random.random() < 0.5:
            self.solved.append(Solved(result, self.problems[k], right))
        else:
            self.see("certificate", result.certificate.objective, right)
            self.see("classifier", float(np.abs(result.classifier.coef - y * a).max()), 0.0)

    def verify(self) -> None:
        k, held = self.pair()
        right, a = self.optimum(k, held)
        certificate = iopt.verify(self.problems[k], held.formulation, {"alpha": a})
        self.see("verify", certificate.objective, right)
        self.see("violation", certificate.primal_residual, 0.0)
        if k != 1:
            self.see("bound", certificate.bound, right)

    def bound(self) -> None:
        k, held = self.pair()
        if k == 2:
            return
        right, _ = self.optimum(k, held)
        bracket = iopt.bound(self.problems[k], held.formulation)
        self.see("lower", bracket.lower, right)
        self.see("upper", bracket.upper, right)
        self.solved.append(Solved(bracket, self.problems[k], right))

    def declare(self) -> None:
        k, held = self.pair()
        right, a = self.optimum(k, held)
        program = held.formulation.declare(self.problems[k])
        value, violation = program.evaluate({"alpha": a})
        self.see("declare", value, right)
        self.see("declared rows", violation, 0.0)

    def look_back(self) -> None:
        """What earlier answers say now is about what they solved."""
        for each in self.solved:
            if hasattr(each.answer, "certificate"):
                self.see("later certificate", each.answer.certificate.objective, each.optimum)
                coef = np.abs(each.answer.classifier.coef)
                self.see("later classifier", float(np.abs(coef - each.answer.x).max()), 0.0)
            elif each.answer.proof is not None:
                self.see("check", each.answer.check(each.problem), each.optimum)
        self.solved.clear()

    def together(self) -> None:
        """Several threads on one problem, the last of which may change a global meanwhile."""
        k, _ = self.pair()
        k = min(k, 2)
        chosen = [held for held in self.held if k < 2 or type(held.formulation).__name__ == "Ours"]
        chosen = chosen[:3]
        ends = [self.upper, self.number()]
        changes = self.random.random() < 0.5
        rights = {
            id(held): [self.optimum(k, held, end)[0] for end in ends[: 1 + changes]]
            for held in chosen
        }
        found: list[tuple[Held, float, float]] = []
        errors: list[BaseException] = []

        def ask(held: Held) -> None:
            try:
                for _ in range(2):
                    result = iopt.solve(self.problems[k], held.formulation)
                    found.append((held, result.objective, result.certificate.objective))
            except BaseException as error:
                errors.append(error)

        def change() -> None:
            for _ in range(20):
                for end in ends[::-1]:
                    self.module.UPPER = end

        run_together([*(partial(ask, held) for held in chosen), *[change] * changes])
        self.module.UPPER = self.upper
        if errors:
            raise errors[0]
        for held, objective, certified in found:
            nearest = min(rights[id(held)], key=lambda right: abs(right - objective))
            self.see("solve in a thread", objective, nearest)
            self.see("certificate in a thread", certified, objective)

    def step(self) -> None:
        changes = [
            self.change_global, self.change_parameter, self.change_in_place, self.change_attribute,
            self.reload, self.autoreload, self.make, self.fail,
        ]  # fmt: skip
        questions = [
            self.solve, self.solve, self.solve, self.verify, self.bound, self.declare,
            self.look_back, self.together,
        ]  # fmt: skip
        for chosen in (changes, questions, questions):
            chosen[int(self.random.integers(len(chosen)))]()


def sequence(seed: int, steps: int = 12) -> World:
    """A world after so many changes, each followed by two questions."""
    world = World(seed)
    try:
        for _ in range(steps):
            world.step()
        world.look_back()
    finally:
        world.close()
    return world
