"""The examples in the docstrings run, in the package that is installed and in `reproduction`."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil

import pytest

import indefinite_opt as iopt
import reproduction

MODULES = [package.__name__ for package in (iopt, reproduction)] + [
    module.name
    for package in (iopt, reproduction)
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    outcome = doctest.testmod(importlib.import_module(name))
    assert outcome.failed == 0


def test_every_kernel_has_an_example_and_every_formulation_prints_its_program() -> None:
    """So that the formula of the docstring and the declaration stand side by side."""
    finder = doctest.DocTestFinder()
    kernels = [getattr(iopt.kernels, name) for name in iopt.kernels.__all__ if name[0].isupper()]
    kernels = [t for t in kernels if isinstance(t, type) and not inspect.isabstract(t)]
    without = [t.__name__ for t in kernels if not any(e.examples for e in finder.find(t))]
    for name in iopt.available_formulations():
        tests = finder.find(getattr(iopt, name))
        sources = [example.source for test in tests for example in test.examples]
        start, end = f"print({name}(", ").declare(problem))\n"
        if not any(source.startswith(start) and source.endswith(end) for source in sources):
            without.append(name)
    assert without == []
