"""The command line: the API's numbers, one-line errors, files that are as promised."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console
from rich.text import Text
from typer.testing import CliRunner, Result

import indefinite_opt as iopt
from indefinite_opt.command_line.app import app
from indefinite_opt.command_line.live_bracket import Watch, share_closed
from indefinite_opt.problem.datasets.synthetic import haasdonk_lemma4

INDEFINITE = "SVMDual(C=1)"


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def printed(*arguments: object) -> str:
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def complaint(*arguments: object) -> str:
    """The message of a command that must fail with one line and exit code 2."""
    result = run(*arguments)
    assert result.exit_code == 2, (result.output, result.exception)
    assert "Traceback" not in result.output
    lines = [line for line in result.stderr.splitlines() if line.startswith("error: ")]
    assert len(lines) == 1
    assert result.stderr.rstrip().endswith(lines[0])
    return lines[0].removeprefix("error: ")


def strict(text: str) -> Any:
    """JSON as the standard has it: NaN and Infinity are none."""

    def refuse(word: str) -> None:
        raise ValueError(f"{word} is no JSON")

    return json.loads(text, parse_constant=refuse)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data set in three forms, and files that are none."""
    folder = tmp_path_factory.mktemp("data")
    generator = np.random.default_rng(0)
    X = generator.standard_normal((24, 3))
    y = np.where(X[:, 0] + 0.5 * generator.standard_normal(24) > 0, 1, -1)
    D = np.abs(X[:, None] - X[None]).sum(axis=2)
    np.savez(folder / "points.npz", X=X, y=y)
    np.savez(folder / "similarities.npz", K=np.tanh(X @ X.T - 1.0), y=y)
    np.savez(folder / "distances.npz", D=D, y=y)
    np.savez(folder / "flat.npz", K=X[:, 1:2] @ X[:, 1:2].T, y=y)
    np.savez(folder / "no-labels.npz", X=X)
    np.savez(folder / "only-labels.npz", y=y)
    np.savez(folder / "two-matrices.npz", X=X, D=D, y=y)
    np.savez(folder / "many-classes.npz", X=X, y=np.arange(24))
    np.savez(folder / "short.npz", X=X, y=y[:20])
    np.savez(folder / "nan.npz", X=np.where(X > 2, np.nan, X) * np.nan, y=y)
    np.savez(folder / "texts.npz", X=np.full((24, 2), "a"), y=y)
    np.save(folder / "array.npy", X)
    (folder / "junk.npz").write_bytes(b"junk")
    (folder / "empty.npz").touch()
    # Damage that shows only when the arrays are read; the checksum of a large one comes last.
    np.savez(folder / "wide.npz", X=generator.standard_normal((24, 4000)), y=y)
    sound = (folder / "wide.npz").read_bytes()
    (folder / "damaged-header.npz").write_bytes(sound.replace(b"}", b" "))
    middle = len(sound) // 2
    lost = sound[:middle] + bytes(8) + sound[middle + 8 :]
    (folder / "damaged-numbers.npz").write_bytes(lost)
    (folder / "a-folder.npz").mkdir()
    return folder


def api_problem(path: Path, kernel: str = "sigmoid", **settings: Any) -> iopt.KernelProblem:
    with np.load(path) as arrays:
        return iopt.KernelProblem.from_data(arrays["X"], arrays["y"], kernel, **settings)


# ------------------------------------------------------------------------------------ list, show


def test_list_everything() -> None:
    text = printed("list")
    for name in [
        *iopt.available_formulations(),
        *iopt.available_solvers(),
        *iopt.datasets.describe(),
    ]:
        assert name in text
    for name in iopt.kernels.names():
        assert name in text or name == "distance"
    assert max(map(len, text.splitlines())) <= 100


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("formulations", iopt.available_formulations()),
        ("solvers", iopt.available_solvers()),
        ("kernels", [name for name in iopt.kernels.names() if name != "distance"]),
        ("data", sorted(iopt.datasets.describe())),
    ],
)
def test_list_one_kind(kind: str, names: list[str]) -> None:
    text = printed("list", kind)
    positions = [re.search(rf"^ {re.escape(name)} ", text, re.MULTILINE) for name in names]
    assert all(positions)
    parsed = strict(printed("list", kind, "--json"))
    assert list(parsed) == [kind]
    assert sorted(parsed[kind]) == sorted(names)
    assert all(parsed[kind].values())


def test_list_as_json() -> None:
    parsed = strict(printed("list", "--json"))
    assert list(parsed) == ["formulations", "baselines", "solvers", "kernels", "data"]
    assert "smo" in parsed["formulations"]["SVMDual"]
    assert parsed["data"] == iopt.datasets.describe()


def test_list_suggests() -> None:
    assert "Did you mean solvers?" in complaint("list", "solver")


@pytest.mark.parametrize("name", iopt.available_formulations())
def test_show(name: str) -> None:
    problem = iopt.KernelProblem([[0.0, 1.0, 2.0], [1.0, 0.0, -1.0], [2.0, -1.0, 3.0]], [1, -1, 1])
    program = getattr(iopt, name)().declare(problem)
    text = printed("show", name)
    assert str(program) in text
    assert getattr(iopt, name).reference in text
    for symbol, meaning in program.legend().items():
        assert f"  {symbol}: {meaning}" in text
    assert printed("show", name, "--latex") == program.latex() + "\n"


