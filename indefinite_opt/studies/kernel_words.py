"""Kernels of a study in words for its reports: form, γ, and where γ comes from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from indefinite_opt.problem import Kernel, KernelProblem, kernels
from indefinite_opt.studies.data import Data, usual_kernel
from indefinite_opt.studies.methods import Grid

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
    varied: dict[Any, set[str]] = {}
    for grid in grids:
        for each in grid.kernels:
            if isinstance(each, Kernel):
                varied.setdefault(each, set())
            elif each is None:
                varied.setdefault(data.in_form(None), set())
            elif each.relative or each.gamma is None:
                names = {RELATIVE} if each.relative else set()
                varied.setdefault(data.in_form(each.form), set()).update(names)
            else:  # this γ, whatever that of the data is
                varied.setdefault(each.of(data.in_form(each.form)), set())
    found = (_in_words(kernel, data.problem, names) for kernel, names in varied.items())
    return "; ".join(dict.fromkeys(found))


def _in_words(kernel: Any, problem: KernelProblem, varied: set[str]) -> str:
    """A kernel of a problem; `varied` are the names in grids that change its γ."""
    if kernel is None:
        return "similarities as they were given"
    if problem.D is not None:
        return _of_distances(kernel, problem.D, varied)
    told, times = str(kernel), f", times {RELATIVE}" * (RELATIVE in varied)
    name, _, given = told.partition("(")
    if isinstance(kernel, kernels.Gaussian) and problem.X is not None:
        points = problem._scaled(problem.X)
        own: Any = kernel.fitted(points)
        if own == kernels.RBF().fitted(points):
            name, given = own.name, f"gamma=1/(d · variance) = {own.gamma:.4g}"
    if type(kernel).__module__ == kernels.__name__ and name in FORMULAS:
        letters = given.removesuffix(")").replace("gamma=", "γ = ").replace("rho=", "ρ = ")
        told = ", ".join(filter(None, [f"{name} {FORMULAS[name]}", letters]))
    return told + times


def _of_distances(kernel: Any, D: Any, varied: set[str]) -> str:
    """A kernel of given distances."""
    formula, usual = FORMS[kernel.form]
    if not usual:
        return formula
    if kernel.gamma != usual_kernel(D, kernel.form).gamma:  # type: ignore[attr-defined]
        times = f"{RELATIVE} · " if RELATIVE in varied else ""
        return f"{formula}, γ = {times}{kernel.gamma:.4g}"
    if RELATIVE in varied:
        return f"{formula}, γ = {usual.replace('1', RELATIVE)}, {usual} = {kernel.gamma:.4g}"
    return f"{formula}, γ = {usual} = {kernel.gamma:.4g}"
