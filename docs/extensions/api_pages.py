"""Writes the pages of the API reference, one for every public name.

A public name is one in the `__all__` of `indefinite_opt` or of one of its public namespaces, or the
type of what a public function returns. Nothing is listed by hand, so that a new name has its page
at the next build.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

NAMESPACES = {
    "indefinite_opt": "Everything at the top level",
    "indefinite_opt.theory": "Theorems of the papers, checked on given data",
    "indefinite_opt.datasets": "Data sets",
    "indefinite_opt.kernels": "Kernels",
    "indefinite_opt.studies": "Studies",
    "indefinite_opt.reference_library": "Problems with certified optima",
    "indefinite_opt.figures": "Pictures",
    "indefinite_opt.errors": "Errors",
}
"""The public modules and the titles of their pages."""

RESULTS = {
    "indefinite_opt.workflow": ("Result", "Bracket"),
    "indefinite_opt.workflow.certificates": ("Certificate", "NoOptimum"),
    "indefinite_opt.modeling": ("Program", "Classifier", "Model", "constants"),
    "indefinite_opt.problem": ("Spectrum",),
    "indefinite_opt.solvers": ("Optimum", "Solution", "Task", "Trace"),
}
"""What public functions return or take, and what the formulations of users are made of."""


@dataclass(frozen=True)
class PublicName:
    """A name to document: `module` and `name` as a user writes them, and the object itself."""

    module: str
    name: str
    thing: Any

    @property
    def is_constant(self) -> bool:
        return not (inspect.isclass(self.thing) or callable(self.thing))

    @property
    def folder(self) -> str:
        """The folder of the package in which the object is defined."""
        return getattr(self.thing, "__module__", self.module).split(".")[1]


def module_of(name: str) -> Any:
    """A module by the name that a user writes, such as `indefinite_opt.kernels`."""
    parent, _, last = name.rpartition(".")
    package = importlib.import_module(parent) if parent else None
    return getattr(package, last, None) or importlib.import_module(name)


def _names(module: str) -> Iterator[PublicName]:
    for name in module_of(module).__all__:
        thing = getattr(module_of(module), name)
        if not inspect.ismodule(thing):
            yield PublicName(module, name, thing)


def public_names() -> list[PublicName]:
    """Every public name once, under the first namespace that has it."""
    found = [name for module in NAMESPACES for name in _names(module)]
    for module, names in RESULTS.items():
        found += [
            PublicName(module, name, getattr(importlib.import_module(module), name))
            for name in names
        ]
    once: dict[int, PublicName] = {}
    for name in found:
        once.setdefault(id(name.thing), name)
    return list(once.values())


def return_type(function: Any) -> Any:
    """The type that a function is annotated to return; None if there is no annotation."""
    return inspect.signature(function).return_annotation or None


def _table(names: list[PublicName], toctree: str = "generated") -> list[str]:
    """An autosummary table of names of one module."""
    lines = [f".. currentmodule:: {names[0].module}", "", ".. autosummary::"]
    lines += [f"   :toctree: {toctree}", "   :nosignatures:", ""]
    lines += [f"   {name.name}" for name in names]
    return [*lines, ""]


def _heading(text: str, sign: str) -> list[str]:
    return [text, sign * len(text), ""]


FOLDERS = {
    "estimators": "Estimators of scikit-learn's kind",
    "problem": "Problems",
    "formulations": "Formulations",
    "modeling": "Programs, and what formulations derive from",
    "quadratic": "Quadratic programs, solvers and claims",
    "workflow": "Solve, bound and verify",
    "studies": "Comparisons and baselines",
}
"""Titles of the groups at the top level, in the order in which a reader needs them."""


def page(module: str) -> str:
    """The page of one namespace."""
    names = [name for name in public_names() if name.module == module]
    lines = _heading(f"{NAMESPACES[module]}: ``{module}``", "=")
    if module != "indefinite_opt":
        return "\n".join([*lines, inspect.getdoc(module_of(module)) or "", "", *_table(names)])
    folders = list(dict.fromkeys([*FOLDERS, *(name.folder for name in names)]))
    for folder in folders:
        members = [name for name in names if name.folder == folder]
        if members:
            lines += _heading(FOLDERS.get(folder, folder.capitalize()), "-") + _table(members)
    return "\n".join(lines)


def results_page() -> str:
    """The page of the types that functions return."""
    lines = _heading("What functions return and take", "=")
    for module in RESULTS:
        lines += _table([name for name in public_names() if name.module == module])
    return "\n".join(lines)


def index_page(pages: list[str]) -> str:
    """Every public name with the first sentence of its docstring, group by group."""
    lines = _heading("API reference", "=")
    lines += [
        "Every public name has a page with its signature, its return type and an example that"
    ]
    lines += ["runs. The examples are part of the tests.", ""]
    titles = [*NAMESPACES.values(), "What functions return and take"]
    everything = public_names()
    for title, name in zip(titles, pages, strict=True):
        module = name if name in ("indefinite_opt", "results") else f"indefinite_opt.{name}"
        members = [one for one in everything if (one.module in RESULTS) == (name == "results")]
        if name != "results":
            members = [one for one in members if one.module == module]
        lines += _heading(f":doc:`{title} <{name}>`", "-")
        lines += [".. list-table::", "   :widths: 30 70", ""]
        for one in members:
            said = "" if one.is_constant else (inspect.getdoc(one.thing) or "").partition("\n")[0]
            said = said.replace("|", r"\|")
            lines += [f"   * - :py:obj:`~{one.module}.{one.name}`", f"     - {said}"]
        lines.append("")
    return "\n".join([*lines, ".. toctree::", "   :hidden:", "", *(f"   {n}" for n in pages), ""])


def write(folder: Path) -> None:
    """Write all pages into a folder; files that would stay the same are left alone."""
    folder.mkdir(parents=True, exist_ok=True)
    pages = {module.rpartition(".")[2]: page(module) for module in NAMESPACES}
    pages["results"] = results_page()
    pages["index"] = index_page(list(pages))
    for name, text in pages.items():
        path = folder / f"{name}.rst"
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
