"""The program `indefinite-opt`: its commands in the order of `--help`, errors and exit codes."""

from __future__ import annotations

from typing import Any

import typer
from typer import Exit
from typer.core import TyperGroup

from indefinite_opt.command_line.bound import bound, check_proof
from indefinite_opt.command_line.compare import compare
from indefinite_opt.command_line.qp import qp
from indefinite_opt.command_line.reference import reference_app
from indefinite_opt.command_line.reproduce import reproduce
from indefinite_opt.command_line.show import list_, show
from indefinite_opt.command_line.solve import solve, verify
from indefinite_opt.command_line.terminal import Interrupts, say, stderr
from indefinite_opt.errors import IndefiniteOptError

__all__ = ["app", "main"]


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
            except KeyboardInterrupt:
                say("interrupted; everything that was finished is kept", style="yellow", to=stderr)
                code = 130
            except Exit as ended:
                code = ended.exit_code
        if interrupts.came or code:
            raise Exit(130 if interrupts.came else code)
        return outcome


app = typer.Typer(
    cls=_Commands,
    help="Solve, certify and compare formulations of learning with indefinite kernels.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.command("list")(list_)
for command in (show, solve, bound, verify, qp):
    app.command()(command)
app.command("check-proof")(check_proof)
app.command()(compare)
app.command()(reproduce)
app.add_typer(reference_app, name="reference")


def main() -> None:
    """Run the command that the arguments of the process name."""
    app()
