"""Objects from text such as `SVMDual(C=inf)`, and the classes of a folder that it may name."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from indefinite_opt.errors import ParameterError, UnknownName

T = TypeVar("T")


def parse_call(text: str, argument: str = "name") -> tuple[str, dict[str, Any]]:
    """Split `Name(key=value, ...)` into its name and its keyword arguments.

    Values are Python literals; `inf` is infinity and any other bare word is a string. Numbers
    beyond the range of floats are refused: infinity is written `inf`, not `1e999`.

    >>> parse_call("SpectrumSVM(C=inf, transform=clip)")
    ('SpectrumSVM', {'C': inf, 'transform': 'clip'})
    """
    malformed = ParameterError(argument, "NAME or NAME(key=value, ...)", repr(text))
    name, bracket, rest = text.strip().partition("(")
    # Names such as l1-gaussian are not Python identifiers; only their argument list is Python.
    if not name.replace("-", "_").isidentifier():
        raise malformed
    if not bracket:
        return name, {}
    try:
        call = ast.parse("_(" + rest, mode="eval").body
    except _UNREADABLE:
        raise malformed from None
    # In f(...)(...) the function of the last call is not a name but the call before it.
    if not isinstance(call, ast.Call) or call.args or not isinstance(call.func, ast.Name):
        raise malformed
    words = [word.arg for word in call.keywords]
    if None in words or len(set(words)) < len(words):
        raise malformed
    return name, {str(word.arg): _value(word, malformed) for word in call.keywords}


_UNREADABLE = (SyntaxError, ValueError, TypeError, RecursionError, MemoryError)
"""What Python's parser raises on text that is not a literal: also on NUL characters, thousands of
signs or brackets, integers of thousands of digits, and keys that cannot be hashed."""


def _value(word: ast.keyword, malformed: ParameterError) -> Any:
    node = word.value
    if isinstance(node, ast.Name):
        return float("inf") if node.id == "inf" else node.id
    try:
        value = ast.literal_eval(node)
    except _UNREADABLE:
        raise malformed from None
    largest = sys.float_info.max
    for part in ast.walk(node):
        number = part.value if isinstance(part, ast.Constant) else 0
        if isinstance(number, int | float | complex) and abs(number) > largest:
            raise ParameterError(
                str(word.arg), f"numbers up to {largest:.2g}, or inf", "a larger one"
            )
    return value


def split_calls(text: str) -> list[str]:
    """Split a comma-separated list of names, leaving commas inside parentheses alone.

    >>> split_calls("SVMDual(C=1, bias=False), LPSVM")
    ['SVMDual(C=1, bias=False)', 'LPSVM']
    """
    parts, depth, current = [], 0, ""
    for character in text:
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            parts.append(current)
            current = ""
        else:
            current += character
    return [part.strip() for part in [*parts, current] if part.strip()]


def instantiate(
    kind: str, known: Mapping[str, Callable[..., T]], text: str, **parameters: Any
) -> T:
    """The object of a `kind` that `Name` or `Name(key=value, ...)` describes.

    Case, and - or _ in names, make no difference. `known` has the class or function of each name;
    the further parameters take precedence over those in the text.
    """
    name, written = parse_call(text, kind)
    by_folded = {_folded(key): make for key, make in known.items()}
    if _folded(name) not in by_folded:
        raise UnknownName(kind, name, known)
    make = by_folded[_folded(name)]
    accepted = list(inspect.signature(make).parameters)
    arguments = {**written, **parameters}
    for key in arguments:
        if not accepted:
            raise ParameterError(kind, f"{name} without parameters", repr(text))
        if key not in accepted:
            raise UnknownName(f"parameter of {name}", key, accepted)
    return make(**arguments)


def as_instance(
    kind: str, base: type[T], known: Mapping[str, type[T]], source: Any, hint: str = ""
) -> T:
    """The object of a class that an object, its class, or text with name and parameters says."""
    if isinstance(source, base):
        return source
    if isinstance(source, type) and issubclass(source, base):
        return source()
    if isinstance(source, str):
        return instantiate(kind, known, source)
    raise ParameterError(kind, f"a {kind} or its name", repr(source), hint)


def _folded(name: str) -> str:
    return name.casefold().replace("_", "-")


def discover(package: str, path: Iterable[str], base: type[T]) -> list[type[T]]:
    """Every concrete subclass of `base` in a folder and its subfolders, in the order of file names.

    Files whose name begins with an underscore are not imported.
    """
    modules = [
        importlib.import_module(info.name)
        for info in pkgutil.walk_packages(list(path), f"{package}.")
        if not info.ispkg and not info.name.rpartition(".")[2].startswith("_")
    ]
    found = [
        member
        for module in modules
        for member in vars(module).values()
        if inspect.isclass(member)
        and issubclass(member, base)
        and not inspect.isabstract(member)
        and member.__module__ == module.__name__
    ]
    return sorted(found, key=lambda cls: cls.__module__.rpartition(".")[2])


def short(value: Any) -> str:
    """The value as text; a float with six digits, or with all that are needed to recover it.

    >>> short(1.0), short(0.12345678), short(float("inf"))
    ('1', '0.12345678', 'inf')
    """
    if not isinstance(value, float):
        return str(value)
    shown = f"{value:g}"
    return shown if float(shown) == value else repr(float(value))
