"""Rays of models without a minimum, against the objectives of the papers in exact arithmetic."""

from __future__ import annotations

import copy
import itertools
import json
import pickle
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import cvxpy
import numpy as np
import pytest
from numpy.typing import NDArray

import indefinite_opt as iopt
import indefinite_opt.algebra as cp
from helpers import commands
from indefinite_opt.algebra import Model
from indefinite_opt.errors import UnboundedProblem
from indefinite_opt.modeling.rays import ray_checker

Array = NDArray[np.float64]
FILE = Path(__file__).parents[2] / "docs" / "extend" / "models" / "unbounded.py"
MODELS = (
    "IndefiniteLogistic(C=2)", "SparseIndefiniteLogistic(C=2, price=0.5)",
    "SquaredHingePrimal(gamma=8)", "HingePrimal(C=2)", "TwoKernelPrimal(C=2)",
)  # fmt: skip
FAR = Fraction(2**200)
LOG_2 = Fraction(7, 10)
"""More than log 2."""


def titled(call: str) -> str:
    return f"{FILE}:{call}"


def exact(matrix: Array) -> list[list[Fraction]]:
    return [[Fraction(entry) for entry in row] for row in matrix.tolist()]


def times(matrix: list[list[Fraction]], v: list[Fraction]) -> list[Fraction]:
    support = [j for j, part in enumerate(v) if part]
    return [sum((row[j] * v[j] for j in support), Fraction(0)) for row in matrix]


def inner(u: list[Fraction], v: list[Fraction]) -> Fraction:
    return sum((a * b for a, b in zip(u, v, strict=True)), Fraction(0))


class Printed:
    """The objective of a paper at t times a direction, with a bound on each logistic loss."""

    def __init__(self, call: str, K: Array, y: Array, x: list[Fraction]) -> None:
        n, self.call, self.y = len(y), call, [Fraction(label) for label in y.tolist()]
        self.beta, self.b, kernel = x[:n], x[-1], exact(K)
        self.f = times(kernel, self.beta)
        self.square = inner(self.beta, self.f)
        if "TwoKernel" in call:
            second, other = exact(K * K), x[n : 2 * n]
            image = times(second, other)
            self.square += inner(other, image)
            self.f = [one + two for one, two in zip(self.f, image, strict=True)]

    def at(self, t: Fraction) -> tuple[Fraction, Fraction]:
        """Bounds on the value."""
        margins = [y * t * (f + self.b) for y, f in zip(self.y, self.f, strict=True)]
        above = [max(1 - m, Fraction(0)) for m in margins]
        half = self.square * t * t / 2
        if "Logistic" in self.call:
            least = half + 2 * sum(max(-m, Fraction(0)) for m in margins)
            if "Sparse" in self.call:
                least += Fraction(1, 2) * t * sum(map(abs, self.beta))
            return least, least + 2 * LOG_2 * len(margins)
        if "Squared" in self.call:
            value = 8 * half + sum(part * part for part in above) / 2
        else:
            value = half + 2 * sum(above)
        return value, value


def direction(ray: Any) -> list[Fraction]:
    return [Fraction(*pair) for pair in ray.document["direction"]]


def problem_of(name: str) -> iopt.KernelProblem:
    data = iopt.datasets.load(name)
    if name == "coilyork":  # the authors of IKSVM-DC take the distances as the kernel matrix
        return iopt.KernelProblem(data.D, data.y)
    return iopt.KernelProblem.from_dataset(data)


@pytest.mark.parametrize(
    ("name", "call"),
    [*itertools.product(("words", "coilyork", "auralsonar"), MODELS), ("protein", MODELS[3])],
)
def test_published_models_fall_without_end_on_public_data(
    name: str, call: str, data_dir: Path
) -> None:
    problem = problem_of(name)
    with pytest.raises(UnboundedProblem, match="The model is unbounded") as caught:
        iopt.solve(problem, titled(call))
    ray = caught.value.proof
    a, b = ray.check()
    assert (a, b) == (ray.quadratic, ray.linear)
    assert a < 0
    x = direction(ray)
    assert [float(part) for part in x] == caught.value.ray.tolist()
    assert not any(start[0] for start in ray.document["start"])
    printed = Printed(call, problem.K, problem.y, x)
    for t in (FAR, 2 * FAR):
        low, high = printed.at(t)
        size = 10 * len(x) * (1 + LOG_2)  # of the constants of the losses
        assert abs(low - a * t * t - b * t) <= size
        assert high < -FAR
    assert iopt.verify(problem, titled(call), caught.value).check() == (a, b)


