"""Reference programs by name, generated wherever they are needed.

A name is a family and the whole numbers that its function takes, joined by hyphens: `boxqp-50-40-1`
is `box_qp(50, 40, 1)`, and `clique-johnson-8-4-4` the program of `bomze` for `johnson(8, 4, 4)`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from indefinite_opt.errors import ParameterError, UnknownName
from indefinite_opt.foundation import checks
from indefinite_opt.quadratic.instances import graphs, random_programs

Value = TypeVar("Value")

FAMILIES: dict[str, Callable[..., dict[str, Any]]] = {
    "boxqp": random_programs.box_qp,
    "maxcut": random_programs.max_cut,
    "spinglass": random_programs.spin_glass,
    "stqp": random_programs.standard_qp,
    "rowqp": random_programs.row_qp,
    "bilinear": random_programs.bilinear,
    "jointbilinear": random_programs.joint_bilinear,
    "concave": random_programs.concave,
    "transportation": random_programs.transportation,
    "portfolio": random_programs.portfolio,
    "blending": random_programs.blending,
}
"""The functions of random programs by the first part of their names."""

GRAPHS: dict[str, Callable[..., graphs.Graph]] = {
    "johnson": graphs.johnson,
    "hamming": graphs.hamming,
    "keller": graphs.keller,
    "turan": graphs.turan,
    "paley": graphs.paley,
    "triangular": graphs.triangular,
    "lattice": graphs.lattice,
    "cyclejoin": graphs.cycle_join,
}
"""The functions of graphs by the first part of their names."""

CLIQUE = "clique"
"""What stands before the name of a graph in the name of its program."""

BOX_SIZES = {
    20: (100,),
    30: (60, 70, 80, 90, 100),
    40: (30, 40, 50, 60, 70, 80, 90, 100),
    50: (30, 40, 50),
    60: (20,),
    **dict.fromkeys((70, 80, 90, 100, 125, 150, 200), (25, 50, 75)),
}
"""Densities of the box-constrained programs by n, with seeds 1 to 3 each. Up to n = 125 these are
the numbers of the 99 public instances of Vandenbussche and Nemhauser (2005) and their sequels."""

SUITE: dict[str, tuple[str, ...]] = {
    "boxqp": tuple(
        f"boxqp-{n}-{density}-{seed}"
        for n, densities in BOX_SIZES.items()
        for density in densities
        for seed in (1, 2, 3)
    ),
    "clique": tuple(
        f"clique-{name}"
        for name in (
            "johnson-8-2-4", "johnson-7-3-4", "johnson-8-3-4", "johnson-9-3-4", "johnson-8-4-4",
            "johnson-9-4-6", "johnson-10-2-4",
            "hamming-5-3", "hamming-6-2", "hamming-6-3", "hamming-6-4",
            "keller-2", "keller-3", "turan-50-7", "turan-100-30", "paley-5", "paley-7",
            "triangular-10", "triangular-14", "lattice-7", "lattice-10",
            "cyclejoin-6-5", "cyclejoin-10-5", "cyclejoin-20-5", "cyclejoin-8-7",
        )
    ),
    "stqp": tuple(
        f"stqp-{n}-{density}-1" for n in (30, 50, 70, 100) for density in (25, 50, 75, 90)
    ),
    "rowqp": tuple(
        f"rowqp-{n}-{n // 2 - n // 4}-{n // 4}-{density}-{seed}"
        for n in (20, 30, 40, 50)
        for density in (25, 50, 75, 100)
        for seed in (1, 2, 3, 4)
    ),
    "maxcut": tuple(f"maxcut-{n}-{density}-1" for n in (20, 40, 60) for density in (50, 90)),
    "spinglass": ("spinglass-5-5-1", "spinglass-8-8-1", "spinglass-10-10-1"),
    "bilinear": ("bilinear-10-10-5-1", "bilinear-20-20-10-1", "bilinear-30-30-15-1"),
    "jointbilinear": ("jointbilinear-10-10-10-1", "jointbilinear-20-20-20-1"),
    "concave": ("concave-20-10-5-1", "concave-30-15-10-1", "concave-40-20-40-1"),
    "transportation": ("transportation-4-5-1", "transportation-6-8-1"),
    "portfolio": ("portfolio-30-5-1", "portfolio-60-10-1", "portfolio-100-10-1"),
    "blending": ("blending-4-2-3-1", "blending-6-3-4-1"),
}  # fmt: skip
"""The reference suite: names by family. The sizes of `rowqp`, n variables and n/2 rows, are those
of the random instances of Chen and Burer (2012)."""


def names(family: str | None = None) -> list[str]:
    """The names of the reference suite, or of one of its families.

    `generate` knows the programs of other sizes and seeds as well.

    >>> names("spinglass")
    ['spinglass-5-5-1', 'spinglass-8-8-1', 'spinglass-10-10-1']
    """
    if family is None:
        return [name for members in SUITE.values() for name in members]
    checks.choice("family", family, SUITE)
    return list(SUITE[family])


def generate(name: str) -> dict[str, Any]:
    """The `quadratic_arrays` of a name.
    >>> program = generate("clique-johnson-8-4-4")
    >>> program["q"].size, round(1 / (2 + 2 * program["optimum"]))
    (70, 14)
    >>> generate("boxqp-50-40")
    Traceback (most recent call last):
    indefinite_opt.errors.ParameterError: name: expected boxqp-n-density-seed, got 'boxqp-50-40'
    """
    family, _, rest = name.partition("-")
    program = graphs.bomze(graph(rest)) if family == CLIQUE else _called("family", FAMILIES, name)
    return program | {"name": name}


def graph(name: str) -> graphs.Graph:
    """The graph of a name, `generate`'s without its first part.

    >>> graph("keller-3").clique_number
    5
    """
    return _called("graph", GRAPHS, name)


def _called(kind: str, functions: dict[str, Callable[..., Value]], name: str) -> Value:
    """What the function of a name returns for the numbers in it."""
    first, *parts = name.split("-")
    if first not in functions:
        known = functions if kind == "graph" else [*functions, CLIQUE]
        raise UnknownName(kind, first, known)
    function = functions[first]
    parameters = list(inspect.signature(function).parameters)
    try:
        numbers = [int(part) for part in parts]
    except ValueError:
        numbers = []  # which do not make up the name again
    written = "-".join(map(str, [first, *numbers]))
    if written != name or len(numbers) != len(parameters):
        raise ParameterError("name", "-".join([first, *parameters]), repr(name))
    return function(*numbers)
