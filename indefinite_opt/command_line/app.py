"""The program `indefinite-opt`: its commands in the order of `--help`, errors and exit codes."""

from __future__ import annotations

import os
import sys
from typing import Annotated, Any

import typer
from typer import Exit, Option
from typer.core import TyperCommand, TyperGroup

import indefinite_opt as iopt
from indefinite_opt.command_line.bound import bound, check_proof
from indefinite_opt.command_line.compare import compare
from indefinite_opt.command_line.predict import predict
from indefinite_opt.command_line.qp import qp
from indefinite_opt.command_line.reference import reference_app
from indefinite_opt.command_line.show import fetch, list_, show
from indefinite_opt.command_line.solve import diagnose, solve, verify
from indefinite_opt.command_line.terminal import Interrupts, in_options, say, stderr
from indefinite_opt.errors import IndefiniteOptError

EXAMPLE = "iris-versicolor-virginica --a 1 --r -1"
"""Data and a kernel, 8 % of whose spectrum is negative: a single descent from zero ends a quarter
below the optimum of the SVM dual with C = 10, and its bracket closes within a second."""

EXAMPLES = {
    "list": "list solvers",
    "show": "show 'LussDual(rho=0.1)'",
    "diagnose": "diagnose words --form linear",
    "solve": "solve words 'KSVM(C=0.01)' --form linear --save model.npz",
    "predict": "predict model.npz new.csv",
    "bound": f"bound {EXAMPLE} 'SVMDual(C=10)' --proof proof.json",
    "verify": "verify words 'ESVM(C=0.1)' alpha.csv --form linear",
    "qp": "qp boxqp-50-40-1 --bound --output x.npz",
    "check-proof": "check-proof proof.json",
    "compare": "compare words --form linear --formulations 'SVMDual, ESVM, KSVM' --chosen",
    "fetch": "fetch heart --data-dir data",
}
"""One call of each command, for its help."""

PANELS = {
    "Data": "kind label labels missing ignore positive symmetrize data_dir max_bytes folds "
    "program check",
    "Kernel": "kernel gamma a r degree scaling form cache_mb",
    "Solver": "formulations grid solver solvers method tol time_limit max_iter max_nodes gap bound "
    "seed jobs cluster",
}
"""The options of each panel of the help; all others are about the output."""


class _Command(TyperCommand):
    """A command whose help has its options in panels."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        panel = {name: title for title, names in PANELS.items() for name in names.split()}
        panels: dict[str, list[Any]] = {
            title: [] for title in ("Arguments", *PANELS, "Output", "Help")
        }
        for one in self.get_params(ctx):
            title = panel.get(one.name, "Help" if one.name == "help" else "Output")
            record = one.get_help_record(ctx)
            if record is not None:
                panels["Arguments" if one.param_type_name == "argument" else title].append(record)
        for title, records in panels.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


class _Commands(TyperGroup):
    """Commands that answer a known error with one line and exit code 2, and Ctrl-C with 130."""

    def _options(self, ctx: Any) -> set[str]:
        """The options of the command that is run, or of all commands of its group."""
        run: Any = self.commands[str(ctx.invoked_subcommand)]
        commands = getattr(run, "commands", {"": run}).values()
        return {str(parameter.name) for each in commands for parameter in each.params}

    def invoke(self, ctx: Any) -> Any:
        outcome, code = None, 0
        with Interrupts() as interrupts:
            try:
                outcome = super().invoke(ctx)
                sys.stdout.flush()
            except IndefiniteOptError as error:
                say(f"error: {in_options(error, self._options(ctx))}", style="red", to=stderr)
                code = 2
            except MemoryError as error:
                told = f"error: the memory is too small ({error}); --cache-mb never forms the "
                told += "kernel matrix"
                say(told, "red", stderr)
                code = 2
            except BrokenPipeError:
                # The reader of a pipe, such as `head`, has seen enough. Nothing may be flushed into
                # the pipe when Python ends.
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
                code = 141  # of programs that SIGPIPE ends: 128 + 13
            except OSError as error:
                # The output cannot be written, as every file has an error of its own.
                say(f"error: output: {error.strerror or error}", style="red", to=stderr)
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
                code = 1
            except Exit as ended:
                code = ended.exit_code
            except (KeyboardInterrupt, Exception) as error:
                # Modules that Ctrl-C meets half imported raise anything but KeyboardInterrupt.
                if isinstance(error, Exception) and not interrupts.came:
                    raise
                resumed = ctx.invoked_subcommand in ("compare", "fetch")
                kept = "; finished cells are kept" if resumed else ""
                say(f"interrupted{kept}", style="yellow", to=stderr)
                code = 130
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
for command in (
    list_, show, diagnose, solve, predict, bound, verify, qp, check_proof, compare, fetch,
):  # fmt: skip
    name = command.__name__.removesuffix("_").replace("_", "-")
    first = (command.__doc__ or "").partition("\n")[0]
    told = f"Example: indefinite-opt {EXAMPLES[name]}"
    app.command(name, cls=_Command, short_help=first, epilog=told)(command)
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