def test_show_has_the_formula() -> None:
    text = printed("show", "SVMDual")
    assert "αᵀQα" in text
    assert "yᵀα = 0" in text
    assert "≤ C" in text
    assert "yᵀα" not in printed("show", "SVMDual(bias=False)")
    assert "\\le C" in printed("show", "svmdual", "--latex")


@pytest.mark.parametrize(
    "title", ["SVMDual(C=inf)", "ConvexHullDual(mu=0.1)", "GuoSchuurmansLP(beta=0.02)"]
)
def test_show_takes_parameters_that_fit_other_data(title: str) -> None:
    assert "subject to" in printed("show", title)


def test_show_suggests() -> None:
    assert "Did you mean SVMDual?" in complaint("show", "SVMDaul")
    assert "expected NAME or NAME(key=value, ...)" in complaint("show", "SVMDual(1)")


def test_a_missing_parenthesis() -> None:
    assert "got 'SVMDual(C=1'" in complaint("show", "SVMDual(C=1")


# ----------------------------------------------------------------------------------------- solve


def test_solve_prints_what_is_proved(folder: Path) -> None:
    text = printed("solve", folder / "points.npz", INDEFINITE)
    expected = iopt.solve(api_problem(folder / "points.npz", scaling="minmax"), INDEFINITE)
    assert text.startswith("points (n = 24), SVMDual, by multistart in ")
    assert expected.status.value in text
    assert str(expected.certificate) in text


@pytest.mark.parametrize(
    ("formulation", "options"),
    [(INDEFINITE, []), ("LPSVM(C=3)", []), ("SpectrumSVM", ["--solver", "osqp"]),
     ("ConvexHullDual", ["--scaling", "standard", "--tol", "1e-5"])],
)  # fmt: skip
def test_solve_as_json_has_the_numbers_of_the_api(
    formulation: str, options: list[str], folder: Path
) -> None:
    answer = strict(printed("solve", folder / "points.npz", formulation, "--json", *options))
    settings = dict(zip(options[::2], options[1::2], strict=True))
    problem = api_problem(folder / "points.npz", scaling=settings.get("--scaling", "minmax"))
    result = iopt.solve(
        problem, formulation, solver=settings.get("--solver"), seed=0,
        tol=float(settings.get("--tol", 1e-6)),
    )  # fmt: skip
    certificate = result.certificate
    assert (answer["problem"], answer["n"]) == ("points", 24)
    assert answer["formulation"] == str(result.formulation)
    assert answer["solver"] == result.solver
    assert answer["status"] == str(result.status)
    assert answer["iterations"] == result.iterations
    assert answer["support"] == result.classifier.support.size
    assert answer["claim"] == certificate.claim.name
    assert answer["gap_kind"] == certificate.gap_kind
    assert answer["tol"] == certificate.tol
    assert answer["reasons"] == list(certificate.reasons)
    assert answer["objective"] == pytest.approx(result.objective, rel=1e-12)
    assert answer["offset"] == pytest.approx(result.classifier.offset, rel=1e-9)
    for name in ("bound", "gap", "relative_gap", "stationarity", "curvature"):
        number = getattr(certificate, name)
        assert (answer[name] is None) == (not np.isfinite(number))


@pytest.mark.parametrize("formulation", [INDEFINITE, "LPSVM(C=3)"])
def test_what_solve_writes_verifies_with_the_same_claim(
    formulation: str, folder: Path, tmp_path: Path
) -> None:
    path = tmp_path / "values.npz"
    solved = strict(
        printed("solve", folder / "points.npz", formulation, "--json", "--output", path)
    )
    checked = strict(printed("verify", folder / "points.npz", formulation, path, "--json"))
    assert checked["claim"] == solved["claim"]
    assert checked["objective"] == pytest.approx(solved["objective"], rel=1e-12)


def test_kernel_parameters_by_option_and_inline(folder: Path) -> None:
    path = folder / "points.npz"
    inline = strict(
        printed("solve", path, INDEFINITE, "--kernel", "sigmoid(a=0.1, r=-2)", "--json")
    )
    option = strict(printed("solve", path, INDEFINITE, "--a", 0.1, "--r", -2, "--json"))
    expected = iopt.solve(api_problem(path, "sigmoid(a=0.1, r=-2)", scaling="minmax"), INDEFINITE)
    assert inline["objective"] == option["objective"]
    assert inline["objective"] == pytest.approx(expected.objective, rel=1e-12)
    default = strict(printed("solve", path, INDEFINITE, "--json"))
    assert default["objective"] != inline["objective"]
    both = ("--kernel", "polynomial(degree=2)", "--gamma", 0.5, "--json")
    assert strict(printed("solve", path, INDEFINITE, *both))["status"] == "solved"


def test_unknown_names_suggest(folder: Path) -> None:
    path = folder / "points.npz"
    assert "Did you mean gamma?" in complaint(
        "solve", path, "LPSVM", "--kernel", "gaussian(gama=1)"
    )
    assert "parameter of gaussian" in complaint(
        "solve", path, "LPSVM", "--kernel", "gaussian", "--degree", 2
    )
    assert "Did you mean" in complaint("solve", path, "LPSVM", "--kernel", "gausian")
    assert "Did you mean smo?" in complaint("solve", path, "SVMDual", "--solver", "smoo")
    assert "Did you mean SVMDual?" in complaint("solve", path, "SVMDaul")
    assert "Did you mean" in complaint("solve", "breast_canser", "SVMDual")


