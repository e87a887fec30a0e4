"""The commands about one problem: `diagnose`, `solve`, `verify`, `predict`, `bound` and `qp`."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from typer import Argument, Exit, Option

import indefinite_opt as iopt
from indefinite_opt.command_line import options, terminal
from indefinite_opt.command_line.terminal import answer, public, say
from indefinite_opt.errors import DataError, IndefiniteOptError, ParameterError
from indefinite_opt.foundation import checks, finite_array, read_arrays

PROGRESS_FROM = 1000
"""Points from which a solve may take seconds, so that its progress is shown in a terminal."""

FITS = {
    "training_error": "; {1:.3g} % of them misclassified",
    "training_outliers": "; {1:.3g} % of them outliers",
    "training_rmse": "; root mean squared error of them {0:.4g}",
}
"""How well the training points are fitted, by a number or by a share in per cent."""


@options.with_options
def diagnose(data: options.DataOptions) -> None:
    """Tell how indefinite a kernel is, and if it suits its labels.

    The criteria for two classes are those of Haasdonk (2005, sections 7.3 and 7.4) that need no
    training.
    """
    problem = data.problem()
    two = problem.classes.size == 2
    counts = ": {} of class +1, {} of class -1".format(*problem.class_sizes) if two else ""
    spectra = {"K": problem.spectrum, "PKP": problem.centered_spectrum}
    lines = [f"{problem.name} (n = {problem.n}{counts})", f"  {options.facts_line(problem)}"]
    lines += [
        f"  eigenvalues of {name:<4} from {one.minimum:.4g} to {one.maximum:.4g}"
        for name, one in spectra.items()
    ]
    told = str(iopt.theory.diagnose(problem)).split("\n")
    lines += told if two else told[1:3]  # the signature and the negative share
    # Each has one equation; for more than two classes there is one dual for each pair.
    duals = {"regression": "dual of EpsilonSVR", "one class": "dual of OneClassSVM"}
    dual = duals.get(problem.task, "SVM dual with a bias")
    if problem.is_conditionally_psd:
        lines.append(f"The {dual} is convex: every stationary point is a global optimum.")
    else:
        known = "may not be convex for a pair" if problem.classes.size > 2 else "is not convex"
        lines.append(f"The {dual} {known}: `bound` tells how good a point is.")
    say("\n".join(lines), wrap=True)


@options.with_options
def solve(
    data: options.DataOptions,
    limits: options.SolveOptions,
    formulation: str = options.FORMULATION,
    solver: str | None = options.SOLVER,
    max_iter: int | None = Option(None, help="Maximum number of iterations of the solver."),
    atol: float = options.ATOL,
    output: Path | None = options.OUTPUT,
    save: Path | None = Option(None, help="Write the model to this .npz file, for `predict`."),
    as_json: bool = options.JSON,
) -> None:
    """Solve a formulation and print what the solution proves.

    With more than two classes each pair is solved, one against one. The exit code is 1 if nothing
    is proved, so that the claim is NONE. Ctrl-C ends the search: the best point so far is still
    printed and written, and the exit code is 130. A result that --save cannot write is printed,
    then the reason, and the exit code is 2.
    """
    terminal.check_writable(output=output, save=save)
    problem, chosen = data.problem(), options.chosen_formulation(formulation)
    patient = terminal.stderr.is_terminal and problem.n >= PROGRESS_FROM
    result = iopt.solve(
        problem,
        chosen,
        solver=solver,
        max_iter=max_iter,
        atol=atol,
        verbose=patient,
        **vars(limits),
    )
    terminal.save_values(output, result)
    unwritten = ""
    try:
        if save is not None:
            result.save(save)
    except IndefiniteOptError as error:
        unwritten = f"{save} was not written: {error}"
    told = public(result)
    lines = [str(result)] if isinstance(result, Mapping) else _lines(result)
    support = "no classifier, as the model has no coef"
    if "support" in told:
        support = f"{told['support']} support vectors of {problem.n} points"
    if chosen.task == "clusters" and not isinstance(result, Mapping):
        outside, *sizes = np.bincount(result.clusters + 1).tolist()
        support = f"clusters of {', '.join(map(str, sizes))} points, {outside} in none"
        told["clusters"] = result.clusters
    known = {name: told[name] for name in FITS if told.get(name) is not None}
    support += "".join(FITS[name].format(x, 100.0 * x) for name, x in known.items())
    lines[1:1] = [f"  {options.facts_line(problem)}; seed {limits.seed}", f"  {support}"]
    lines += map(terminal.in_options, told.get("remarks", ())[len(problem.remarks) :])
    good = iopt.Claim[told["claim"]] > iopt.Claim.NONE
    told = options.facts(problem) | told
    answer(as_json, told, "\n".join(lines), good, result.status, unwritten)


def _lines(result: Any) -> list[str]:
    """What is printed of the result of one problem, except for its data."""
    from indefinite_opt.quadratic import QP

    problem: Any = result.problem
    ends = [f"{one.objective:.6g} ({one.count})" for one in result.optima]
    lines = [
        f"{problem.name} (n = {problem.n}), {result.formulation}, by {result.solver} in "
        f"{result.seconds:.3g} s: {result.status.value}"
    ]
    if len(ends) > 1:
        more = f" and {len(ends) - 5} others" if len(ends) > 5 else ""
        lines.append(f"  ends of descents (how many): {', '.join(ends[:5])}{more}")
    lines.append(str(result.certificate))
    unknown = not np.isfinite(result.certificate.bound) and not problem.gram.on_demand
    if unknown and issubclass(result.formulation.program_type, QP):
        lines.append("  --prove 10 seeks a proof of the global optimum for ten seconds.")
    return lines


@options.with_options
def verify(
    data: options.DataOptions,
    formulation: str = Argument(
        help="'SVMDual(C=10)', or one of your own, 'mine.py:MyDual(C=10)'. Left out where a "
        "quadratic program takes the place of data."
    ),
    values: Path | None = Argument(
        None,
        help="A .npz, .json or .csv file, by name or one number a line; of a program also a .sol "
        "file of HiGHS or Gurobi.",
    ),
    tol: float = options.TOL,
    atol: float = options.ATOL,
    bound: bool = Option(False, "--bound", help="Bracket the optimum of a nonconvex program, too."),
    time_limit: float = Option(60.0, help="Seconds allowed, bracket included."),
    require: str = Option("FEASIBLE", help="Exit with code 1 if the claim is less than this one."),
    sense: str | None = Option(None, help="Sense of a .in file: max (default) or min."),
    as_json: bool = options.JSON,
) -> None:
    """Check a solution from any source and print what it proves.

    For a quadratic program, generated or in a .in, .lp, .mps, .npz, .qplib or .qps file, the second
    argument is the file of the point: `verify program.lp point.json`. A .json file has
    {name: number} or {"x": [numbers]}.
    """
    checks.choice("require", require.upper(), iopt.Claim.__members__)
    settings: Any = {"tol": tol, "bound": bound, "time_limit": time_limit, "atol": atol}
    if values is None:
        if not Path(formulation).is_file():
            expected = "a file of values, behind a formulation or the file of a program"
            raise DataError("values", expected, formulation)
        program = data.program(sense)
        point = terminal.read_values(Path(formulation), data.max_bytes)
        certificate = iopt.verify(program, point, **settings)
        told = {
            "problem": program.name, "n": program.n, "variables": program.names.variables,
            "sense": "max" if program.sense < 0 else "min", "assumed": program.assumed,
        }  # fmt: skip
        of = f"{program.name} (n = {program.n})" + f", {program.assumed}" * bool(program.assumed)
    else:
        if sense is not None:
            raise ParameterError("sense", "none for data", sense)
        problem, chosen = data.problem(), options.chosen_formulation(formulation)
        point = terminal.read_values(values, data.max_bytes)
        certificate = iopt.verify(problem, chosen, point, **settings)
        told = options.facts(problem) | {"formulation": chosen}
        of = f"{problem.name} (n = {problem.n}), {chosen}; {options.facts_line(problem)}"
    good = certificate.claim >= iopt.Claim[require.upper()]
    answer(as_json, told | public(certificate), f"{certificate}\n  {of}", good)


def predict(
    model: Path = Argument(help="A model, as `solve --save` writes it."),
    data: Path = Argument(
        help="A .csv file of points, or of rows of similarities or distances; or .npz with X, K, D."
    ),
    output: Path | None = Option(None, help="Write the table to this .csv file."),
    label: str | None = Option(None, help="Column of true labels or targets in the .csv file."),
    own: Path | None = Option(
        None, help="File of k(x, x) of the new points, one number a line, for SVDD of similarities."
    ),
    max_bytes: int = options.MAX_SIZE,
) -> None:
    """Predict labels or numbers of new points with a saved model.

    A table of labels and decision values is printed. For more than two classes it has the votes for
    each class, to which decision values add or take less than half a vote. It begins with the names
    of the rows, if the file has any. The accuracy is printed if the file has true labels, named y
    or by --label. A regression predicts numbers, and the root mean squared error is printed if the
    file has targets. For one class the label of outliers is -1, and that of others 1, points on the
    boundary included. The exit code is 1 if the model is in doubt and nothing is proved about it.
    """
    import pandas as pd

    from indefinite_opt.problem import as_text
    from indefinite_opt.workflow import kernel_values, misfit

    terminal.check_writable(output=output)
    trained = iopt.load(model, max_bytes)
    problem: Any = trained.problem
    task = trained.formulation.task  # type: ignore[attr-defined]
    new, truth, names = _new_points(problem, data, label, max_bytes)
    squares = None if own is None else terminal.read_values(own, max_bytes)
    if isinstance(squares, dict):
        raise DataError("own", "a file of one number a line", f"{own}")
    kernels = kernel_values(problem, trained.classifier, new, squares)
    found = trained.classifier.predict(*kernels)
    table = pd.DataFrame(names)
    # Outliers and others have labels of their own.
    name = problem.meaning if task == "classification" else as_text
    if task == "regression":
        table["prediction"] = found
    else:
        table["label"] = [name(one) for one in found.tolist()]
        values = trained.classifier.decision_function(*kernels)
        heads = [f"votes {one}" for one in problem.class_names] * (values.ndim > 1)
        table[heads or ["decision_value"]] = values.reshape(len(table), -1)
    table.to_csv(sys.stdout if output is None else output, index=False)
    if truth is not None and task == "regression":
        error = misfit(task, found, finite_array("targets", truth, found.shape))
        told = f"root mean squared error of {len(table)} predictions: {error:.6g}"
        say(told, to=terminal.stderr)
    elif truth is not None:
        labels = list(map(as_text, truth.tolist()))
        # Labels of a file may be the names of the classes, or the -1 and 1 that stand for them.
        codes = set(map(as_text, problem.classes.tolist()))
        if not codes.intersection(labels) <= {*problem.class_names}:
            labels = list(map(name, labels))
        if task == "classification" or {*labels} <= {"-1", "1"}:
            right = 100.0 * np.mean(table["label"] == labels)
            say(f"{right:.1f} % of {len(table)} labels agree", to=terminal.stderr)
    if trained.doubt:
        say(trained.doubt, style="yellow", to=terminal.stderr)
        weakest: Any = trained if isinstance(trained, Mapping) else trained.certificate
        raise Exit(int(weakest.claim is iopt.Claim.NONE))


def _new_points(
    problem: iopt.KernelProblem, path: Path, label: str | None, max_bytes: int
) -> tuple[Any, Any, dict[str, Any]]:
    """New points, similarities or distances, true labels or None, names of the rows by title."""
    from indefinite_opt.problem import Encoding, in_order, read_frame, read_grid, read_labels

    if path.suffix in (".csv", ".gz"):
        texts = problem.classes.dtype.kind == "U"
        if problem.X is None:
            grid = read_grid(path, problem.n, label, max_bytes, problem.objects, texts)
            numbers = in_order(grid.numbers, grid.columns, problem.objects, str(path))
            return numbers, grid.labels, {"name": grid.rows} if grid.rows else {}
        numbered = Encoding.of_numbers(tuple(map(str, range(problem.X.shape[1]))))
        encoding = problem.table or numbered
        inferred = {one.name for one in encoding.columns if not one.levels}
        inferred |= set() if texts or label is None else {label}
        frame = read_frame(path, max_bytes, inferred)
        if label is not None:
            checks.choice("label", label, frame.columns)
        names = {one or "name": frame[one] for one in ("", *encoding.ignored) if one in frame}
        new = encoding.encode(frame, str(path))
        return new, None if label is None else read_labels(frame[label], path, 2, texts), names
    if label is not None:
        raise ParameterError("label", "none for data that are not a .csv file", label)
    arrays = read_arrays(path, max_bytes)
    wanted = "X" if problem.X is not None else "K" if problem.kernel is None else "D"
    if wanted not in arrays:
        expected = f"a .npz file with {wanted}, one row for each new point"
        raise DataError("data", expected, f"{path} with {', '.join(arrays) or 'nothing'}")
    new = arrays[wanted] if wanted != "K" else finite_array("K", arrays["K"], (None, problem.n))
    return new, arrays.get("y"), {}


@dataclass(frozen=True)
class SearchOptions:
    """The options that `bound` and `qp` have in common."""

    gap: float | None = Option(None, help="Relative gap to stop at; 0.0001 by default.")
    atol: float = options.ATOL
    time_limit: float = Option(60.0, help="Seconds allowed; inf for no limit.")
    seed: int = options.SEED
    output: Path | None = options.OUTPUT
    proof: Path | None = Option(
        None, help="Write the proof to this .json file; of each pair of classes to this folder."
    )
    as_json: bool = options.JSON

    def bracket(self, problem: Any, formulation: Any = None, **settings: Any) -> Any:
        """The bracket, whose progress is printed, and whose proof and point are written."""
        gap = 1e-4 if self.gap is None else self.gap
        bracket: Any = iopt.bound(
            problem,
            formulation,
            self.time_limit,
            gap,
            seed=self.seed,
            atol=self.atol,
            verbose=True,
            **settings,
        )
        if self.proof is not None:
            save = bracket.save_proofs if hasattr(bracket, "save_proofs") else bracket.save
            save(self.proof)
        terminal.save_values(self.output, bracket)
        return bracket


@options.with_options
def bound(
    data: options.DataOptions,
    search: SearchOptions,
    formulation: str = Argument(help="'SVMDual(C=10)', ConvexHullDual or GuoSchuurmansQP."),
    method: str = Option("branch-and-bound", help="Or relaxation, clarabel, scs or cheap."),
    max_nodes: int | None = Option(None, help="Maximum number of nodes."),
    cluster: str | None = options.CLUSTER,
    require_gap: float | None = Option(None, help="Exit with code 1 if the relative gap is more."),
) -> None:
    """Bracket the global optimum with a proved bound.

    With more than two classes each pair is bracketed, one against one. The other end of the bracket
    is the objective of the best point found. The exit code is 1 if this point violates constraints
    or its objective lies beyond the bound. Ctrl-C ends the search: the bracket so far, which is
    valid, is still printed, and the exit code is 130.
    """
    from indefinite_opt.workflow import in_pairs

    terminal.check_writable(output=search.output)
    checks.positive("require_gap", require_gap, optional=True)
    problem, chosen = data.problem(), options.chosen_formulation(formulation)
    if not in_pairs(problem, chosen):
        terminal.check_writable(proof=search.proof)
    elif search.proof is not None and search.proof.suffix == ".json":
        expected = "a folder, as each pair of classes has a proof of its own"
        raise ParameterError("proof", expected, f"{search.proof}")
    bracket = search.bracket(problem, chosen, method=method, max_nodes=max_nodes, cluster=cluster)
    text = f"{bracket}\n  {options.facts_line(problem)}; seed {search.seed}"
    good = bracket.rigorous and (require_gap is None or bracket.relative_gap <= require_gap)
    answer(search.as_json, options.facts(problem) | public(bracket), text, good, bracket.status)


@options.with_options
def qp(
    search: SearchOptions,
    file: str = Argument(
        help="A .in (BoxQP), .lp, .mps, .npz, .qplib or .qps file, or a name: boxqp-50-40-1."
    ),
    sense: str | None = Option(None, help="Sense of a .in file: max (default) or min."),
    bound: bool = Option(False, "--bound", help="Bracket the optimum; --gap and --proof do, too."),
    solver: str | None = options.SOLVER,
    max_bytes: int = options.MAX_SIZE,
) -> None:
    """Solve or bracket a quadratic program of any curvature.

    The exit code is 1 if nothing is proved about the solution. Ctrl-C ends the search: the best
    point and the bracket so far are still printed and written, and the exit code is 130.
    """
    terminal.check_writable(output=search.output, proof=search.proof)
    bracketed = bound or search.gap is not None or search.proof is not None
    if bracketed and solver is not None:
        raise ParameterError("solver", "none with --bound, which has its own method", solver)
    program = iopt.QuadraticProgram.read(file, max_bytes, sense)
    if bracketed:
        found = search.bracket(program)
        good, text = found.rigorous, str(found)
    else:
        found = iopt.solve(
            program, solver=solver, time_limit=search.time_limit, seed=search.seed,
            atol=search.atol,
        )  # fmt: skip
        terminal.save_values(search.output, found)
        good = found.certificate.claim > iopt.Claim.NONE
        text = f"{program.name} (n = {program.n}), by {found.solver} in {found.seconds:.3g} s: "
        text += f"{found.status.value}\n{found.certificate}"
    x = found.values["x"]
    told = public(found) | {
        "problem": program.name, "n": program.n, "variables": program.names.variables,
        "sense": "max" if program.sense < 0 else "min", "assumed": program.assumed, "values": x,
    }  # fmt: skip
    used = np.flatnonzero(x)
    parts = [f"{program.names.variable(j)} = {x[j]:.6g}" for j in used[:6]]
    parts += ["..."] * (used.size > 6) + ["0 elsewhere"] * (used.size < x.size)
    if program.assumed:
        text = text.replace("\n", f"\n  {program.assumed}; --sense changes that\n", 1)
    answer(search.as_json, told, f"{text}\n  {', '.join(parts)}", good, found.status)


def check_proof(
    path: Path = Argument(help="A proof, as `bound --proof` writes it, or a saved ray of a model."),
    program: Path | None = Argument(None, help="Another proof, which is about the same program."),
) -> None:
    """Check a proof in exact arithmetic, without solvers.

    The exit code is 1 unless the proof holds.
    """
    from indefinite_opt.modeling import is_ray, ray_checker
    from indefinite_opt.quadratic import proof_checker, read_document

    if program is None and is_ray(path):
        raise Exit(ray_checker.main(str(path)))
    documents = [read_document(file) for file in (path, program) if file is not None]
    try:
        digests = {proof_checker.digest(document) for document in documents}
    except (proof_checker.FailedProof, *proof_checker.MALFORMED) as error:
        raise DataError("path", "a proof", f"one without a program: {error}") from None
    if len(digests) > 1:
        say("FAILED: the proof is about another program")
        raise Exit(1)
    raise Exit(proof_checker.main(str(path)))
