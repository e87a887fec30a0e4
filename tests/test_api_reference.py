"""Every public name has a page of the reference with its return type and an example."""

from __future__ import annotations

import doctest
import inspect
import re
import sys
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[1] / "docs"
sys.path.append(str(DOCS / "extensions"))

import api_pages  # noqa: E402

import indefinite_opt as iopt  # noqa: E402

PUBLIC = api_pages.public_names()
DOCUMENTED = [name for name in PUBLIC if not name.is_constant]


def return_type(function: Any) -> Any:
    """The type that a function is annotated to return; None if there is no annotation."""
    return inspect.signature(function).return_annotation or None


def has_example(thing: Any) -> bool:
    """Whether its docstring, or that of one of its own methods, has an example."""
    return any(test.examples for test in doctest.DocTestFinder().find(thing))


def test_there_are_the_names_of_all_namespaces() -> None:
    named = {(name.module, name.name) for name in PUBLIC}
    assert ("indefinite_opt", "solve") in named
    assert ("indefinite_opt.algebra", "quad_form") in named
    assert ("indefinite_opt.theory", "haasdonk_lemma_5") in named
    assert ("indefinite_opt.workflow.certificates", "Certificate") in named
    assert len(named) == len(PUBLIC) > 120


def test_every_public_name_has_an_example() -> None:
    # Constants show their value on their page; everything else shows how it is used.
    names = [f"{n.module}.{n.name}" for n in DOCUMENTED if not has_example(n.thing)]
    assert names == []


def test_every_public_function_and_method_says_what_it_returns() -> None:
    functions = [name for name in DOCUMENTED if inspect.isfunction(name.thing)]
    assert len(functions) > 40
    missing = [n.name for n in functions if return_type(n.thing) is None]
    missing += [
        f"{name.name}.{method}"
        for name in DOCUMENTED
        if inspect.isclass(name.thing)
        for method, function in vars(name.thing).items()
        if inspect.isfunction(function) and not method.startswith("_")
        if return_type(function) is None
    ]
    assert missing == []


def test_every_public_name_is_on_a_page(tmp_path: Path) -> None:
    """Those of the top level in groups."""
    api_pages.write(tmp_path)
    pages = [path.read_text(encoding="utf-8") for path in tmp_path.glob("*.rst")]
    for name in PUBLIC:
        module = f".. currentmodule:: {name.module}\n"
        assert any(module in page and f"\n   {name.name}\n" in page for page in pages), name
    page = (tmp_path / "indefinite_opt.rst").read_text(encoding="utf-8")
    names = re.findall(r"^   (\w+)$|^\* :doc:`(\w+) ", page, re.MULTILINE)
    listed = [name or module for name, module in names]
    assert sorted(listed) == sorted(iopt.__all__)
    assert len(listed) <= 85
    titles = re.findall(r"^(.+)\n-+$", page, re.MULTILINE)
    assert titles == list(api_pages.GROUPS)


def test_every_type_that_a_public_function_returns_has_a_page() -> None:
    pages = {name.thing for name in PUBLIC if not name.is_constant}
    missing = set()
    for function in (name.thing for name in DOCUMENTED if inspect.isfunction(name.thing)):
        for word in re.findall(r"[A-Z]\w+", str(return_type(function))):
            kind = inspect.unwrap(function).__globals__.get(word)
            ours = inspect.isclass(kind) and kind.__module__.startswith("indefinite_opt")
            if ours and kind not in pages:
                missing.add(kind)
    assert missing == set()