def test_solve_says_what_it_cannot_do(folder: Path, tmp_path: Path) -> None:
    path = folder / "points.npz"
    refusal = complaint("solve", path, INDEFINITE, "--solver", "osqp")
    assert "Solvers that can: dca, global, multistart, smo, uno." in refusal
    assert "expected at least 0.0" in complaint("solve", path, "ConvexHullDual(mu=1e-6)")
    assert complaint("solve", path, INDEFINITE, "--tol", 2).startswith("tol: ")
    assert complaint("solve", path, INDEFINITE, "--time-limit", 0).startswith("time_limit: ")
    assert complaint("solve", path, INDEFINITE, "--max-iter", 0).startswith("max_iter: ")
    output = tmp_path / "absent" / "values.npz"
    assert complaint("solve", path, INDEFINITE, "--output", output).startswith("output: ")


def test_a_negative_seed(folder: Path) -> None:
    pytest.importorskip("unopy", reason="unopy has no wheel for this platform")
    complaint("solve", folder / "points.npz", INDEFINITE, "--solver", "uno", "--seed", -1)


def test_limits_reach_the_solver(folder: Path) -> None:
    answer = strict(printed("solve", folder / "points.npz", INDEFINITE, "--max-iter", 1, "--json"))
    assert (answer["status"], answer["iterations"]) == ("max_iter", 1)


# ----------------------------------------------------------------------------------------- bound

HULLS = "ConvexHullDual"


@pytest.fixture(scope="module")
def hard(folder: Path) -> Path:
    """60 points whose kernel is a Gaussian matrix: one eigendecomposition is not enough."""
    A = np.random.default_rng(0).standard_normal((60, 60))
    np.savez(folder / "hard.npz", K=A + A.T, y=np.where(np.arange(60) % 2, 1, -1))
    return folder / "hard.npz"


def assert_bracket(answer: Any) -> None:
    """What holds of every bracket as JSON."""
    assert answer["lower"] <= answer["upper"]
    assert answer["relative_gap"] >= 0.0
    assert {answer["objective"], answer["bound"]} == {answer["lower"], answer["upper"]}
    trace = answer["trace"]
    assert len({len(column) for column in trace.values()}) == 1
    for low, high in zip(trace["lower"], trace["upper"], strict=True):
        assert low is None or high is None or low <= answer["upper"]


def test_bound_prints_the_bracket(folder: Path) -> None:
    result = run("bound", folder / "points.npz", INDEFINITE)
    assert result.exit_code == 0
    assert result.stderr == ""
    problem = api_problem(folder / "points.npz", scaling="minmax")
    expected = iopt.bound(problem, INDEFINITE)
    first, *rest = result.stdout.splitlines()
    assert re.match(r"SVMDual on points \(n = 24\): [\d.]+ ≤ optimal value ≤ [\d.]+$", first)
    assert f"{expected.objective:.10g}" in first
    assert rest[-1].endswith(iopt.Status.SOLVED.value)


@pytest.mark.parametrize(
    ("formulation", "maximised"), [(INDEFINITE, True), (HULLS, True), ("GuoSchuurmansQP", False)]
)
def test_bound_as_json_has_the_numbers_of_the_api(
    formulation: str, maximised: bool, folder: Path
) -> None:
    answer = strict(printed("bound", folder / "points.npz", formulation, "--json", "--gap", 1e-6))
    expected = iopt.bound(api_problem(folder / "points.npz", scaling="minmax"), formulation)
    assert_bracket(answer)
    assert (answer["problem"], answer["n"]) == ("points", 24)
    assert answer["formulation"] == str(expected.formulation)
    assert answer["objective"] == answer["lower" if maximised else "upper"]
    assert answer["objective"] == pytest.approx(expected.objective, rel=1e-9)
    assert answer["relative_gap"] <= 1e-6
    assert (answer["status"], answer["rigorous"]) == ("solved", True)
    assert set(answer["bounds"]) == set(expected.bounds)
    assert answer["bounds"][answer["method"]] == answer["bound"]


