"""`qp`: quadratic programs from files and by name, solved and bracketed at the command line."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import numpy as np
import pytest

import indefinite_opt as iopt
from helpers.commands import assert_bracket, complaint, printed, strict

N = 6


@pytest.fixture(scope="module")
def program() -> iopt.QuadraticProgram:
    """A concave program on the unit box, whose least value is at a vertex."""
    F = np.random.default_rng(0).integers(-5, 6, (N, N))
    return iopt.QuadraticProgram(-F @ F.T, np.arange(N) - 2.0, lb=0.0, ub=1.0, name="concave")


@pytest.fixture(scope="module")
def least(program: iopt.QuadraticProgram) -> float:
    vertices = map(np.array, itertools.product((0.0, 1.0), repeat=N))
    return min(float(0.5 * x @ program.P @ x + program.q @ x) for x in vertices)


@pytest.fixture(scope="module")
def programs(program: iopt.QuadraticProgram, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two files of the program, programs without an optimum, and files that are none."""
    folder = tmp_path_factory.mktemp("programs")
    for ending in ("in.gz", "npz"):
        program.write(folder / f"concave.{ending}")
    P, q, ones = np.diag([1.0, -1.0]), np.zeros(2), np.ones((1, 2))
    np.savez(folder / "convex.npz", P=np.eye(2), q=[1.0, 1.0])
    np.savez(folder / "budget.npz", P=P, q=q, A=ones, b=[1.0], lb=0.0, ub=1.0)
    np.savez(folder / "endless.npz", P=P, q=q, lb=0.0)
    np.savez(folder / "empty.npz", P=P, q=q, A=ones, b=[5.0], lb=0.0, ub=1.0)
    np.savez(folder / "shapes.npz", P=P, q=np.zeros(3))
    (folder / "junk.npz").write_bytes(b"junk")
    return folder


@pytest.mark.parametrize("ending", ["in.gz", "npz"])
def test_solves_files(ending: str, programs: Path, least: float) -> None:
    answer = strict(printed("qp", programs / f"concave.{ending}", "--json"))
    # A BoxQP file is a maximisation by its definition.
    sign = -1.0 if ending.startswith("in") else 1.0
    assert answer["objective"] == pytest.approx(sign * least, rel=1e-12)
    assert (answer["problem"], answer["n"], answer["solver"]) == ("concave", N, "multistart")
    assert (answer["claim"], answer["status"]) == ("LOCAL", "solved")
    assert len(answer["values"]) == N


def test_the_sense_of_in_files(tmp_path: Path) -> None:
    """By hand: on the unit box the values of this form are from -3, at (1, 1), to 0."""
    file = tmp_path / "a.in"
    file.write_text("2\n-1 -2\n2 -3\n-3 4\n")
    told = "maximised, as the library's readme says"
    for options, value, sense in (((), 0.0, "max"), (("--sense", "min"), -3.0, "min")):
        answer = strict(printed("qp", file, "--json", *options))
        assert answer["objective"] == pytest.approx(value, abs=1e-9)
        assert answer["sense"] == sense
        assert answer["assumed"] == ("" if options else told)
    for bracket in ((), ("--bound",)):
        said = f"  {told}; --sense changes that"
        assert printed("qp", file, *bracket).splitlines().count(said) == 1
        assert said not in printed("qp", file, "--sense", "max", *bracket)
    assert "'max' or 'min', got 'up'" in complaint("qp", file, "--sense", "up")
    assert "for .in files only" in complaint("qp", "clique-paley-3", "--sense", "max")


def test_prints_what_is_proved_and_nothing_of_kernels(programs: Path) -> None:
    file = programs / "concave.npz"
    first, *rest = printed("qp", file).splitlines()
    assert re.match(r"concave \(n = 6\), by multistart in \S+ s: converged", first)
    assert rest[0].startswith("LOCAL: ")
    budget = printed("qp", programs / "budget.npz")
    assert budget.startswith("budget (n = 2), by ")
    text = budget + printed("qp", file, "--bound") + printed("qp", "--help")
    for word in ("kernel", "class ", "label", "separat", "weight"):
        assert word not in text.replace("separable ", "")


def test_a_generated_program_by_its_name() -> None:
    """The Paley graph of 9 vertices has cliques of 3: the value is 1 / (2 · 3) - 1 [B97]."""
    answer = strict(printed("qp", "clique-paley-3", "--bound", "--json"))
    assert answer["problem"] == "clique-paley-3"
    assert answer["objective"] == pytest.approx(1.0 / 6.0 - 1.0, rel=1e-9)


def test_brackets(programs: Path, least: float) -> None:
    for options, gap in ((["--bound"], 1e-6), (["--gap", 1e-3], 1e-3)):
        command = ("qp", programs / "concave.npz", *options)
        answer = strict(printed(*command, "--json"))
        assert_bracket(answer)
        assert answer["upper"] == pytest.approx(least, rel=1e-12)
        assert answer["lower"] <= least
        assert answer["relative_gap"] <= gap
    first, _, _ = printed(*command).partition("\n")
    assert re.match(r"concave \(n = 6\): -\S+ ≤ optimal value ≤ -\S+$", first)


def test_the_written_proof_and_point_hold(programs: Path, tmp_path: Path, least: float) -> None:
    proof, point = tmp_path / "proof.json", tmp_path / "x.npz"
    answer = strict(
        printed("qp", programs / "concave.npz", "--proof", proof, "--output", point, "--json")
    )
    words, sign, bound = re.match(r"(.*) (\S+) (\S+)", printed("check-proof", proof)).groups()
    assert (words, sign) == ("PROVED: optimal value", ">=")
    assert least - 1e-6 * abs(least) <= float(bound) <= least
    with np.load(point) as values:
        assert values["x"].tolist() == answer["values"]


MALFORMED = {
    "absent.lp": "expected a readable file",
    "absent": "expected one of",
    "absent.pdf": "expected a file name ending in .in, ",
    "clique-palay-3": "Did you mean paley?",
    "junk.npz": "File is not a zip file",
    "shapes.npz": "q: expected finite real numbers of shape (2,), got shape (3,)",
    "empty.npz": "row 0 of A, ub[0] and ub[1] contradict each other",
    "endless.npz": "unbounded",
}


def test_what_is_refused(programs: Path, tmp_path: Path) -> None:
    for name, said in MALFORMED.items():
        assert said in complaint("qp", programs / name if "." in name else name), name
    command = ("qp", programs / "concave.npz")
    assert complaint(*command, "--output", tmp_path).startswith("output: ")
    assert complaint(*command, "--gap", 0).startswith("gap: ")
    assert complaint(*command, "--bound", "--solver", "uno").startswith("solver: expected none")
    refusal = complaint(*command, "--solver", "osqp")
    assert "Solvers that can: global, multistart, uno." in refusal
