"""The program `indefinite-opt`: its commands in the order of `--help`, errors and exit codes."""

from __future__ import annotations

import os
import sys
from typing import Annotated, Any

import typer
from typer import Exit, Option
from typer.core import TyperGroup

import indefinite_opt as iopt
from indefinite_opt.command_line.bound import bound, check_proof
from indefinite_opt.command_line.compare import compare
from indefinite_opt.command_line.diagnose import diagnose
from indefinite_opt.command_line.fetch import fetch
from indefinite_opt.command_line.predict import predict
from indefinite_opt.command_line.qp import qp
from indefinite_opt.command_line.reference import reference_app
from indefinite_opt.command_line.reproduce import reproduce
from indefinite_opt.command_line.show import list_, show
from indefinite_opt.command_line.solve import solve, verify
from indefinite_opt.command_line.terminal import Interrupts, say, stderr
from indefinite_opt.errors import IndefiniteOptError

__all__ = ["app", "main"]


EXAMPLE = "iris-versicolor-virginica --a 1 --r -1"
"""Data and a kernel, 8 % of whose spectrum is negative: a single descent from zero ends a quarter
below the optimum of the SVM dual with C = 10, and its bracket closes within a second."""

BROKEN_PIPE = 141
"""Exit code of programs that SIGPIPE ends: 128 + 13."""


class _Commands(TyperGroup):
    """Commands that answer a known error with one line and exit code 2, and Ctrl-C with 130."""

    def invoke(self, ctx: Any) -> Any:
        outcome, code = None, 0
        with Interrupts() as interrupts:
            try:
                outcome = super().invoke(ctx)
            except IndefiniteOptError as error:
                say(f"error: {error}", style="red", to=stderr)
                code = 2
            except MemoryError as error:
                told = f"error: the memory is too small ({error}); --precision single takes half"
                told += ", and --cache-mb and --rank never form the kernel matrix"
                say(told, "red", stderr)
                code = 2
            except KeyboardInterrupt:
                say("interrupted; everything that was finished is kept", style="yellow", to=stderr)
                code = 130
            except BrokenPipeError:
                # The reader of a pipe, such as `head`, has seen enough. Nothing may be flushed into
                # the pipe when Python ends.
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
                code = BROKEN_PIPE
            except Exit as ended:
                code = ended.exit_code
        if interrupts.came or code:
            raise Exit(130 if interrupts.came else code)
        return outcome


app = typer.Typer(
    cls=_Commands,
    help="Solve, certify and compare formulations of learning with indefinite kernels.\n\n"
    "A first example, with two local optima and a bracket that closes:\n\n"
    f"indefinite-opt compare {EXAMPLE}\n\n"
    f"indefinite-opt bound {EXAMPLE} 'SVMDual(C=10)'",
    no_args_is_help=True,
    add_completion=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
for command in (list_, show, diagnose, solve, predict, bound, verify, qp, check_proof, compare):
    name = command.__name__.removesuffix("_").replace("_", "-")
    app.command(name, short_help=(command.__doc__ or "").partition("\n")[0])(command)
app.command(short_help="Reproduce tables and figures of the papers.")(reproduce)
app.command(short_help="Fetch named data sets from OpenML into a folder.")(fetch)
app.add_typer(reference_app, name="reference")


def _print_version(wanted: bool) -> None:
    if wanted:
        say(f"indefinite-opt {iopt.__version__}")
        raise Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        Option("--version", help="Print the version.", callback=_print_version, is_eager=True),
    ] = False,
) -> None:
    """Options of the program itself."""


def main() -> None:
    """Run the command that the arguments of the process name."""
    app()
