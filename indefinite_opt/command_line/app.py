"""The command line: list, show, solve, bound, verify, check-proof, compare, reference."""

from __future__ import annotations

import json
import signal
import sys
import threading
from enum import StrEnum
from fnmatch import fnmatchcase
from pathlib import Path
from types import FrameType
from typing import Annotated, Any, Literal, Self, TypeVar

import numpy as np
import typer
from rich.console import Console
from rich.table import Table
from typer.core import TyperGroup

import indefinite_opt as iopt
from indefinite_opt.command_line.live_bracket import Watch
from indefinite_opt.errors import DataError, IndefiniteOptError
from indefinite_opt.formulations import as_formulation
from indefinite_opt.foundation import MAX_BYTES, checks, read_arrays, read_json, split_calls
from indefinite_opt.studies import warm_up
from indefinite_opt.studies.reference_library import library as references
from indefinite_opt.workflow.certificates import proof_checker, read_document

__all__ = ["main"]

Named = TypeVar("Named", bound=references.Instance)

# A pipe has no width of its own.
console = Console(width=None if sys.stdout.isatty() else 100)
stderr = Console(stderr=True)


class _Interrupts:
    """A context that takes note of Ctrl-C, which searches end at without an error."""

    came = False

    def __enter__(self) -> Self:
        before = signal.getsignal(signal.SIGINT)
        main = threading.current_thread() is threading.main_thread()
        # Where signals are ignored, as after nohup, they stay so.
        self._before = before if main and callable(before) else None
        if self._before is not None:
            signal.signal(signal.SIGINT, self._interrupt)
        return self

    def __exit__(self, *error: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        self.came = True
        if self._before is not None:
            self._before(number, frame)


class _Commands(TyperGroup):
    """Commands whose known errors are one line and exit code 2; that of an interrupt is 130."""

    def invoke(self, ctx: Any) -> Any:
        outcome, code = None, 0
        with _Interrupts() as interrupts:
            try:
                outcome = super().invoke(ctx)
            except IndefiniteOptError as error:
                text = f"error: {error}"
                stderr.print(text, style="red", highlight=False, markup=False, soft_wrap=True)
                code = 2
            except KeyboardInterrupt:
                stderr.print("interrupted; what was finished before is kept", style="yellow")
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

reference_app = typer.Typer(
    help="Small instances with best-known objectives and certified brackets.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(reference_app, name="reference")


class Scaling(StrEnum):
    """Scalings of the features."""

    minmax = "minmax"
    standard = "standard"
    none = "none"


class Form(StrEnum):
    """Kernels made from distances."""

    gaussian = "gaussian"
    linear = "linear"
    raw = "raw"


DEFAULT_KERNEL = "sigmoid"

_PICTURES = (".png", ".svg", ".pdf")

Data = Annotated[
    str,
    typer.Argument(help="A data set (see `list data`), or a .npz file with y and X, K or D."),
]
Kernel = Annotated[
    str, typer.Option(help="Kernel for points, with or without parameters: 'sigmoid(a=0.1, r=-1)'.")
]
GammaOption = Annotated[float | None, typer.Option(help="Kernel parameter gamma.")]
AOption = Annotated[float | None, typer.Option("--a", help="Kernel parameter a (sigmoid).")]
ROption = Annotated[float | None, typer.Option("--r", help="Kernel parameter r.")]
DegreeOption = Annotated[int | None, typer.Option(help="Kernel parameter degree (polynomial).")]
ScalingOption = Annotated[Scaling, typer.Option(help="Scaling of the features.")]
FormOption = Annotated[Form, typer.Option(help="Kernel form for data given as distances.")]
DataDir = Annotated[
    Path | None,
    typer.Option(help="Folder of the named data sets.", envvar="INDEFINITE_OPT_DATA"),
]
MaxBytes = Annotated[int, typer.Option(help="Most bytes of a file that is read, unpacked.")]
Tolerance = Annotated[float, typer.Option(help="Relative tolerance of solvers and certificates.")]
TimeLimit = Annotated[float | None, typer.Option(help="Seconds allowed for each solve.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
ReferenceName = Annotated[str, typer.Argument(help="An instance; see `reference list`.")]


@app.command("list")
def list_(
    what: Annotated[
        str, typer.Argument(help="formulations, baselines, solvers, kernels, data, or all.")
    ] = "all",
    data_dir: DataDir = None,
    as_json: Json = False,
) -> None:
    """Show what exists."""
    data = sorted(iopt.datasets.describe().items())
    sections: dict[str, list[tuple[str, str]]] = {
        "formulations": [
            (
                name,
                getattr(iopt, name).reference
                + "; solvers: "
                + ", ".join(iopt.available_solvers(name)),
            )
            for name in iopt.available_formulations()
        ],
        "baselines": [(name, getattr(iopt, name).reference) for name in iopt.available_baselines()],
        "solvers": _solver_lines(),
        "kernels": [(name, _first_line(iopt.kernels.get(name))) for name in _simple_kernels()],
        "data": data
        if what == "data" or as_json
        else [("names", ", ".join(name for name, _ in data))],
    }
    if what != "all":
        checks.choice("what", what, [*sections, "all"])
        sections = {what: sections[what]}
    elif not as_json:
        sections["data"] = [("names", ", ".join(name for name, _ in data))]
    if as_json:
        _print_json({kind: dict(entries) for kind, entries in sections.items()})
        return
    for kind, entries in sections.items():
        table = Table(title=kind, title_justify="left", box=None, show_header=False)
        table.add_column(style="bold", no_wrap=True)
        table.add_column(overflow="fold")
        for name, meaning in entries:
            table.add_row(name, meaning)
        console.print(table)
        console.print()


@app.command()
def show(
    name: Annotated[str, typer.Argument(help="A formulation, with or without parameters.")],
    latex: Annotated[bool, typer.Option(help="Print LaTeX source instead of text.")] = False,
) -> None:
    """Show a formulation as mathematics, generated from its declaration."""
    formulation = as_formulation(name)
    program = formulation.declare(_toy_problem())
    if latex:
        console.print(program.latex(), highlight=False, markup=False, soft_wrap=True)
        return
    console.print(str(program), highlight=False, markup=False, soft_wrap=True)
    console.print("\nwhere", highlight=False)
    for symbol, meaning in program.legend().items():
        console.print(f"  {symbol}: {meaning}", highlight=False, markup=False, soft_wrap=True)
    console.print(f"\n{formulation.reference}", highlight=False, markup=False, soft_wrap=True)


@app.command()
def solve(
    data: Data,
    formulation: Annotated[str, typer.Argument(help="For example 'SVMDual(C=10)'.")],
    kernel: Kernel = DEFAULT_KERNEL,
    gamma: GammaOption = None,
    a: AOption = None,
    r: ROption = None,
    degree: DegreeOption = None,
    scaling: ScalingOption = Scaling.minmax,
    form: FormOption = Form.gaussian,
    data_dir: DataDir = None,
    max_bytes: MaxBytes = MAX_BYTES,
    solver: Annotated[str | None, typer.Option(help="Solver; by default the fitting one.")] = None,
    tol: Tolerance = 1e-6,
    time_limit: TimeLimit = None,
    max_iter: Annotated[int | None, typer.Option(help="Iterations of the solver.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of random starts.")] = 0,
    output: Annotated[Path | None, typer.Option(help="Write the values to a .npz file.")] = None,
    as_json: Json = False,
) -> None:
    """Solve one formulation and print what the answer proves.

    Ctrl-C ends the search. The best point so far is printed and written, and the exit code is 130.
    """
    parameters = _given(gamma=gamma, a=a, r=r, degree=degree)
    problem = _problem(data, kernel, parameters, scaling, form, data_dir, max_bytes)
    chosen = as_formulation(formulation)
    _warm_up(solver or chosen.structure_type.default_solver)
    result = iopt.solve(
        problem, chosen, solver=solver, tol=tol, time_limit=time_limit, max_iter=max_iter,
        seed=seed,
    )  # fmt: skip
    if output is not None:
        _save(output, result.values)
    certificate = result.certificate
    if as_json:
        _print_json(
            {
                "problem": problem.name,
                "n": problem.n,
                "formulation": str(result.formulation),
                "solver": result.solver,
                "status": str(result.status),
                "seconds": result.seconds,
                "iterations": result.iterations,
                "support": int(result.classifier.support.size),
                "offset": result.classifier.offset,
                **_certificate_fields(certificate),
            }
        )
    else:
        console.print(
            f"{problem.name} (n = {problem.n}), {result.formulation}, by {result.solver} in "
            f"{result.seconds:.3g} s: {result.status.value}",
            highlight=False, soft_wrap=True,
        )  # fmt: skip
        console.print(str(certificate), highlight=False, markup=False, soft_wrap=True)
    if result.status is iopt.Status.INTERRUPTED:
        raise typer.Exit(130)


@app.command()
def bound(
    data: Data,
    formulation: Annotated[
        str, typer.Argument(help="SVMDual, ConvexHullDual or GuoSchuurmansQP, with parameters.")
    ],
    kernel: Kernel = DEFAULT_KERNEL,
    gamma: GammaOption = None,
    a: AOption = None,
    r: ROption = None,
    degree: DegreeOption = None,
    scaling: ScalingOption = Scaling.minmax,
    form: FormOption = Form.gaussian,
    data_dir: DataDir = None,
    max_bytes: MaxBytes = MAX_BYTES,
    time_limit: Annotated[float, typer.Option(help="Seconds; inf for no limit.")] = 60.0,
    gap: Annotated[float, typer.Option(help="Relative gap to stop at.")] = 1e-4,
    method: Annotated[
        str, typer.Option(help="branch-and-bound, relaxation, clarabel, scs or cheap.")
    ] = "branch-and-bound",
    max_nodes: Annotated[int | None, typer.Option(help="Most boxes.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the local search.")] = 0,
    output: Annotated[
        Path | None, typer.Option(help="Write the best point to a .npz file.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the bracket over time: a .png, .svg or .pdf file.")
    ] = None,
    proof: Annotated[
        Path | None, typer.Option(help="Write the proof to a .json file; see check-proof.")
    ] = None,
    require_gap: Annotated[
        float | None, typer.Option(help="Exit with 1 unless the relative gap is at most this.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Bracket the global optimum: the best point found, and a bound that is proved.

    Ctrl-C ends the search. The bracket so far is printed, as valid as any, and the exit code
    is 130.
    """
    for option, path in (("output", output), ("plot", plot), ("proof", proof)):
        _check_writable(option, path)
    if plot is not None and plot.suffix.lower() not in _PICTURES:
        raise DataError("plot", f"a file ending in {', '.join(_PICTURES)}", f"{plot}")
    checks.positive("require_gap", require_gap, optional=True)
    parameters = _given(gamma=gamma, a=a, r=r, degree=degree)
    problem = _problem(data, kernel, parameters, scaling, form, data_dir, max_bytes)
    chosen = as_formulation(formulation)
    with Watch(stderr, f"{chosen} on {problem.name} (n = {problem.n})", gap) as watch:
        _warm_up("global")
        bracket = iopt.bound(
            problem, chosen, time_limit=time_limit, gap=gap, method=method, max_nodes=max_nodes,
            seed=seed, callback=watch,
        )  # fmt: skip
    if as_json:
        _print_json(_bracket_fields(bracket))
    else:
        console.print(str(bracket), highlight=False, markup=False, soft_wrap=True)
    if output is not None:
        _save(output, bracket.values)
    if plot is not None:
        _draw(plot, bracket)
    if proof is not None:
        bracket.save(proof)
    if bracket.status is iopt.Status.INTERRUPTED:
        raise typer.Exit(130)
    if require_gap is not None and not bracket.relative_gap <= require_gap:
        raise typer.Exit(1)


@app.command()
def verify(
    data: Data,
    formulation: Annotated[str, typer.Argument(help="For example 'SVMDual(C=10)'.")],
    values: Annotated[Path, typer.Argument(help="Values to check: .npz, or .json, by name.")],
    kernel: Kernel = DEFAULT_KERNEL,
    gamma: GammaOption = None,
    a: AOption = None,
    r: ROption = None,
    degree: DegreeOption = None,
    scaling: ScalingOption = Scaling.minmax,
    form: FormOption = Form.gaussian,
    data_dir: DataDir = None,
    max_bytes: MaxBytes = MAX_BYTES,
    tol: Tolerance = 1e-6,
    bound: Annotated[
        bool,
        typer.Option("--bound", help="Bracket the optimum of a nonconvex quadratic program, too."),
    ] = False,
    time_limit: Annotated[float, typer.Option(help="Seconds for that bracket.")] = 60.0,
    require: Annotated[
        str | None,
        typer.Option(help="Exit with 1 unless the claim is at least this, e.g. LOCAL."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Check anybody's numbers against a declared problem."""
    wanted = None
    if require is not None:
        checks.choice("require", require.upper(), iopt.Claim.__members__)
        wanted = iopt.Claim[require.upper()]
    parameters = _given(gamma=gamma, a=a, r=r, degree=degree)
    problem = _problem(data, kernel, parameters, scaling, form, data_dir, max_bytes)
    chosen = as_formulation(formulation)
    point = _read_values(values, max_bytes)
    certificate = iopt.verify(problem, chosen, point, tol=tol, bound=bound, time_limit=time_limit)
    if as_json:
        _print_json(_certificate_fields(certificate))
    else:
        console.print(str(certificate), highlight=False, markup=False, soft_wrap=True)
    if wanted is not None and certificate.claim < wanted:
        raise typer.Exit(1)


@app.command("check-proof")
def check_proof(
    path: Annotated[Path, typer.Argument(help="A file that `bound --proof` has written.")],
    program: Annotated[
        Path | None, typer.Argument(help="Another one, which has to be about the same program.")
    ] = None,
) -> None:
    """Check a proof in exact arithmetic, without solvers; exit with 1 unless it holds."""
    documents = [read_document(file) for file in (path, program) if file is not None]
    try:
        digests = {proof_checker.digest(document) for document in documents}
    except (proof_checker.FailedProof, *proof_checker.MALFORMED) as error:
        raise DataError("path", "a proof", f"one without a program: {error}") from None
    if len(digests) > 1:
        print("FAILED: the proof is about another program")
        raise typer.Exit(1)
    code = proof_checker.main(str(path))
    if code:
        raise typer.Exit(code)


@app.command()
def compare(
    data: Data,
    kernel: Kernel = DEFAULT_KERNEL,
    gamma: GammaOption = None,
    a: AOption = None,
    r: ROption = None,
    degree: DegreeOption = None,
    scaling: ScalingOption = Scaling.minmax,
    form: FormOption = Form.gaussian,
    data_dir: DataDir = None,
    max_bytes: MaxBytes = MAX_BYTES,
    formulations: Annotated[
        str, typer.Option(help="'all', or a list: 'SVMDual(C=10), LPSVM, SpectrumSVM'.")
    ] = "all",
    solvers: Annotated[
        str | None, typer.Option(help="List of solvers to run each formulation with.")
    ] = None,
    folds: Annotated[int, typer.Option(help="Cross-validation folds.")] = 5,
    seed: Annotated[int, typer.Option(help="Seed of the folds and of random starts.")] = 0,
    tol: Tolerance = 1e-6,
    time_limit: TimeLimit = None,
    jobs: Annotated[int, typer.Option(help="Processes to spread the folds over.")] = 1,
    output: Annotated[Path, typer.Option(help="Folder for the report and the table.")] = Path(
        "indefinite-opt-report"
    ),
    resume: Annotated[
        bool, typer.Option(help="Go on from the rows an earlier run left in the folder.")
    ] = True,
    as_json: Json = False,
) -> None:
    """Compare formulations on the same folds: a table here, a report in the output folder."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    parameters = _given(gamma=gamma, a=a, r=r, degree=degree)
    problem = _problem(data, kernel, parameters, scaling, form, data_dir, max_bytes)
    chosen = None if formulations == "all" else split_calls(formulations)
    folder = _folder(output)
    columns = (
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    )  # fmt: skip
    with _Interrupts() as interrupts, Progress(*columns, console=stderr) as progress:
        bar = progress.add_task("loading", total=None)

        def advance(done: int, total: int, row: dict[str, Any]) -> None:
            if interrupts.came:
                raise KeyboardInterrupt  # a solver has taken it for the end of its own search
            text = f"{row['formulation'].partition('(')[0]}, fold {row['fold'] + 1}"
            progress.update(bar, completed=done, total=total, description=f"{text:<26}")

        comparison = iopt.compare(
            problem, chosen, split_calls(solvers) if solvers else None, n_jobs=jobs, folds=folds,
            seed=seed, tol=tol, time_limit=time_limit, record=folder, resume=resume,
            progress=advance,
        )  # fmt: skip
        progress.update(bar, description=f"{'writing the report':<26}")
        report = comparison.to_html(folder / "report.html")
        comparison.frame.to_csv(folder / "cells.csv", index=False)
        (folder / "table.md").write_text(comparison.to_markdown(), encoding="utf-8")
    if as_json:
        table = comparison.summary.to_dict("records")
        _print_json({"settings": comparison.settings, "table": table})
        return
    from indefinite_opt.studies.report import terminal_table

    console.print(terminal_table(comparison))
    console.print(f"Report: {report}", highlight=False, soft_wrap=True)


@reference_app.command("list")
def reference_list(
    pattern: Annotated[str, typer.Argument(help="Names to show: 'sigmoid-*', '*-100-*'.")] = "*",
    as_json: Json = False,
) -> None:
    """Show the instances, their best-known objectives, and what is proved about them."""
    found = _matching(references.references(), pattern)
    if as_json:
        _print_json({entry.name: references.cells(entry) for entry in found})
        return
    table = Table(box=None)
    for column in ("name", "n", "formulation", "best known", "gap", "proved by"):
        number = column in ("n", "best known", "gap")
        justify: Literal["left", "right"] = "right" if number else "left"
        whole = column != "proved by"
        table.add_column(column, justify=justify, no_wrap=whole, overflow="fold")
    for entry in found:
        table.add_row(
            entry.name, str(entry.n), entry.title, f"{entry.best:.6g}",
            f"{entry.relative_gap:.1e}", entry.method,
        )  # fmt: skip
    console.print(table)


@reference_app.command("export")
def reference_export(
    name: ReferenceName,
    path: Annotated[Path, typer.Argument(help="File to write: .lp, .mps or .npz.")],
) -> None:
    """Write the quadratic program of an instance for another solver."""
    written = references.export(name, path)
    console.print(f"{written}", highlight=False, markup=False, soft_wrap=True)


@reference_app.command("check")
def reference_check(
    name: ReferenceName,
    solution: Annotated[Path, typer.Argument(help="Your point: .npz, or .json, by name.")],
    max_bytes: MaxBytes = MAX_BYTES,
    tol: Tolerance = 1e-6,
    as_json: Json = False,
) -> None:
    """Compare your point with the best-known one; exit with 1 unless it is as good."""
    found = references.check(name, _read_values(solution, max_bytes), tol=tol)
    known = found.reference
    if as_json:
        _print_json(
            {
                "name": known.name,
                "standing": found.standing.name,
                "meaning": found.standing.value,
                "shortfall": found.shortfall,
                "excess": found.excess,
                "best": known.best,
                "lower": known.lower,
                "upper": known.upper,
                "method": known.method,
                **_certificate_fields(found.certificate),
                "objective": found.objective,
            }
        )
    else:
        false = found.standing is references.Standing.IMPOSSIBLE
        style = "bold red" if false else None
        console.print(str(found), style=style, highlight=False, markup=False, soft_wrap=True)
    if not found.standing.succeeds:
        raise typer.Exit(1)


@reference_app.command("prove")
def reference_prove(
    name: ReferenceName,
    path: Annotated[Path, typer.Argument(help="File to write: .json; see check-proof.")],
    time_limit: Annotated[float, typer.Option(help="Seconds for the bracket.")] = 60.0,
) -> None:
    """Bracket an instance again, and write the proof."""
    written = references.prove(name, path, time_limit)
    console.print(f"{written}", highlight=False, markup=False, soft_wrap=True)


def _warm_up(solver: str) -> None:
    """Load and compile what a solver needs; an interrupt ends more than its little problem."""
    with _Interrupts() as interrupts:
        warm_up([solver])
    if interrupts.came:
        raise KeyboardInterrupt


def _matching(entries: list[Named], pattern: str) -> list[Named]:
    found = [entry for entry in entries if fnmatchcase(entry.name, pattern)]
    if not found:
        raise iopt.errors.UnknownName("pattern", pattern, (entry.name for entry in entries))
    return found


def _problem(
    data: str,
    kernel: str,
    parameters: dict[str, Any],
    scaling: Scaling,
    form: Form,
    data_dir: Path | None,
    max_bytes: int,
) -> iopt.KernelProblem:
    dataset = _dataset(data, data_dir, max_bytes)
    if dataset.X is None and (parameters or kernel != DEFAULT_KERNEL):
        raise iopt.errors.ParameterError(
            "kernel", "none, for data that bring their own as similarities or distances",
            ", ".join([kernel, *(f"{name}={value}" for name, value in parameters.items())]),
        )  # fmt: skip
    chosen = iopt.kernels.get(kernel, **parameters)
    return iopt.KernelProblem.from_dataset(
        dataset, chosen, scaling=None if scaling is Scaling.none else scaling.value, form=form.value
    )


def _dataset(data: str, data_dir: Path | None, max_bytes: int) -> iopt.datasets.Dataset:
    path = Path(data)
    if path.suffix == ".npz":
        return _read_dataset(path, max_bytes)
    try:
        # A name wins over a file or folder that happens to have it.
        return iopt.datasets.load(data, data_dir, max_bytes=max_bytes)
    except (iopt.errors.ParameterError, iopt.errors.UnknownName):
        if not path.is_file():
            raise
    raise DataError("data", "a data set or a readable .npz file, named so", data)


def _read_dataset(path: Path, max_bytes: int) -> iopt.datasets.Dataset:
    arrays = read_arrays(path, max_bytes)
    matrices: dict[str, Any] = {name: arrays[name] for name in "XKD" if name in arrays}
    if "y" not in arrays or len(matrices) != 1:
        raise DataError(
            "data", "a .npz file with y and exactly one of X, K, D",
            f"{path} with {', '.join(arrays) or 'nothing'}",
        )  # fmt: skip
    return iopt.datasets.Dataset(name=path.stem, y=arrays["y"], **matrices)


def _read_values(path: Path, max_bytes: int) -> dict[str, Any]:
    if path.suffix != ".json":
        return dict(read_arrays(path, max_bytes))
    values = read_json(path, "values", max_bytes)
    if not isinstance(values, dict):
        raise DataError("values", "a JSON object of names and numbers", f"{path}")
    return values


def _save(path: Path, values: dict[str, Any]) -> None:
    try:
        with path.open("wb") as file:
            np.savez_compressed(file, **values)
    except OSError as error:
        raise DataError("output", "a file that can be written", f"{path}: {error}") from None


def _check_writable(option: str, path: Path | None) -> None:
    """Told before the work, not after it."""
    if path is not None and (path.is_dir() or not path.absolute().parent.is_dir()):
        raise DataError(option, "a file that can be written", f"{path}")


def _draw(path: Path, bracket: iopt.workflow.Bracket) -> None:
    try:
        bracket.plot().savefig(path, dpi=200)
    except OSError as error:
        raise DataError("plot", "a file that can be written", f"{path}: {error}") from None


def _folder(output: Path) -> Path:
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError("output", "a folder that can be written", f"{output}: {error}") from None
    return output


def _toy_problem() -> iopt.KernelProblem:
    """A problem to show formulations on; only the symbols are shown.

    Indefinite, and large enough for small bounds on the weights. No two points are equal, which
    keeps the hard margin bounded; the kernel is so small that it lies in every ball.
    """
    X = np.random.default_rng(0).standard_normal((500, 3))
    return iopt.KernelProblem(1e-9 * iopt.kernels.get("l1-gaussian")(X), np.repeat([-1, 1], 250))


def _given(**parameters: Any) -> dict[str, Any]:
    return {name: value for name, value in parameters.items() if value is not None}


def _simple_kernels() -> list[str]:
    # "distance" has no default distance, so it cannot be made from its name alone.
    return [name for name in iopt.kernels.names() if name != "distance"]


def _solver_lines() -> list[tuple[str, str]]:
    from indefinite_opt.solvers import known

    return [
        (name, (_first_line(solver) + (" (convex programs only)" if solver.needs_convex else "")))
        for name, solver in sorted(known().items())
    ]


def _first_line(thing: Any) -> str:
    return (thing.__doc__ or "").strip().split("\n")[0]


def _certificate_fields(certificate: iopt.workflow.certificates.Certificate) -> dict[str, Any]:
    numbers = (
        "objective", "bound", "gap", "relative_gap", "primal_residual", "stationarity",
        "complementarity", "curvature",
    )  # fmt: skip
    fields: dict[str, Any] = {"claim": certificate.claim.name, "gap_kind": certificate.gap_kind}
    for name in numbers:
        fields[name] = float(getattr(certificate, name))
    return fields | {"tol": certificate.tol, "reasons": list(certificate.reasons)}


def _bracket_fields(bracket: iopt.workflow.Bracket) -> dict[str, Any]:
    trace = bracket.trace
    ends = [trace.objective, trace.bound]
    lower, upper = ends if bracket.maximised else ends[::-1]
    return {
        "problem": bracket.name,
        "n": bracket.n,
        "formulation": str(bracket.formulation),
        "lower": bracket.lower,
        "upper": bracket.upper,
        "objective": bracket.objective,
        "bound": bracket.bound,
        "relative_gap": bracket.relative_gap,
        "rigorous": bracket.rigorous,
        "method": bracket.method,
        "bounds": bracket.bounds,
        "status": str(bracket.status),
        "boxes": bracket.nodes,
        "iterations": bracket.iterations,
        "seconds": bracket.seconds,
        "trace": {
            "seconds": trace.seconds,
            "boxes": trace.iterations,
            "lower": lower,
            "upper": upper,
            "relative_gap": trace.residual,
        },
    }


def _print_json(value: Any) -> None:
    print(json.dumps(_finite(value), indent=2, ensure_ascii=False, allow_nan=False))


def _finite(value: Any) -> Any:
    """The value with null for NaN and infinities, which JSON does not have."""
    if isinstance(value, dict):
        return {key: _finite(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_finite(entry) for entry in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value


def main() -> None:
    """Entry point."""
    app()
