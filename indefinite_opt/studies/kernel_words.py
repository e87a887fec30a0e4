"""Kernels of a study in words for its reports: form, γ, and where γ comes from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from indefinite_opt.problem import Kernel, KernelProblem, kernels
from indefinite_opt.studies.data import Data, usual_kernel
from indefinite_opt.studies.methods import Bandwidth, Grid

FORMS = {
    "gaussian": ("gaussian exp(−γ d²)", "1/mean(d²)"),
    "exponential": ("exponential exp(−γ d)", "1/mean(d)"),
    "linear": ("linear −d²/2", ""), "raw": ("raw d", ""),
}  # fmt: skip
"""The formula of each form of a distance d, and its γ where none is given."""

FORMULAS = {
    "linear": "<x, z>", "polynomial": "(γ <x, z> + r)^degree", "gaussian": "exp(−γ |x − z|²)",
    "sigmoid": "tanh(a <x, z> + r)", "laplacian": "exp(−γ |x − z|_1)",
    "l1-gaussian": "exp(−γ |x − z|_1²)", "epanechnikov": "max(0, 1 − γ |x − z|²)",
    "tl1": "max(0, ρ − |x − z|_1)",
}  # fmt: skip
"""The formula of each kernel of points x and z by its name."""

RELATIVE = "relative_gamma"
"""The name in grids of multiples of γ."""


def kernels_in_words(data: Data, grids: Iterable[Grid]) -> str:
    """The kernels that some methods have on data, each with what is varied in it.

    >>> import numpy as np
    >>> D = np.array([[0.0, 1.0], [1.0, 0.0]])
    >>> data = Data(KernelProblem.from_distances(D, [1, -1]))
    >>> kernels_in_words(data, [Grid("SVMDual", relative_gamma=[1, 10])])
    'gaussian exp(−γ d²), γ = relative_gamma/mean(d²), 1/mean(d²) = 2'
    """
    found: dict[str, Any] = {}
    multiplied = set()
    for grid in grids:
        for each in grid.kernels:
            width = each if isinstance(each, Bandwidth) else Bandwidth(None)
            own: Any = each if isinstance(each, Kernel) else data.in_form(width.form)
            if width.relative:
                multiplied.add(str(own))
            elif width.gamma is not None:
                own = width.of(own)
            found[str(own)] = own
    told = (_in_words(own, data.problem, name in multiplied) for name, own in found.items())
    return "; ".join(dict.fromkeys(told))


def _in_words(kernel: Any, problem: KernelProblem, multiplied: bool) -> str:
    """A kernel of a problem, whose γ may be multiplied by numbers in grids."""
    if kernel is None:
        return "similarities as they were given"
    if problem.D is not None:
        return _of_distances(kernel, problem.D, multiplied)
    told = str(kernel)
    name, _, given = told.partition("(")
    if isinstance(kernel, kernels.Gaussian) and problem.X is not None:
        points = problem._scaled(problem.X)
        own: Any = kernel.fitted(points)
        if own == kernels.RBF().fitted(points):
            name, given = own.name, f"gamma=1/(d · variance) = {own.gamma:.4g}"
    if type(kernel).__module__ == kernels.__name__ and name in FORMULAS:
        letters = given.removesuffix(")").replace("gamma=", "γ = ").replace("rho=", "ρ = ")
        told = ", ".join(filter(None, [f"{name} {FORMULAS[name]}", letters]))
    return told + f", times {RELATIVE}" * multiplied


def _of_distances(kernel: Any, D: Any, multiplied: bool) -> str:
    """A kernel of given distances."""
    formula, usual = FORMS[kernel.form]
    if not usual:
        return formula
    if kernel.gamma != usual_kernel(D, kernel.form).gamma:  # type: ignore[attr-defined]
        return f"{formula}, γ = {f'{RELATIVE} · ' * multiplied}{kernel.gamma:.4g}"
    if multiplied:
        return f"{formula}, γ = {usual.replace('1', RELATIVE)}, {usual} = {kernel.gamma:.4g}"
    return f"{formula}, γ = {usual} = {kernel.gamma:.4g}"
