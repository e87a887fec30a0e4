"""Every name, parameter and option that users have keeps working.

`public_surface.txt` lists them, one a line, as they were in November 2026. New ones need not be
added; `python tests/test_public_surface.py` prints the list as it is now, for a release.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer.main

sys.path.append(str(Path(__file__).parents[1] / "docs" / "extensions"))

import api_pages

import indefinite_opt as iopt
from indefinite_opt.command_line.app import app

LIST = Path(__file__).with_name("public_surface.txt")


def surface() -> Iterator[str]:
    """One line for each public name, attribute of a public class, parameter, command and option."""
    for public in api_pages.public_names():
        name = f"{public.module}.{public.name}"
        yield from with_parameters(name, public.thing)
        if inspect.isclass(public.thing):
            yield from with_parameters(name, public.thing.__init__)
            yield from attributes(name, public.thing)
    yield from options("indefinite-opt", typer.main.get_command(app))


def attributes(name: str, kind: type) -> Iterator[str]:
    """What a class has of its own or inherits from a class of this package; fields included."""
    own = [base for base in kind.__mro__ if base.__module__.startswith("indefinite_opt")]
    for base in own:
        for attribute in {*vars(base), *vars(base).get("__annotations__", {})}:
            if not attribute.startswith("_"):
                yield from with_parameters(f"{name}.{attribute}", getattr(base, attribute, None))


def with_parameters(name: str, thing: Any) -> Iterator[str]:
    yield name
    if inspect.isfunction(thing) or inspect.ismethod(thing):
        for parameter in inspect.signature(thing).parameters:
            if parameter != "self":
                yield f"{name}({parameter})"


def options(name: str, command: Any) -> Iterator[str]:
    yield name
    for option in command.params:
        yield from (f"{name} {text}" for text in (*option.opts, *option.secondary_opts))
    for inner, subcommand in getattr(command, "commands", {}).items():
        yield from options(f"{name} {inner}", subcommand)


def test_nothing_that_users_have_is_gone() -> None:
    promised = LIST.read_text(encoding="utf-8").splitlines()
    assert len(promised) > 1000
    assert sorted(set(promised) - set(surface())) == []


def test_names_that_have_moved_are_where_they_were() -> None:
    assert importlib.import_module("indefinite_opt.modeling").Classifier is iopt.Classifier


if __name__ == "__main__":
    print("\n".join(sorted(set(surface()))))
