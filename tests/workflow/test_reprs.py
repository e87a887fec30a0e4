"""Objects at a prompt and in a notebook: short, escaped, and the same numbers as in print."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import indefinite_opt as iopt
from helpers.processes import fresh

MAX_LENGTH = 200
"""Characters of a repr: two lines of a terminal."""


@pytest.fixture(scope="module")
def things() -> dict[str, Any]:
    X = np.random.default_rng(0).normal(size=(24, 2))
    y = np.where(X[:, 0] * X[:, 1] > 0, "<b>", "no")
    problem = iopt.KernelProblem.from_data(X, y, "sigmoid(a=1, r=-1)", name="<i>")
    result = iopt.solve(problem, "SVMDual(C=3)", seed=0)
    return {
        "problem": problem,
        "program": iopt.QuadraticProgram(np.eye(2), lb=0.0, ub=1.0),
        "result": result,
        "certificate": result.certificate,
        "bracket": iopt.bound(problem, "SVMDual(C=3)"),
        "comparison": iopt.compare(problem, ["SVMDual", "KNN"], folds=3),
        "classifier": result.classifier,
        "trace": result.trace,
        "spectrum": problem.spectrum,
        "data": iopt.datasets.load("iris-versicolor-virginica"),
    }


def test_reprs_are_short(things: dict[str, Any]) -> None:
    for name, thing in things.items():
        shown = repr(thing)
        assert len(shown) <= MAX_LENGTH, name
        assert shown.startswith(type(thing).__name__ + "("), name
        assert "array(" not in shown, name
    assert "n=100, d=4" in repr(things["data"])
    positive, negative, zero = things["spectrum"].inertia
    assert f"{positive} positive, {negative} negative, {zero} zero" in repr(things["spectrum"])


def test_notebooks_show_tables_with_the_numbers_of_print(things: dict[str, Any]) -> None:
    for name in ("problem", "program", "result", "certificate", "bracket", "comparison"):
        shown = things[name]._repr_html_()
        assert "<table" in shown
        assert not [tag for tag in ("<b>", "<i>", "<script", "http") if tag in shown], name
        assert shown.count("<tr") == shown.count("</tr>")
    certificate, bracket = things["certificate"], things["bracket"]
    assert f"{certificate.objective:.10g}" in certificate._repr_html_()
    assert certificate.claim.name in things["result"]._repr_html_()
    assert f"{bracket.lower:.10g} to {bracket.upper:.10g}" in bracket._repr_html_()
    printed = str(things["comparison"])
    for row in things["comparison"].summary.to_dict("records"):
        accuracy = f"{100 * row['accuracy']:.1f} ± {100 * row['accuracy_sd']:.1f} %"
        assert accuracy in printed
        assert accuracy in things["comparison"]._repr_html_()
    assert things["comparison"].conclusions[-1] in " ".join(printed.split())
    assert max(map(len, printed.splitlines())) <= 100
    # Formulas need no MathJax.
    assert iopt.SVMDual(C=1.0).declare(things["problem"])._repr_html_().startswith("<math")


def test_figures_show_themselves(things: dict[str, Any]) -> None:
    """A notebook asks for an image; pyplot holds no figure that nobody has asked to show."""
    import matplotlib.pyplot as plt

    for name in ("bracket", "comparison", "result"):
        figure = things[name].plot()
        assert figure._repr_png_().startswith(b"\x89PNG")
        assert plt.get_fignums() == []
    figure.show()
    assert [plt.figure(number) for number in plt.get_fignums()] == [figure]
    plt.close(figure)


SESSION = """
import sys
sys.ps1 = ">>> "
import matplotlib
matplotlib.use("Agg")
from matplotlib.backends import backend_agg
from matplotlib.backend_bases import FigureManagerBase
shown = []
class Manager(FigureManagerBase):
    def show(self):
        shown.append(self.canvas.figure)
backend_agg.FigureCanvasAgg.manager_class = Manager
import indefinite_opt as iopt
problem = iopt.KernelProblem([[0.0, 2.0], [2.0, 0.0]], [1, -1])
figure = iopt.bound(problem, iopt.SVMDual(C=1.0)).plot()
assert shown == [figure], shown
import matplotlib.pyplot as plt
assert [plt.figure(number) for number in plt.get_fignums()] == [figure]
"""


@pytest.mark.slow
def test_a_prompt_shows_a_figure_at_once() -> None:
    """With a backend that has windows, here one that notes what it would show."""
    assert fresh(SESSION) == ""
