"""Loosli, Ong & Canu (2013), Figure 1: stabilising against minimising, on two points."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from indefinite_opt.formulations import ESVM
from indefinite_opt.problem import KernelProblem, kernels
from indefinite_opt.studies.baselines import LIBSVM
from indefinite_opt.studies.papers import Computation, ComputationOutcome, PaperStudy
from indefinite_opt.studies.papers._loosli import PAPER
from indefinite_opt.workflow import solve

if TYPE_CHECKING:
    from matplotlib.figure import Figure

POINTS = ((1.0, 0.3), (-1.0, 0.2))
"""Two points whose kernel matrix is indefinite, with the negative eigenvalue along yᵀα = 0."""

KERNEL = "sigmoid(a=-1, r=0)"
BOUND = 5.0
"""C; the minimum is at this bound."""


def solutions(points: tuple[tuple[float, float], ...]) -> dict[str, Any]:
    """The weights and offsets of ESVM and of LIBSVM, and the kernel matrix."""
    problem = KernelProblem.from_data(np.array(points), [1, -1], KERNEL)
    esvm, libsvm = solve(problem, ESVM(BOUND)).classifier, LIBSVM(BOUND).fit(problem)
    return {
        "K": problem.K,
        "ESVM": {"coef": esvm.coef, "offset": esvm.offset},
        "LIBSVM": {"coef": libsvm.coef, "offset": libsvm.offset},
    }


def experiments(quick: bool) -> dict[str, Computation]:
    """A single setting."""
    return {"solutions": Computation(solutions, {"two points": {"points": POINTS}})}


def draw(outcomes: Mapping[str, ComputationOutcome]) -> Figure:
    """Above the dual objective with both solutions, below their decision boundaries."""
    from matplotlib.figure import Figure

    (row,) = outcomes["solutions"].rows
    K, y, X = np.array(row["K"]), np.array([1.0, -1.0]), np.array(POINTS)
    figure = Figure(figsize=(7.2, 7.2), layout="constrained")
    top, *below = figure.subplot_mosaic("SS;EL").values()
    axis = np.linspace(-BOUND, 1.2 * BOUND, 80)
    alpha = np.stack(np.meshgrid(axis, axis), axis=-1)
    signed = alpha * y
    loss = 0.5 * np.einsum("ijk,kl,ijl->ij", signed, K, signed) - alpha.sum(axis=-1)
    top.contourf(axis, axis, loss, levels=30, cmap="Greys")
    for ax, name, color in zip(below, ("ESVM", "LIBSVM"), ("green", "magenta"), strict=True):
        coef, offset = np.array(row[name]["coef"]), row[name]["offset"]
        top.plot(*(coef * y), "o", color=color, ms=9, label=name)
        plane = np.linspace(-1.5, 1.5, 80)
        grid = np.stack(np.meshgrid(plane, plane), axis=-1).reshape(-1, 2)
        values = kernels.get(KERNEL)(grid, X) @ coef + offset
        ax.contourf(plane, plane, np.sign(values).reshape(80, 80), cmap="coolwarm", alpha=0.5)
        ax.scatter(X[:, 0], X[:, 1], c=y, cmap="coolwarm", edgecolor="black")
        ax.set_title(name)
    top.set(xlabel="α₁", ylabel="α₂", title="½αᵀGα - eᵀα")
    top.legend()
    return figure


STUDY = PaperStudy(
    paper=PAPER,
    item="Figure 1",
    place="section 3.3",
    title="Where ESVM and LIBSVM end on two points with an indefinite kernel",
    experiments=experiments,
    minutes=0.1,
    quick_minutes=0.1,
    data=(),
    draw=draw,
    choices=("The paper does not print the two points, the parameters of the kernel, or C.",),
)