def test_bound_writes_a_proof_that_is_checked(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "proof.json"
    assert run("bound", folder / "points.npz", INDEFINITE, "--proof", path).exit_code == 0
    result = run("check-proof", path)
    expected = iopt.bound(api_problem(folder / "points.npz", scaling="minmax"), INDEFINITE)
    assert result.exit_code == 0
    assert result.stdout.startswith("PROVED ")
    assert float(result.stdout.split()[1]) == pytest.approx(expected.bound, rel=1e-3)
    document = json.loads(path.read_text())
    other = tmp_path / "other.json"
    other.write_text(json.dumps({**document, "program": {**document["program"], "c": [0]}}))
    assert run("check-proof", path, path).exit_code == 0
    result = run("check-proof", path, other)
    assert (result.exit_code, result.stdout) == (1, "FAILED: the proof is about another program\n")
    path.write_text(json.dumps({**document, "claim": document["claim"] - 0.1}))
    result = run("check-proof", path)
    assert (result.exit_code, result.stdout.split()[0]) == (1, "FAILED:")


@pytest.mark.parametrize("text", [None, "", "[]", "{}", '{"format": 3}', "\x00", "[" * 100_000])
def test_a_file_that_is_no_proof_is_one_sentence(text: str | None, tmp_path: Path) -> None:
    path = tmp_path / "proof.json"
    if text is not None:
        path.write_text(text)
    result = run("check-proof", path)
    assert result.exit_code == 2
    assert result.stderr.startswith("error: ")
    assert len(result.stderr.splitlines()) == 1


def test_infinite_bounds_are_null(folder: Path) -> None:
    """The rays of a hard margin, of which an eigenvalue cannot tell that they have an optimum."""
    data = haasdonk_lemma4()
    problem = iopt.KernelProblem.from_dataset(data)
    np.savez(folder / "lemma.npz", K=problem.K, y=problem.labels)
    command = ("bound", folder / "lemma.npz", "SVMDual(C=inf)", "--method", "cheap", "--json")
    answer = strict(printed(*command))
    assert answer["objective"] == pytest.approx(0.5)
    assert answer["bound"] is None
    assert answer["relative_gap"] is None
    assert answer["trace"]["upper"] == [None]
    assert run(*command, "--require-gap", 10).exit_code == 1


def test_bound_writes_the_point_and_the_picture(folder: Path, tmp_path: Path) -> None:
    path = folder / "points.npz"
    values = tmp_path / "values.npz"
    for name, start in (("a.png", b"\x89PNG"), ("a.svg", b"<?xml"), ("a.PDF", b"%PDF")):
        plot = tmp_path / name
        command = ("bound", path, INDEFINITE, "--output", values, "--plot", plot, "--json")
        answer = strict(printed(*command))
        assert plot.read_bytes().startswith(start)
    checked = strict(printed("verify", path, INDEFINITE, values, "--json"))
    assert checked["objective"] == pytest.approx(answer["objective"], rel=1e-12)


def test_bound_complains_before_it_works(folder: Path, tmp_path: Path) -> None:
    command = ("bound", folder / "points.npz", INDEFINITE)
    told = complaint(*command, "--plot", tmp_path / "bracket.html")
    assert told.startswith("plot: expected a file ending in .png, .svg, .pdf, got ")
    for option in ("output", "plot"):
        for path in (tmp_path / "absent" / "a.png", tmp_path):
            assert complaint(*command, f"--{option}", path).startswith(f"{option}: ")
    assert complaint(*command, "--gap", 0).startswith("gap: ")
    assert complaint(*command, "--time-limit", -1).startswith("time_limit: ")
    assert complaint(*command, "--seed", -1).startswith("seed: ")
    assert complaint(*command, "--require-gap", -1).startswith("require_gap: ")
    assert complaint(*command, "--require-gap", "nan").startswith("require_gap: ")
    assert "expected a positive integer" in complaint(*command, "--max-nodes", 0)
    assert "Did you mean relaxation?" in complaint(*command, "--method", "relaxatoin")
    assert "cannot be bracketed" in complaint(*command[:2], "LPSVM")
    assert "Did you mean SVMDual?" in complaint(*command[:2], "SVMDaul")


def test_require_gap(hard: Path) -> None:
    command = ("bound", hard, HULLS, "--time-limit", 1e-6, "--gap", 1e-9, "--json")
    answer = strict(printed(*command))
    assert_bracket(answer)
    assert (answer["status"], answer["boxes"]) == ("time_limit", 1)
    assert answer["relative_gap"] > 1e-9
    assert run(*command, "--require-gap", 1e-9).exit_code == 1
    assert run(*command, "--require-gap", 1.0).exit_code == 0


def test_bound_tells_of_itself_now_and_then(hard: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On standard error, and only there."""
    monkeypatch.setattr(Watch.__init__, "__defaults__", (0.0,))
    result = run("bound", hard, HULLS, "--max-nodes", 2, "--gap", 1e-9, "--json")
    assert result.exit_code == 0
    assert_bracket(strict(result.stdout))
    lines = result.stderr.splitlines()
    assert lines
    pattern = (
        r"-?[\d.]+ ≤ optimal value ≤ -?[\d.]+, relative gap \S+ \(goal 1e-09\), [12] box(es)?, "
    )
    assert all(re.match(pattern, line) for line in lines)


def test_ctrl_c_still_prints_the_bracket(
    hard: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def press(self: Watch, trace: iopt.solvers.Trace) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Watch, "__call__", press)
    values = tmp_path / "values.npz"
    command = ("bound", hard, HULLS, "--gap", 1e-12, "--output", values, "--require-gap", 1e-12)
    result = run(*command, "--json")
    assert result.exit_code == 130
    answer = strict(result.stdout)
    assert_bracket(answer)
    assert answer["status"] == "interrupted"
    assert answer["bound"] is not None
    assert values.exists()
    assert "optimal value" in run(*command).stdout


def test_ctrl_c_before_there_is_a_bracket(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def press(*arguments: Any, **settings: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(iopt, "bound", press)
    result = run("bound", folder / "points.npz", INDEFINITE)
    assert result.exit_code == 130
    assert result.stdout == ""
    assert "interrupted" in result.stderr
    assert "Traceback" not in result.output


def test_the_gap_closes_on_a_logarithmic_scale() -> None:
    assert share_closed([1.0], 1e-4) == 0.0
    assert share_closed([1.0, 1e-1], 1e-4) == pytest.approx(0.25)
    assert share_closed([float("inf"), 10.0, 1.0, 1e-2], 1e-5) == pytest.approx(0.5)
    assert share_closed([float("inf")], 1e-4) == 0.0
    assert share_closed([1.0, 1e-5], 1e-4) == 1.0
    assert share_closed([1.0, 0.0], 1e-4) == 1.0
    assert share_closed([0.0], 1e-4) == 1.0


def watched(reports: list[tuple[float, float, float]], width: int = 80) -> list[str]:
    """The lines on a terminal after reports of (objective, bound, relative gap)."""
    terminal = Console(width=width, force_terminal=True, file=io.StringIO())
    watch = Watch(terminal, "SVMDual(C=1) on points", 1e-4)
    trace = iopt.solvers.Trace()
    for i, (objective, bound, gap) in enumerate(reports):
        trace.add(0.1 * i, i + 1, objective, gap, bound)
        watch(trace)
    with terminal.capture() as captured:
        terminal.print(watch.picture())
    return Text.from_ansi(captured.get()).plain.splitlines()


def test_the_picture_has_the_ends_on_both_sides() -> None:
    title, ends, numbers, hint = watched([(4.0, 8.0, 1.0), (4.0, 4.04, 1e-2)])
    assert title == "SVMDual(C=1) on points"
    low, bar, high = ends.split()
    assert (float(low), float(high)) == (4.0, 4.04)
    assert set(bar) <= set("━╸╺")
    assert numbers.startswith("relative gap 1.0e-02 (goal 0.0001), 2 boxes, ")
    assert "Ctrl-C" in hint


@pytest.mark.parametrize("width", [40, 60, 79, 80, 200])
@pytest.mark.parametrize(
    "reports",
    [
        [],
        [(4.0, float("inf"), float("inf"))],
        [(-4e-12, -5.0, 1.0)],
        [(4.0, 8.0, 1.0), (4.0, 4.0, 0.0)],
        [(-1.2345678901e-100, -1.2345678901e100, 1e100)],
    ],
)
def test_the_picture_fits(reports: Any, width: int) -> None:
    lines = watched(reports, width)
    assert max(map(len, lines)) <= width
    if len(reports) == 2:
        assert re.fullmatch(r" *4\.0+ +━+ +4\.0+ *", lines[1])


def test_in_a_minimisation_the_bound_is_below() -> None:
    _, ends, _, _ = watched([(-0.5, -0.75, 0.25)])
    low, _, high = ends.split()
    assert (float(low), float(high)) == (-0.75, -0.5)


# ---------------------------------------------------------------------------------------- verify


@pytest.fixture(scope="module")
def solved(folder: Path) -> iopt.workflow.Result:
    return iopt.solve(api_problem(folder / "points.npz", scaling="minmax"), INDEFINITE)


def test_require(folder: Path, solved: iopt.workflow.Result, tmp_path: Path) -> None:
    """A nonconvex problem: LOCAL can be proved, GLOBAL cannot."""
    assert solved.certificate.claim is iopt.Claim.LOCAL
    path = tmp_path / "values.json"
    path.write_text(json.dumps({"alpha": solved.values["alpha"].tolist()}), encoding="utf-8")
    command = ("verify", folder / "points.npz", INDEFINITE, path)
    for claim, code in (("NONE", 0), ("local", 0), ("LOCAL", 0), ("GLOBAL", 1)):
        result = run(*command, "--require", claim)
        assert result.exit_code == code
        assert result.stdout.startswith("LOCAL: the point is a local optimum")
        assert result.stderr == ""
    assert "Did you mean GLOBAL" in complaint(*command, "--require", "globl")


def test_verify_judges_the_point_and_not_its_source(
    folder: Path, solved: iopt.workflow.Result, tmp_path: Path
) -> None:
    path = tmp_path / "values.npz"
    for alpha, claim in (
        (solved.values["alpha"], "LOCAL"),
        (np.zeros(24), "FEASIBLE"),
        (np.full(24, 2.0), "NONE"),
    ):
        np.savez(path, alpha=alpha)
        answer = strict(printed("verify", folder / "points.npz", INDEFINITE, path, "--json"))
        assert answer["claim"] == claim
        assert answer["bound"] is None
    assert run("verify", folder / "points.npz", INDEFINITE, path, "--require", "feasible").exit_code


def test_verify_with_a_bound_of_its_own(
    folder: Path, solved: iopt.workflow.Result, tmp_path: Path
) -> None:
    path = tmp_path / "values.npz"
    np.savez(path, alpha=solved.values["alpha"])
    command = ("verify", folder / "points.npz", INDEFINITE, path, "--bound", "--require", "GLOBAL")
    answer = strict(printed(*command, "--json"))
    assert (answer["claim"], answer["gap_kind"]) == ("GLOBAL", "global bracket")
    assert answer["bound"] >= answer["objective"] - 1e-12
    assert 0.0 <= answer["relative_gap"] <= 1e-6
    assert printed(*command, "--time-limit", 30).startswith("GLOBAL: ")
    assert complaint(*command, "--time-limit", 0).startswith("time_limit: ")
    # Nothing is better than the origin by more than the bound, and something is better by half.
    np.savez(path, alpha=np.zeros(24))
    poor = strict(printed(*command[:4], "--bound", "--json"))
    assert poor["claim"] == "FEASIBLE"
    assert poor["objective"] == 0.0
    assert poor["bound"] == pytest.approx(answer["objective"], rel=1e-4)


def test_solve_by_the_global_solver(folder: Path) -> None:
    command = ("solve", folder / "points.npz", INDEFINITE, "--solver", "global")
    answer = strict(printed(*command, "--json"))
    assert (answer["solver"], answer["status"]) == ("global", "solved")
    assert (answer["claim"], answer["gap_kind"]) == ("GLOBAL", "global bracket")
    assert answer["gap"] == pytest.approx(abs(answer["bound"] - answer["objective"]), abs=1e-12)
    text = printed(*command)
    assert "GLOBAL: the point is a global optimum" in text
    assert "global bracket" in text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "readable JSON file"),
        ("", "readable JSON file"),
        ("[1, 2]", "JSON object of names"),
        ("{}", "the names none"),
        ('{"beta": [1, 2]}', "the names beta"),
        ('{"alpha": [1, 2]}', r"shape \(24,\), got shape \(2,\)"),
        ('{"alpha": null}', r"values\['alpha'\]"),
        ('{"alpha": "x"}', "real numbers"),
        ('{"alpha": [[1], [2, 3]]}', "real numbers"),
        (json.dumps({"alpha": [float("nan")] * 24}), "got nan at 0"),
    ],
)
def test_values_that_cannot_be_read(text: str, message: str, folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "values.json"
    path.write_text(text, encoding="utf-8")
    told = complaint("verify", folder / "points.npz", INDEFINITE, path)
    assert re.search(message, told), told


def test_files_that_are_too_large(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "values.json"
    path.write_text(json.dumps({"alpha": [0.0] * 24}), encoding="utf-8")
    command = ("verify", folder / "points.npz", INDEFINITE, path)
    assert "points.npz: expected at most 100 bytes" in complaint(*command, "--max-bytes", 100)
    size = (folder / "points.npz").stat().st_size
    assert path.stat().st_size < size
    printed(*command, "--max-bytes", 10 * size)
    path.write_text(" " * 11 * size, encoding="utf-8")
    assert "values.json: expected at most" in complaint(*command, "--max-bytes", 10 * size)


def test_values_that_are_not_there(folder: Path, tmp_path: Path) -> None:
    for name in ("absent.json", "absent.npz"):
        told = complaint("verify", folder / "points.npz", INDEFINITE, tmp_path / name)
        assert name in told
    (tmp_path / "latin.json").write_bytes(b'{"alph\xe4": 1}')
    assert "JSON" in complaint("verify", folder / "points.npz", INDEFINITE, tmp_path / "latin.json")
    for name in ("junk.npz", "empty.npz", "a-folder.npz"):
        told = complaint("verify", folder / "points.npz", INDEFINITE, folder / name)
        assert "readable .npz file" in told


# ------------------------------------------------------------------------------------------ data


def test_points_similarities_and_distances(folder: Path) -> None:
    def objective(*arguments: object) -> float:
        return float(strict(printed("solve", *arguments, "--json"))["objective"])

    with np.load(folder / "similarities.npz") as arrays:
        similarities = iopt.KernelProblem(arrays["K"], arrays["y"])
    with np.load(folder / "distances.npz") as arrays:
        D, y = arrays["D"], arrays["y"]
    unscaled = api_problem(folder / "points.npz", "gaussian(gamma=2)")
    gamma = 1.0 / np.mean(D**2)
    for arguments, problem in (
        (("points.npz", "--kernel", "gaussian", "--gamma", 2, "--scaling", "none"), unscaled),
        (("similarities.npz",), similarities),
        (("distances.npz",), iopt.KernelProblem(np.exp(-gamma * D**2), y)),
        (("distances.npz", "--form", "linear"), iopt.KernelProblem(-0.5 * D**2, y)),
        (("distances.npz", "--form", "raw"), iopt.KernelProblem(D, y)),
    ):
        name, *options = arguments
        expected = iopt.solve(problem, INDEFINITE).objective
        assert objective(folder / str(name), INDEFINITE, *options) == pytest.approx(
            expected, rel=1e-9
        )


@pytest.mark.parametrize("name", ["similarities.npz", "distances.npz"])
@pytest.mark.parametrize("options", [("--kernel", "gaussian"), ("--gamma", 2), ("--r", -2)])
def test_data_that_bring_their_own_kernel(name: str, options: Any, folder: Path) -> None:
    told = complaint("solve", folder / name, INDEFINITE, *options)
    assert told.startswith("kernel: expected none, for data that bring their own")


def test_a_name_wins_over_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "breast_cancer").mkdir()
    monkeypatch.chdir(tmp_path)
    answer = strict(printed("solve", "breast_cancer", "UniformWeights", "--json"))
    assert answer["problem"] == "breast_cancer"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("absent.npz", "absent.npz"),
        ("junk.npz", "readable .npz file"),
        ("empty.npz", "readable .npz file"),
        ("a-folder.npz", "readable .npz file"),
        ("no-labels.npz", "y and exactly one of X, K, D"),
        ("only-labels.npz", "y and exactly one of X, K, D"),
        ("two-matrices.npz", "y and exactly one of X, K, D"),
        ("many-classes.npz", "labels of exactly two classes, got 24"),
        ("short.npz", "20 rows"),
        ("nan.npz", "finite"),
        ("array.npy", "readable .npz file"),
        ("texts.npz", "X"),
        ("damaged-numbers.npz", "readable .npz file"),
        ("damaged-header.npz", "readable .npz file"),
    ],
)  # fmt: skip
def test_data_that_cannot_be_used(name: str, message: str, folder: Path) -> None:
    assert message in complaint("solve", folder / name, INDEFINITE)


# --------------------------------------------------------------------------------------- compare

TWO = ("--formulations", "SVMDual(C=1), SpectrumSVM(C=1, transform=clip)", "--folds", 2)


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    output = tmp_path_factory.mktemp("study") / "report"
    return output, run("compare", "breast_cancer", *TWO, "--output", output)


def record_of(output: Path) -> Path:
    (record,) = output.glob("cells*.jsonl")
    return record


def test_compare_prints_the_table(study: tuple[Path, Result]) -> None:
    output, result = study
    assert result.exit_code == 0, result.output
    text = result.stdout
    for word in ("SVMDual", "SpectrumSVM", "accuracy", "LOCAL", "GLOBAL", "KKT", "duality"):
        assert word in text
    assert max(map(len, text.splitlines()[:-1])) <= 100
    assert text.rstrip().endswith(f"Report: {output / 'report.html'}")


def test_compare_leaves_its_files(study: tuple[Path, Result]) -> None:
    output, _ = study
    assert "<html" in (output / "report.html").read_text(encoding="utf-8")
    table = (output / "table.md").read_text(encoding="utf-8")
    assert "| SVMDual | multistart |" in table
    header, *cells = (output / "cells.csv").read_text(encoding="utf-8").splitlines()
    assert header.startswith("formulation,solver,fold,accuracy")
    assert len(cells) == 4
    lines = record_of(output).read_text(encoding="utf-8").splitlines()
    assert len(lines) == 1 + 4


def test_compare_has_the_numbers_of_the_api(study: tuple[Path, Result]) -> None:
    output, _ = study
    data = iopt.datasets.load("breast_cancer")
    problem = iopt.KernelProblem.from_dataset(data, "sigmoid", scaling="minmax")
    expected = iopt.compare(problem, ["SVMDual", "SpectrumSVM"], folds=2)
    rows = [json.loads(line) for line in record_of(output).read_text().splitlines()[1:]]
    found = {(row["formulation"], row["fold"]): row for row in rows}
    for row in expected.rows:
        other = found[row["formulation"], row["fold"]]
        assert other["accuracy"] == row["accuracy"]
        assert other["objective"] == pytest.approx(row["objective"], rel=1e-9)


def test_a_second_run_only_reads(study: tuple[Path, Result]) -> None:
    output, first = study
    record = record_of(output)
    before = record.read_bytes(), record.stat().st_mtime_ns
    second = run("compare", "breast_cancer", *TWO, "--output", output)
    assert second.exit_code == 0
    # The same table, times included: nothing was solved again.
    assert second.stdout == first.stdout
    assert (record.read_bytes(), record.stat().st_mtime_ns) == before


def test_no_resume_solves_again(study: tuple[Path, Result], tmp_path: Path) -> None:
    output = tmp_path / "copy"
    shutil.copytree(study[0], output)
    record = record_of(output)
    header, *rows = record.read_text(encoding="utf-8").splitlines()
    marked = [json.dumps({**json.loads(row), "accuracy": 0.125}) for row in rows]
    record.write_text("\n".join([header, *marked, ""]), encoding="utf-8")
    command = ("compare", "breast_cancer", *TWO, "--output", output, "--json")
    resumed = strict(printed(*command))["table"]
    assert [row["accuracy"] for row in resumed] == [0.125, 0.125]
    again = strict(printed(*command, "--no-resume"))["table"]
    assert all(row["accuracy"] > 0.9 for row in again)
    assert "0.125," not in record.read_text(encoding="utf-8")
    assert len(record.read_text(encoding="utf-8").splitlines()) == 5


def test_compare_as_json(folder: Path, tmp_path: Path) -> None:
    """Failed cells have no numbers: null, not NaN."""
    titles = "SVMDual(C=1), ConvexHullDual(mu=1e-6), LPSVM"
    answer = strict(
        printed("compare", folder / "points.npz", "--formulations", titles, "--folds", 3,
                "--seed", 4, "--output", tmp_path / "out", "--json")
    )  # fmt: skip
    assert answer["settings"]["evaluation"] == "3 stratified folds"
    assert answer["settings"]["seed"] == "4"
    assert [row["claim"] for row in answer["table"]] == ["LOCAL", "-", "GLOBAL"]
    assert [row["failed"] for row in answer["table"]] == [0, 3, 0]
    assert answer["table"][1]["accuracy"] is None
    assert answer["table"][1]["gap"] is None
    problem = api_problem(folder / "points.npz", scaling="minmax")
    expected = iopt.compare(problem, ["SVMDual", "LPSVM"], folds=3, seed=4).summary
    assert answer["table"][0]["accuracy"] == expected["accuracy"][0]
    assert answer["table"][2]["accuracy"] == expected["accuracy"][1]


def test_an_infinite_gap_is_null(folder: Path, tmp_path: Path) -> None:
    """A hard margin that does not exist, stopped early: feasible, convex, without a bound."""
    text = printed(
        "compare", folder / "flat.npz", "--formulations", "SVMDual(C=inf)", "--folds", 2,
        "--time-limit", 1e-9, "--output", tmp_path / "out", "--json",
    )  # fmt: skip
    (row,) = strict(text)["table"]
    assert row["gap"] is None


def test_compare_with_chosen_solvers(folder: Path, tmp_path: Path) -> None:
    answer = strict(
        printed("compare", folder / "points.npz", "--formulations", "LPSVM, SpectrumSVM(C=2)",
                "--solvers", "smo, highs", "--folds", 2, "--output", tmp_path / "out", "--json")
    )  # fmt: skip
    cells = [(row["formulation"].partition("(")[0], row["solver"]) for row in answer["table"]]
    assert cells == [("LPSVM", "highs"), ("SpectrumSVM", "smo"), ("SpectrumSVM", "highs")]


def test_compare_says_what_is_wrong(folder: Path, tmp_path: Path) -> None:
    command = ("compare", folder / "points.npz", "--output", tmp_path / "out")
    assert re.match(r"folds: expected an integer from 2 to \d+", complaint(*command, "--folds", 20))
    assert "Did you mean LPSVM" in complaint(*command, "--formulations", "LPSVMM")
    assert "Did you mean highs?" in complaint(*command, "--solvers", "hihgs")
    taken = tmp_path / "taken"
    taken.touch()
    assert "a folder that can be written" in complaint(*command[:2], "--output", taken)


@pytest.mark.parametrize(
    "options",
    [
        ("--jobs", 0),
        ("--seed", -1),
        ("--tol", 5),
    ],
)
def test_compare_checks_its_options(options: Any, folder: Path, tmp_path: Path) -> None:
    complaint(
        "compare", folder / "points.npz", "--formulations", "SVMDual", "--folds", 2, "--output",
        tmp_path / "out", *options,
    )  # fmt: skip


def test_ctrl_c_is_no_traceback(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def press(*arguments: Any, **settings: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(iopt, "compare", press)
    result = run("compare", folder / "points.npz", "--output", tmp_path / "out")
    assert result.exit_code == 130
    assert "interrupted" in result.stderr
    assert "Traceback" not in result.output


# ---------------------------------------------------------------------------- the installed script


@pytest.fixture(scope="module")
def script() -> str:
    found = shutil.which("indefinite-opt", path=str(Path(sys.executable).parent))
    if found is None:
        pytest.skip("the console script indefinite-opt is not installed beside this Python")
    return found


def execute(script: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [script, *map(str, arguments)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=100,
        check=False,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    )


def test_the_script_lists(script: str) -> None:
    finished = execute(script, "list", "formulations", "--json")
    assert finished.returncode == 0
    assert finished.stderr == ""
    assert sorted(strict(finished.stdout)["formulations"]) == iopt.available_formulations()


def test_the_script_solves(script: str, folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "values.npz"
    finished = execute(
        script, "solve", folder / "points.npz", INDEFINITE, "--json", "--output", path
    )
    assert finished.returncode == 0
    assert finished.stderr == ""
    with np.load(path) as values:
        assert values["alpha"].shape == (24,)
    assert strict(finished.stdout)["claim"] == "LOCAL"
    required = execute(
        script, "verify", folder / "points.npz", INDEFINITE, path, "--require", "GLOBAL"
    )
    assert required.returncode == 1
    assert required.stderr == ""


def test_the_script_complains_in_one_line(script: str, folder: Path) -> None:
    finished = execute(script, "solve", folder / "points.npz", "SVMDaul")
    assert finished.returncode == 2
    assert finished.stdout == ""
    assert finished.stderr.count("\n") == 1
    assert finished.stderr.startswith("error: formulation: expected one of")


@pytest.mark.skipif(os.name != "posix", reason="pseudo-terminals and their signals are Unix's")
def test_ctrl_c_in_a_terminal(script: str, folder: Path) -> None:
    """The display is on the terminal, the bracket on standard output, in spite of the signal."""
    import pty

    A = np.random.default_rng(0).standard_normal((160, 160))
    np.savez(folder / "large.npz", K=A + A.T, y=np.where(np.arange(160) % 2, 1, -1))
    ours, theirs = pty.openpty()
    command = [script, "bound", str(folder / "large.npz"), HULLS, "--gap", "1e-12", "--json"]
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8", "TERM": "xterm", "COLUMNS": "80"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=theirs, env=environment
    ) as process:
        os.close(theirs)
        shown = b""
        while b"boxes" not in shown and b"1 box," not in shown:
            shown += os.read(ours, 4096)
        process.send_signal(signal.SIGINT)
        # A terminal that nobody reads would block the display.
        reader = threading.Thread(target=_drain, args=(ours,))
        reader.start()
        stdout, _ = process.communicate(timeout=60)
        reader.join()
    os.close(ours)
    assert process.returncode == 130
    answer = strict(stdout.decode())
    assert_bracket(answer)
    assert answer["status"] == "interrupted"
    assert "━" in shown.decode(errors="ignore")


def _drain(terminal: int) -> None:
    try:
        while os.read(terminal, 4096):
            pass
    except OSError:
        # Linux says so when the other side is closed.
        return


def test_the_script_explains_itself(script: str) -> None:
    finished = execute(script, "--help")
    assert finished.returncode == 0
    for command in ("list", "show", "solve", "bound", "verify", "compare"):
        assert command in finished.stdout
