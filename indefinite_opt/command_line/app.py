"""The program `indefinite-opt`: its commands in the order of `--help`."""

from __future__ import annotations

from typing import Any

import typer
from typer import Exit, Option

import indefinite_opt as iopt
from indefinite_opt.command_line import show as shown
from indefinite_opt.command_line import solve as solving
from indefinite_opt.command_line.compare import compare, side_by_side
from indefinite_opt.command_line.depot import problems
from indefinite_opt.command_line.terminal import Command, say

EXAMPLE = "iris-versicolor-virginica --a 1 --r -1"
"""A descent from zero ends a quarter below the optimum with C = 10, whose bracket closes."""

COMMANDS: dict[str, tuple[Any, str]] = {
    "list": (shown.list_, "list solvers"),
    "show": (shown.show, "show 'LussDual(rho=0.1)'"),
    "diagnose": (solving.diagnose, "diagnose words --form linear"),
    "solve": (solving.solve, "solve words 'KSVM(C=0.01)' --form linear --save model.npz"),
    "predict": (solving.predict, "predict model.npz new.csv"),
    "bound": (solving.bound, f"bound {EXAMPLE} 'SVMDual(C=10)' --proof proof.json"),
    "verify": (solving.verify, "verify words 'ESVM(C=0.1)' alpha.csv --form linear"),
    "qp": (solving.qp, "qp boxqp-50-40-1 --bound --output x.npz"),
    "depot": (problems, "depot 'boxqp-50-*'"),
    "check-proof": (solving.check_proof, "check-proof proof.json"),
    "side-by-side": (side_by_side, "side-by-side words --formulations 'SVMDual, NuSVM, ESVM'"),
    "compare": (compare, "compare words --form linear --formulations 'SVMDual, ESVM, KSVM'"),
}
"""The commands in the order of the help, and one call of each."""

app = typer.Typer(
    help="Solve, certify and compare formulations of learning with indefinite kernels.\n\n"
    "First examples, on a kernel whose dual has several local optima and a bracket that closes:\n\n"
    f"indefinite-opt compare {EXAMPLE}\n\n"
    f"indefinite-opt bound {EXAMPLE} 'SVMDual(C=10)'",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for _name, (_command, _call) in COMMANDS.items():
    app.command(_name, cls=Command, epilog=f"Example: indefinite-opt {_call}")(_command)


def _print_version(wanted: bool) -> None:
    if wanted:
        say(f"indefinite-opt {iopt.__version__}")
        raise Exit


@app.callback()
def _options(
    version: bool = Option(
        False, "--version", help="Print the version.", callback=_print_version, is_eager=True
    ),
) -> None:
    """Options of the program itself."""


main = app
