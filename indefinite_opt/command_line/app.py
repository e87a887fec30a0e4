"""The program `indefinite-opt`: its commands in the order of their help, errors and exit codes."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperGroup

from indefinite_opt.command_line.bound import bound, check_proof
from indefinite_opt.command_line.compare import compare
from indefinite_opt.command_line.reference import reference_app
from indefinite_opt.command_line.show import list_, show
from indefinite_opt.command_line.solve import solve, verify
from indefinite_opt.command_line.terminal import Interrupts, say, stderr
from indefinite_opt.errors import IndefiniteOptError

__all__ = ["app", "main"]


class _Commands(TyperGroup):
    """Commands whose known errors are one line and exit code 2; that of an interrupt is 130."""

    def invoke(self, ctx: Any) -> Any:
        outcome, code = None, 0
        with Interrupts() as interrupts:
            try:
                outcome = super().invoke(ctx)
            except IndefiniteOptError as error:
                say(f"error: {error}", style="red", to=stderr)
                code = 2
            except KeyboardInterrupt:
                say("interrupted; what was finished before is kept", style="yellow", to=stderr)
                code = 130
            except typer.Exit as ended:
                code = ended.exit_code
        if interrupts.came or code:
            raise typer.Exit(130 if interrupts.came else code)
        return outcome


app = typer.Typer(
    cls=_Commands,
    help="Learning with indefinite kernels: declared, solved, certified, compared.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.command("list")(list_)
for command in (show, solve, bound, verify):
    app.command()(command)
app.command("check-proof")(check_proof)
app.command()(compare)
app.add_typer(reference_app, name="reference")


def main() -> None:
    """Entry point."""
    app()