def test_the_checker_needs_no_package(tmp_path: Path) -> None:
    problem = problem_of("words")
    ray = iopt.theory.unbounded_ray(problem, titled(MODELS[2]))
    assert ray is not None
    path, code = ray.save(tmp_path / "ray.json"), Path(ray_checker.__file__)
    command = [sys.executable, "-I", "-S", str(code)]
    done = subprocess.run([*command, str(path)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.splitlines()[0]) == (
        0, "PROVED: the model is unbounded; its objective falls like -t²",
    )  # fmt: skip
    assert commands.run("check-proof", path).stdout == done.stdout
    other = json.loads(path.read_text(encoding="utf-8"))
    other["direction"] = [[0, 1]] * len(other["direction"])
    text = json.dumps(other)
    done = subprocess.run([*command, "-"], input=text, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (
        1, "FAILED: the objective does not fall along the ray\n",
    )  # fmt: skip
    assert len(code.read_text(encoding="utf-8").splitlines()) <= 130


def small(seed: int) -> tuple[Array, Array]:
    generator = np.random.default_rng(seed)
    A = generator.integers(-3, 4, (5, 5))
    return (A + A.T).astype(float), np.array([1.0, -1.0, 1.0, 1.0, -1.0])


@pytest.mark.parametrize("call", MODELS)
def test_a_ray_is_accepted_if_and_only_if_the_objective_falls(call: str) -> None:
    """A thousand altered rays of each model; far away all losses are what they tend to."""
    generator, verdicts = np.random.default_rng(0), [0, 0]
    for seed in range(10):
        K, y = small(seed)
        ray = iopt.theory.unbounded_ray(iopt.KernelProblem(K, y), titled(call))
        assert ray is not None
        for _ in range(100):
            d = direction(ray)
            for place in generator.integers(len(d), size=generator.integers(1, 4)):
                d[place] = Fraction(*generator.integers([-20, 1], [21, 9]).tolist())
            pairs = [[*part.as_integer_ratio()] for part in d]
            low, high = Printed(call, K, y, d).at(FAR)
            try:
                ray_checker.check(ray.document | {"direction": pairs})
            except ray_checker.FailedRay:
                assert low > -(2**100)
                verdicts[0] += 1
            else:
                assert high < -(2**100)
                verdicts[1] += 1
    assert min(verdicts) > 100


# ------------------------------------------------------------------------------- other models

x, b = cp.Variable(2, name="x"), cp.Variable(name="b")
u = cvxpy.Variable(2, name="u")
SADDLE, LOSS = x[0] * x[1], cp.sum(cp.logistic(x))

FALLING: dict[str, tuple[Model, float, float | None]] = {
    "a logistic loss": (Model(minimize=SADDLE + LOSS), -1, 1),
    "a maximum": (Model(maximize=SADDLE - LOSS), -1, 0),
    "on a line": (Model(minimize=SADDLE + LOSS, subject_to={"e": cp.sum(x) == 3}), -1, 4),
    "rows": (Model(minimize=LOSS - SADDLE, subject_to={"l": x >= 1}), -1, 2),
    "a steep line": (Model(minimize=LOSS - 2 * x[0]), 0, -1),
    "Huber": (Model(minimize=SADDLE + cp.sum(cp.huber(x))), -1, 4),
    "maxima": (Model(minimize=SADDLE + cp.max(x) + cp.norm_inf(x) + cp.sum_largest(x, 1)), -1, 3),
    "a norm": (Model(minimize=u[0] * u[1] + cvxpy.norm(u)), -1, None),
    "the logarithm of a sum": (Model(minimize=u[0] * u[1] + cvxpy.log_sum_exp(u)), -1, None),
    "a ball": (
        Model(minimize=cp.logistic(b) - 2 * b, subject_to={"ball": cp.norm1(x) <= 1 + b}), 0, -1,
    ),
    "squares": (Model(minimize=SADDLE / 4 + cp.sum(cp.square(cp.pos(x)))), -1, 0),
}  # fmt: skip
"""The numbers a and b of rays in small integers, which are seen at a glance."""


@pytest.mark.parametrize("name", FALLING)
def test_rays_of_other_terms(name: str) -> None:
    model, a, linear = FALLING[name]
    ray = iopt.theory.unbounded_ray(model)
    assert ray is not None
    assert ray.check() == (a, linear)
    assert iopt.theory.is_bounded(model) is False
    assert pickle.loads(pickle.dumps(ray)).check() == ray.check()


ATOMS: tuple[Callable[[Any], Any], ...] = (
    lambda e: cp.sum(cp.logistic(e)), lambda e: cp.sum(cp.pos(e)), cp.norm1, cp.norm_inf, cp.max,
    lambda e: cp.sum(cp.huber(e, 0.5)), lambda e: cp.sum_largest(e, 2),
    lambda e: cp.sum(cp.square(cp.pos(e))), lambda e: cp.square(cp.norm1(e)),
    lambda e: cp.sum(cp.maximum(e, 1 - e)), lambda e: cp.sum(cp.pos(cp.abs(e) - 1)),
)  # fmt: skip


def drawn(generator: np.random.Generator) -> tuple[Model, Any]:
    """A form, up to three atoms, some of them with a minus, and rows, all in small integers."""
    z = cp.Variable(3, name="z")
    P = generator.integers(-3, 4, (3, 3)).astype(float)
    value = cp.quad_form(z, P + P.T) + generator.integers(-3, 4, 3) @ z
    for atom in generator.choice(len(ATOMS), size=generator.integers(1, 4)):
        A, c = generator.integers(-2, 3, (3, 3)), generator.integers(-2, 3, 3)
        weight = float(generator.choice([1.0, 2.0, -1.0], p=[0.5, 0.3, 0.2]))
        value = value + weight * ATOMS[atom](A @ z + c)
    A, c = generator.integers(-2, 3, (2, 3)), generator.integers(-2, 3, 2)
    rows = {"row": A @ z <= c, "norm": cp.norm1(z[:2]) <= 4 + z[2], "line": A[0] @ z == c[0],
            "bound": z >= -1, "maximum": cp.max(z) <= 2 - z[0]}  # fmt: skip
    kept = generator.choice(list(rows), size=generator.integers(0, 3), replace=False)
    return Model(minimize=value, subject_to={name: rows[name] for name in kept}), z


def test_rays_of_drawn_models_have_the_growth_of_the_written_expressions() -> None:
    """Values of the expressions themselves, which are exact at these points but for logistic."""
    generator, found = np.random.default_rng(3), 0
    for _ in range(300):
        model, z = drawn(generator)
        try:
            ray = iopt.theory.unbounded_ray(model)
        except iopt.errors.InfeasibleProblem:
            continue
        if ray is None:
            continue
        found += 1
        assert ray.linear is not None
        a, b = map(float, ray.check())
        rest = []
        for t in (2.0**14, 2.0**16, 2.0**18):
            z.value = ray.start["z"] + t * ray.direction["z"]
            size = 1.0 + np.abs(ray.direction["z"]).max() + np.abs(ray.start["z"]).max()
            for row in model.subject_to.values():
                assert np.max(row.violation()) <= 1e-12 * size * t
            rest.append(model.minimize.value - a * t**2 - b * t)
        assert np.ptp(rest) <= 1e-3 * size + 1e-13 * (abs(a) + 1.0) * t**2
    assert found > 150


def test_a_problem_of_cvxpy_is_refused_with_its_ray() -> None:
    for objective in (u[0] * u[1] + cvxpy.norm(u), cvxpy.sum(cvxpy.logistic(u)) - 2 * u[0]):
        with pytest.raises(UnboundedProblem) as caught:
            iopt.solve(cvxpy.Problem(cvxpy.Minimize(objective)))
        assert caught.value.proof.check()[0] == caught.value.proof.quadratic


def test_slacks_follow_the_fall_of_the_kernel() -> None:
    """The hinge primal in its usual form, with a slack and a row for each point."""
    problem = problem_of("words")
    beta, xi = cp.Variable(problem.n, name="beta"), cp.Variable(problem.n, name="xi")
    K, y = problem.symbols("K", "y")
    rows = {"margin": cp.multiply(y, K @ beta + b) >= 1 - xi, "slack": xi >= 0}
    ray = iopt.theory.unbounded_ray(
        Model(minimize=cp.quad_form(beta, K) / 2 + cp.sum(xi), subject_to=rows)
    )
    assert ray is not None
    x = direction(ray)
    d, slack = x[: problem.n], x[problem.n : 2 * problem.n]
    if list(ray.shapes) != ["beta", "xi", "b"]:
        pytest.fail(f"the variables are {list(ray.shapes)}")
    image = times(exact(problem.K), d)
    assert ray.quadratic == inner(d, image) / 2 < 0
    for label, f, part in zip(problem.y.tolist(), image, slack, strict=True):
        assert part > 0
        assert Fraction(label) * (f + x[-1]) + part > 0


BOUNDED = {
    "a box": Model(minimize=SADDLE + LOSS, subject_to={"l": x >= 0, "u": x <= 1}),
    "a definite form": Model(minimize=cp.sum_squares(x) - 9 * x[0] + LOSS),
    "definite along a line": Model(minimize=LOSS - SADDLE, subject_to={"e": cp.sum(x) == 3}),
    "a cost above a bound": Model(minimize=LOSS + x[0], subject_to={"l": x >= -1}),
}


@pytest.mark.parametrize("name", BOUNDED)
def test_bounded_models_are_known(name: str) -> None:
    assert iopt.theory.is_bounded(BOUNDED[name]) is True
    assert iopt.theory.unbounded_ray(BOUNDED[name]) is None


UNKNOWN = {
    "minus a norm": Model(minimize=cvxpy.square(u[0]) - cvxpy.norm(u[1:])),
    "minus a loss": Model(minimize=cp.square(x[0]) - cp.logistic(x[1])),
    "minus a maximum": Model(minimize=cp.square(x[0]) + cp.sum(-cp.abs(x[1:]))),
    "a least entry": Model(minimize=cvxpy.square(u[0]) + cvxpy.min(u)),
    "a cost below no bound": Model(minimize=cp.square(x[0]) + x[1], subject_to={"u": x <= 1}),
}  # fmt: skip
"""None of these has a bound."""


@pytest.mark.parametrize("name", UNKNOWN)
def test_no_bound_is_claimed_of_an_unbounded_model(name: str) -> None:
    assert iopt.theory.is_bounded(UNKNOWN[name]) is not True


@pytest.mark.parametrize(("share", "falls"), [(0.9, True), (2.0, False)])
def test_the_squared_hinge_decides_by_the_eigenvalue(share: float, falls: bool) -> None:
    """K = λvvᵀ with λ = -2γ·share: f = -m²/share + Σ±(1 ± m)₊², m = ½λvᵀβ; at share 2 f(0) = 2."""
    v, y, gamma = np.array([0.5, -0.5, 0.5, -0.5]), [1, 1, -1, -1], 4.0
    problem = iopt.KernelProblem(-2.0 * gamma * share * np.outer(v, v), y)
    call = titled(f"SquaredHingePrimal(gamma={gamma})")
    ray = iopt.theory.unbounded_ray(problem, call)
    assert (ray is not None) is falls
    if falls:
        with pytest.raises(UnboundedProblem):
            iopt.solve(problem, call)
    else:
        assert iopt.solve(problem, call).objective == pytest.approx(2.0, abs=1e-6)


def test_a_semidefinite_kernel_has_a_minimum_in_all_of_them() -> None:
    K, y = small(0)
    problem = iopt.KernelProblem(K @ K + np.eye(5), y)
    for call in MODELS:
        assert iopt.theory.is_bounded(problem, titled(call)) is True
        assert iopt.solve(problem, titled(call)).certificate.claim is iopt.Claim.GLOBAL


DAMAGE: dict[str, Callable[[Any], Any]] = {
    "another format": lambda d: d | {"format": "a ray"},
    "no direction": lambda d: {name: d[name] for name in d if name != "direction"},
    "a short direction": lambda d: d | {"direction": d["direction"][1:]},
    "a zero below": lambda d: d | {"direction": [[1, 0]] * len(d["direction"])},
    "not a number": lambda d: d["model"]["cost"].append(float("nan")) or d,
    "an unknown term": lambda d: d["model"]["terms"][0].update(kind="exp") or d,
    "a variable before the first": lambda d: d["model"]["forms"][0]["P"][0].append([-1, 1.0]) or d,
    "a variable behind the last": lambda d: d["model"]["forms"][0]["P"][0].append([99, 1.0]) or d,
    "a row that is left": lambda d: d["model"]["rows"].append(
        {"name": "r", "equal": True, "u": {"A": [[[0, 1.0]]], "b": [1.0]}}
    ) or d,
    "no document": lambda d: [d],
}  # fmt: skip


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_document_proves_nothing(name: str) -> None:
    K, y = small(1)
    ray = iopt.theory.unbounded_ray(iopt.KernelProblem(K, y), titled("HingePrimal()"))
    assert ray is not None
    document = copy.deepcopy(ray.document)
    ray_checker.check(document)
    with pytest.raises(ray_checker.FailedRay):
        ray_checker.check(DAMAGE[name](document))


def by_hand(square: float, cost: float, rows: list[Any], terms: Any = ()) -> Any:
    """square·x² + cost·x, and the ray (1, 0) from (0, 0)."""
    u = {"A": [[[0, 1.0]]], "b": [0.0]}
    forms = [{"weight": square, "u": u, "P": None, "v": None}]
    model = {"variables": 2, "cost": [cost, 0.0], "forms": forms, "terms": terms, "rows": rows,
             "hidden": []}  # fmt: skip
    ends = {"direction": [[1, 1], [0, 1]], "start": [[0, 1], [0, 1]]}
    return {"format": ray_checker.FORMAT, "model": model} | ends


def row(place: int, a: float, b: float, equal: bool = False) -> Any:
    return {"name": "r", "equal": equal, "u": {"A": [[[place, a]]], "b": [b]}}


NORM = {"kind": "lipschitz", "u": {"A": [[[0, 1.0]]], "b": [0.0]}, "weights": [1.0], "bend": 1.0}
BY_HAND = {
    "it falls": (by_hand(-1, 5, []), True),
    "it slopes": (by_hand(0, -1, []), True),
    "it is flat": (by_hand(0, 0, []), False),
    "it rises after a fall": (by_hand(1, -5, []), False),
    "a norm beside a square": (by_hand(-1, 0, [], [NORM]), True),
    "a norm beside a slope": (by_hand(0, -1, [], [NORM]), False),
    "-x ≤ -9": (by_hand(-1, 0, [row(0, -1, 9)]), True),
    "x ≤ 9": (by_hand(-1, 0, [row(0, 1, -9)]), False),
    "z ≤ 0": (by_hand(-1, 0, [row(1, 1, 0)]), True),
    "z ≤ -1": (by_hand(-1, 0, [row(1, 1, 1)]), False),
    "z = 0": (by_hand(-1, 0, [row(1, 1, 0, True)]), True),
    "z = 1": (by_hand(-1, 0, [row(1, 1, -1, True)]), False),
    "x = 0": (by_hand(-1, 0, [row(0, 1, 0, True)]), False),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_rays_that_are_seen_to_be_right_or_wrong(name: str) -> None:
    document, falls = BY_HAND[name]
    try:
        ray_checker.check(document)
    except ray_checker.FailedRay:
        assert not falls
    else:
        assert falls


def test_the_figure_has_the_growth_along_the_ray() -> None:
    ray = iopt.theory.unbounded_ray(FALLING["on a line"][0])
    (ax,) = iopt.figures.no_optimum_figure(ray).axes
    t, value = ax.lines[0].get_data()
    assert value == pytest.approx(-(t**2) + 4.0 * t)


def test_a_ray_of_another_problem_is_refused() -> None:
    K, y = small(2)
    call = titled("IndefiniteLogistic()")
    with pytest.raises(UnboundedProblem) as caught:
        iopt.solve(iopt.KernelProblem(K, y), call)
    definite = iopt.KernelProblem(K @ K, y)
    with pytest.raises(iopt.errors.ProblemError, match="a ray of this model"):
        iopt.verify(definite, call, caught.value)


def test_a_formulation_is_needed_for_a_kernel_problem() -> None:
    K, y = small(3)
    with pytest.raises(iopt.errors.ParameterError, match="a formulation of a kernel problem"):
        iopt.theory.unbounded_ray(iopt.KernelProblem(K, y))


def test_a_ray_whose_numbers_were_changed_is_not_proved() -> None:
    """x₁x₂ falls along (-1, 1), and grows along (1, 1)."""
    x = cp.Variable(2, name="x")
    ray = iopt.theory.unbounded_ray(cp.Model(minimize=x[0] * x[1] + cp.sum(cp.logistic(x))))
    assert ray is not None
    assert ray.proved
    ray.document["direction"] = [[1, 1], [1, 1]]
    assert not ray.proved
    assert str(ray).startswith("NOT PROVED")
    with pytest.raises(iopt.errors.ParameterError, match="NOT PROVED"):
        iopt.figures.no_optimum_figure(ray)
