"""Writes the pages of the API reference, one for every public name.

A public name is one in the `__all__` of `indefinite_opt` or of one of its public namespaces, or the
type of what a public function returns. Nothing is listed by hand, so that a new name has its page
at the next build.
"""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path
from typing import Any, NamedTuple

NAMESPACES = {
    "indefinite_opt": "Everything at the top level",
    "indefinite_opt.algebra": "Models",
    "indefinite_opt.theory": "Theorems of the papers, checked on given data",
    "indefinite_opt.datasets": "Data sets",
    "indefinite_opt.kernels": "Kernels",
    "indefinite_opt.studies": "Studies",
    "indefinite_opt.figures": "Pictures",
    "indefinite_opt.errors": "Errors",
}
"""The public modules and the titles of their pages."""

RESULTS = {
    "indefinite_opt.workflow": ("Result", "PairwiseResult", "Path", "Bracket", "Checks"),
    "indefinite_opt.workflow.certificates": ("Certificate", "NoOptimum"),
    "indefinite_opt.quadratic.instances.depot": ("Problem", "Verdict"),
    "indefinite_opt.modeling": ("Program", "Classifier"),
    "indefinite_opt.problem": ("Spectrum",),
    "indefinite_opt.solvers": ("Iterate", "Optimum", "Solution", "Task", "Trace"),
}
"""What public functions return or take, and what the formulations of users are made of."""

TASKS = {
    "classification": "Formulations for two classes",
    "regression": "Formulations for regression",
    "one class": "Formulations for one class",
    "clusters": "Formulations for clusters",
}
"""Titles of the groups of formulations, by their task."""

FOLDERS = {
    "problem": "Problems",
    "formulations": TASKS["classification"],
    "modeling": "Formulations of your own",
    "quadratic": "Solving and certificates",
    "workflow": "Solving and certificates",
    "studies": "Comparison",
    "estimators": "Estimators of scikit-learn's kind",
    "studies.baselines": "Baselines",
    "": "Data, kernels and other modules",
    "errors": "Errors",
    "workflow.checking": "Formulations of your own",
    "workflow.versions": "Data, kernels and other modules",
}
"""Titles of the groups at the top level, by the folders in which their names are defined."""

GROUPS = dict.fromkeys([FOLDERS["problem"], *TASKS.values(), *FOLDERS.values()])
"""The same titles in the order in which a reader needs them."""


class PublicName(NamedTuple):
    """A name to document: `module` and `name` as a user writes them, and the object itself."""

    module: str
    name: str
    thing: Any

    @property
    def is_constant(self) -> bool:
        return not (inspect.isclass(self.thing) or callable(self.thing))


def module_of(name: str) -> Any:
    """A module by the name that a user writes, such as `indefinite_opt.kernels`."""
    parent, _, last = name.rpartition(".")
    package = importlib.import_module(parent) if parent else None
    return getattr(package, last, None) or importlib.import_module(name)


def public_names() -> list[PublicName]:
    """Every public name once, under the first namespace that has it."""
    listed = {module: module_of(module).__all__ for module in NAMESPACES} | RESULTS
    once: dict[int, PublicName] = {}
    for module, names in listed.items():
        for name in names:
            thing = getattr(module_of(module), name)
            if not inspect.ismodule(thing):
                once.setdefault(id(thing), PublicName(module, name, thing))
    return list(once.values())


def group(thing: Any) -> str:
    """The title of the group of a name at the top level; a module is in a group of its own."""
    if inspect.ismodule(thing):
        return FOLDERS["errors" if thing.__name__ == "indefinite_opt.errors" else ""]
    if inspect.isclass(thing) and hasattr(thing, "task") and ".formulations." in thing.__module__:
        return TASKS[thing.task]
    path = thing.__module__.split(".")[1:]
    return FOLDERS.get(".".join(path[:2])) or FOLDERS[path[0]]


def write(folder: Path) -> None:
    """Write a page for every namespace, one for what functions return, and their index."""
    pages = [(module.rpartition(".")[2], NAMESPACES[module], [module]) for module in NAMESPACES]
    pages.append(("results", "What functions return and take", [*RESULTS]))
    index = "API reference\n=============\n\nEvery public name has a page with its signature, its "
    index += "return type and an example that runs. The examples are part of the tests.\n\n"
    for page, title, modules in pages:
        names = [name for name in public_names() if name.module in modules]
        module = modules[0] if modules[0] in [*NAMESPACES][1:] else ""
        heading = f"{title}: ``{modules[0]}``" if modules[0] in NAMESPACES else title
        said = (inspect.getdoc(module_of(module)) or "") if module else ""
        text = f"{heading}\n{'=' * len(heading)}\n\n{said}\n\n{_tables(names, '-', 'generated')}"
        store(folder / f"{page}.rst", text)
        link = f":doc:`{title} <{page}>`"
        index += f"{link}\n{'-' * len(link)}\n\n{_tables(names, '~')}"
    names = "\n".join(f"   {page}" for page, _, _ in pages)
    store(folder / "index.rst", f"{index}.. toctree::\n   :hidden:\n\n{names}\n")


def _tables(names: list[PublicName], sign: str, toctree: str = "") -> str:
    """Names with the first sentences of their docstrings, at the top level in groups."""
    groups: dict[tuple[str, str], list[str]] = {}
    for name in names:
        title = group(name.thing) if name.module == "indefinite_opt" else ""
        groups.setdefault((name.module, title), []).append(name.name)
    top = any(title for _, title in groups)
    modules: dict[str, str] = {}
    for name in module_of("indefinite_opt").__all__ if top and toctree else ():
        thing = getattr(module_of("indefinite_opt"), name)
        if inspect.ismodule(thing):
            groups.setdefault(("indefinite_opt", group(thing)), [])
            line = f"* :doc:`{name} <{name}>`: {NAMESPACES[f'indefinite_opt.{name}']}\n"
            modules[group(thing)] = modules.get(group(thing), "") + line
    order = {title: place for place, title in enumerate(GROUPS)}
    text = ""
    for module, title in sorted(groups, key=lambda each: order.get(each[1], len(order))):
        text += f"{title}\n{sign * len(title)}\n\n" if title else ""
        text += f"{modules[title]}\n" if title in modules else ""
        if groups[module, title]:
            text += f".. currentmodule:: {module}\n\n.. autosummary::\n   :nosignatures:\n"
            text += f"   :toctree: {toctree}\n\n" if toctree else "\n"
            text += "".join(f"   {name}\n" for name in groups[module, title]) + "\n"
    return text


def store(path: Path, text: str) -> None:
    """Write a page; one that would stay the same is left alone, so that it is not built again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")
