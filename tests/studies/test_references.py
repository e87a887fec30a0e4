"""The reference library: its table is true, and can be used without this package."""

from __future__ import annotations

import dataclasses
import json
import re
import runpy
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner, Result

import indefinite_opt as iopt
from helpers.exact import clique_number
from helpers.processes import HANGS
from indefinite_opt.command_line.app import app
from indefinite_opt.formulations import as_formulation
from indefinite_opt.quadratic import QuadraticProgram, proof_checker
from indefinite_opt.quadratic.instances.by_name import graph, names
from indefinite_opt.studies.reference_library import library as references
from indefinite_opt.studies.reference_library.library import (
    FOLDER,
    FalseCertificate,
    Reference,
    Standing,
)

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

from reference_instances import GRID, KERNELS, SIZES, instances
from regenerate_references import write

TABLE = references.references()
NAMED = {entry.name: entry for entry in TABLE}
NAMES = list(NAMED)
KERNEL_ROWS = [entry for entry in TABLE if entry.kernel]
PROGRAM_ROWS = [entry for entry in TABLE if not entry.kernel]
SMALL = "sigmoid-010-c1"
CLOSED = [entry for entry in TABLE if entry.method == "closed form"]


def some(entries: list[Reference], step: int) -> list[Any]:
    """All as parameters, of which the default run has every `step`-th."""
    return [
        pytest.param(entry, marks=[pytest.mark.slow] * bool(k % step), id=entry.name)
        for k, entry in enumerate(entries)
    ]


@pytest.fixture(scope="module")
def readme() -> Iterator[dict[str, Any]]:
    """What the README's code defines, run in one namespace where the table lies."""
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(FOLDER)
        for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
            exec(block, names)
        yield names


# ------------------------------------------------------------------------------------- the table


def test_the_table_is_that_of_the_code() -> None:
    fields = [field.name for field in dataclasses.fields(references.Instance)]
    listed = [[getattr(entry, name) for name in fields] for entry in TABLE]
    assert listed == [[getattr(i, name) for name in fields] for i in instances()]
    assert len(NAMES) == len(TABLE)
    assert len(KERNEL_ROWS) == 80
    small = [name for name in names() if QuadraticProgram.read(name).n <= 125]
    assert [entry.name for entry in PROGRAM_ROWS] == small


def test_every_family_and_size_is_there() -> None:
    assert {entry.kernel for entry in KERNEL_ROWS} == set(KERNELS.values())
    # A new kernel function that can be indefinite belongs into the library.
    functions = {kernel.partition("(")[0] for kernel in KERNELS.values()}
    open_names = {
        name for name in iopt.kernels.names()
        if iopt.kernels.definiteness(iopt.kernels.get(name), 2) is None
    }  # fmt: skip
    assert open_names <= functions
    for family in GRID:
        assert {e.n for e in TABLE if e.name.startswith(f"{family}-")} >= set(SIZES)
    titles = [entry.title for entry in TABLE]
    for part in ("SVMDual(C=1)", "C=10)", "C=100)", "bias=False", "ConvexHullDual", "Guo"):
        assert any(part in title for title in titles)
    assert sum(entry.convex for entry in TABLE) == 4


def check_bracket(entry: Reference) -> None:
    assert entry.lower <= entry.best <= entry.upper
    assert entry.best == (entry.lower if entry.sense == "max" else entry.upper)
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", entry.date)
    if np.isfinite(entry.relative_gap):
        assert entry.method != "nothing proved"
        width = entry.upper - entry.lower
        assert entry.relative_gap == pytest.approx(width / abs(entry.best))


@pytest.mark.parametrize("family", sorted({e.name.partition("-")[0] for e in PROGRAM_ROWS}))
def test_the_rows_of_programs_are_true(family: str) -> None:
    for entry in PROGRAM_ROWS:
        if entry.name.startswith(f"{family}-"):
            check_program(entry)


def check_program(entry: Reference) -> None:
    """The point attains what the row says, summed up here from the arrays of the generator."""
    qp = QuadraticProgram.read(entry.name)
    x = entry.values["x"]
    assert (entry.n, entry.sense, entry.title, entry.seed) == (qp.n, "min", "", 0)
    # A millionth of a millionth of the terms of a row: rounding of points that are no vertices.
    for rows, right, missed in (
        (qp.G, qp.h, np.maximum(qp.G @ x - qp.h, 0.0)), (qp.A, qp.b, np.abs(qp.A @ x - qp.b)),
    ):  # fmt: skip
        assert np.all(missed <= 1e-12 * (np.abs(rows) @ np.abs(x) + np.abs(right)))
    assert np.all((qp.lb <= x) & (x <= qp.ub))
    assert 0.5 * x @ qp.P @ x + qp.q @ x == pytest.approx(entry.best, rel=1e-9)
    assert not entry.convex
    assert np.linalg.eigvalsh(qp.P)[0] < 0.0
    check_bracket(entry)
    known = references.Digest.of_program(qp)
    assert entry.digest.difference(known) < 1e-11


def test_most_programs_are_proved() -> None:
    """Nearly all box constraints to 1e-6, and four of five programs of all kinds."""
    boxes = [entry for entry in PROGRAM_ROWS if entry.name.startswith("boxqp")]
    assert len(boxes) == 99
    assert sum(entry.relative_gap <= 1e-6 for entry in boxes) >= 95
    assert np.mean([entry.relative_gap <= 1e-6 for entry in PROGRAM_ROWS]) >= 0.8
    assert max(entry.relative_gap for entry in PROGRAM_ROWS) <= 0.1


def test_the_rows_of_kernel_problems_have_the_digests_of_their_matrices() -> None:
    for entry in KERNEL_ROWS:
        problem = entry.kernel_problem()
        assert problem.n == entry.n
        assert entry.digest.difference(references.Digest.of(problem.K, problem.y)) < 1e-11
        assert as_formulation(str(entry.formulation)) == as_formulation(entry.title)
        check_bracket(entry)


@pytest.mark.parametrize("entry", some(KERNEL_ROWS, 3))
def test_the_row_of_a_kernel_problem_is_true(entry: Reference) -> None:
    """The point attains what the row says, in the declaration as cvxpy evaluates it."""
    assert entry.formulation is not None
    program = entry.formulation.declare(entry.kernel_problem())
    assert program.sense.startswith(entry.sense)
    assert program.is_convex == entry.convex
    objective, violation = program.evaluate(entry.values)
    assert violation <= 1e-9
    # Ten times `references.ROUNDING`: cvxpy sums in another order.
    assert objective == pytest.approx(entry.best, rel=1e-8)


def milp_optimum(Q: Any, y: Any, C: float) -> float:
    """The optimum of the SVM dual as a mixed-integer linear program over its KKT points, by HiGHS.

    At a point with Qα - e + by = μ - λ, μᵀα = 0, λᵀ(α - Ce) = 0 the objective is linear:
    ½eᵀα + ½C eᵀλ. Binary z lets μ_i be positive and holds α_i at 0, w likewise λ_i and C. A KKT
    point has some |b| ≤ B, the largest entry a gradient can have, which bounds μ and λ.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp

    n = y.size
    high, low = C * np.maximum(Q, 0).sum(axis=1), C * np.minimum(Q, 0).sum(axis=1) - 1
    B = max(np.abs(high).max(), np.abs(low).max())
    most_mu, most_lam = np.maximum(high, 0) + B, np.maximum(-low, 0) + B
    eye, zero, column = np.eye(n), np.zeros((n, n)), np.zeros((n, 1))
    # Columns: α, b, μ, λ, z, w.
    rows = [
        (np.hstack([Q, y[:, None], -eye, eye, zero, zero]), 1.0, 1.0),
        (np.hstack([y[None], np.zeros((1, 4 * n + 1))]), 0.0, 0.0),
        (np.hstack([zero, column, eye, zero, -np.diag(most_mu), zero]), -np.inf, 0.0),
        (np.hstack([eye, column, zero, zero, C * eye, zero]), -np.inf, C),
        (np.hstack([zero, column, zero, eye, zero, -np.diag(most_lam)]), -np.inf, 0.0),
        (np.hstack([-eye, column, zero, zero, zero, C * eye]), -np.inf, 0.0),
    ]
    ones = np.ones(n)
    answer = milp(
        -0.5 * np.concatenate([ones, [0.0], 0 * ones, C * ones, 0 * ones, 0 * ones]),
        constraints=[LinearConstraint(*row) for row in rows],
        bounds=Bounds(
            np.concatenate([0 * ones, [-B], np.zeros(4 * n)]),
            np.concatenate([C * ones, [B], most_mu, most_lam, ones, ones]),
        ),
        integrality=np.concatenate([np.zeros(3 * n + 1), np.ones(2 * n)]),
        options={"mip_rel_gap": 1e-8},
    )
    assert answer.status == 0
    return float(-answer.fun)


@pytest.mark.parametrize("entry", some([e for e in TABLE if e.n < 20 and "SVMDual" in e.title], 3))
def test_the_bracket_holds_the_optimum_that_highs_finds(entry: Reference) -> None:
    """To 1e-6, by which HiGHS lets a binary variable miss 0 and 1."""
    problem = entry.kernel_problem()
    optimum = milp_optimum(problem.Q, problem.y, entry.formulation.C)  # type: ignore[attr-defined]
    slack = 1e-6 * abs(optimum)
    assert entry.lower - slack <= optimum <= entry.upper + slack
    assert entry.best == pytest.approx(optimum, rel=1e-6)


# ----------------------------------------------------------------------------------- closed forms


@pytest.mark.parametrize("entry", CLOSED, ids=lambda entry: entry.name)
def test_closed_forms(entry: Reference) -> None:
    """By the clique number of a graph, the best vertex of a cube, or counting weights at C = 1."""
    name = entry.name
    if name.startswith("paley"):
        omega = clique_number(entry.kernel_problem().K[:-1, :-1])
        assert entry.lower == entry.upper == pytest.approx(-(1 - 1 / omega) / 4, rel=1e-15)
    elif name.startswith("lemma4"):
        optima = iopt.datasets.load("haasdonk-lemma4", q=(entry.n - 1).bit_length() - 1).optima
        assert optima is not None
        assert entry.lower == entry.upper == optima["objective"].max() == 0.5
    elif name.startswith("minus-identity"):  # k weights of either class at the bound: 2k + k
        assert entry.lower == entry.upper == 3 * entry.kernel_problem().smaller_class
    else:
        # The point is the uniform distribution on a largest clique, or within 1e-6 of its value.
        P, omega = QuadraticProgram.read(name).P, graph(name.removeprefix("clique-")).clique_number
        assert entry.lower == pytest.approx(0.5 / omega - 1.0, rel=1e-15)
        assert entry.best == pytest.approx(entry.lower, rel=1e-6)
        clique = np.flatnonzero(entry.values["x"] > 1e-6)
        assert clique.size == omega
        assert np.all(P[np.ix_(clique, clique)] == -1.0 - (1.0 - np.eye(omega)))


# ------------------------------------------------------------------------- without this package


def test_the_code_of_the_readme_builds_every_matrix(readme: dict[str, Any]) -> None:
    for entry in KERNEL_ROWS:
        K, y = readme["instance"](entry.kernel, entry.n, entry.seed)
        problem = entry.kernel_problem()
        np.testing.assert_allclose(K, problem.K, rtol=0.0, atol=1e-12 * np.abs(K).max())
        np.testing.assert_array_equal(y, problem.y)


def test_the_code_of_the_readme_builds_programs(readme: dict[str, Any]) -> None:
    """To the last bit: all numbers are integers, or quarters of them."""
    built = [e for e in PROGRAM_ROWS if e.name.startswith(("boxqp", "rowqp", "stqp", "clique"))]
    for entry in built:
        theirs, ours = readme["program"](entry.name), QuadraticProgram.read(entry.name)
        assert set(theirs) >= {"P", "q", "lb", "ub"}
        for name, array in theirs.items():
            np.testing.assert_array_equal(np.broadcast_to(array, getattr(ours, name).shape),
                                          getattr(ours, name), err_msg=entry.name)  # fmt: skip
        assert not ours.h.size or "G" in theirs
        assert not ours.b.size or "A" in theirs
    assert len(built) == 99 + 24 + 16 + 64


def test_the_code_of_the_readme_reads_and_compares(readme: dict[str, Any]) -> None:
    table = readme["table"]
    assert list(table.index) == NAMES
    assert table.loc[SMALL, "best"] == NAMED[SMALL].best
    assert readme["same"]
    assert readme["possible"]
    assert abs(readme["shortfall"]) < 1e-9
    assert [table.index.name, *table.columns] == list(references.cells(TABLE[0]))


# ---------------------------------------------------------------------------------------- export


def test_a_program_is_exported_as_it_is(tmp_path: Path) -> None:
    """Formats that hold all of it, and .in for those of the unit box."""
    for name, suffix in (("rowqp-20-5-5-25-1", ".qplib"), ("boxqp-20-100-1", ".in")):
        ours = QuadraticProgram.read(name)
        theirs = QuadraticProgram.read(references.export(name, tmp_path / f"model{suffix}"))
        for array in ("P", "q", "G", "h", "A", "b", "lb", "ub"):
            np.testing.assert_array_equal(getattr(theirs, array), getattr(ours, array))
    with pytest.raises(iopt.errors.DataError, match="without rows"):
        references.export("rowqp-20-5-5-25-1", tmp_path / "model.in")


# ----------------------------------------------------------------------------------------- check


def test_the_best_known_point_is_equal() -> None:
    others = "l1-gaussian-040-guo", "sigmoid-040-hull", "rowqp-20-5-5-25-1"
    for name in (SMALL, *others):
        found = references.check(NAMED[name], NAMED[name].values)
        assert found.standing is Standing.EQUAL
        assert found.standing.succeeds
        assert abs(found.shortfall) < 1e-12
        assert found.excess < 1e-12
        assert found.certificate.claim >= iopt.Claim.STATIONARY


def test_a_poor_point_is_worse_and_an_infeasible_one_infeasible() -> None:
    """However good it is: all weights at 2C are far above the best."""
    found = references.check(SMALL, {"alpha": np.zeros(10)})
    assert found.standing is Standing.WORSE
    assert not found.standing.succeeds
    assert (found.objective, found.shortfall) == (0.0, 1.0)
    assert "worse than the best-known" in str(found)
    entry = NAMED["random-020-c1"]
    found = references.check(entry, {"alpha": np.full(entry.n, 2.0)})
    assert found.standing is Standing.INFEASIBLE
    assert found.certificate.objective > entry.best


def test_slack_within_the_tolerance_proves_nothing() -> None:
    """A point that breaks the upper bound by 5e-7 has a better objective; its projection has not.

    The bracket of a cube is closed, so that any gain at all would look like a false certificate.
    """
    entry = NAMED["minus-identity-020-c1"]
    found = references.check(entry, {"alpha": entry.values["alpha"] * (1.0 + 5e-7)})
    assert found.certificate.objective > entry.upper * (1.0 + 4e-7)
    assert found.standing is Standing.EQUAL


def test_a_better_point_inside_the_bracket_is_welcome() -> None:
    entry = NAMED[SMALL]
    poorer = dataclasses.replace(entry, best=0.99 * entry.best, lower=0.99 * entry.best)
    found = references.check(poorer, entry.values)
    assert found.standing is Standing.BETTER
    assert found.standing.succeeds
    assert found.shortfall == pytest.approx(-1.0 / 99.0)


@pytest.mark.parametrize("name", [SMALL, "l1-gaussian-040-guo", "boxqp-20-100-1"])
def test_a_forged_row_is_called_out(name: str, tmp_path: Path) -> None:
    """Through the files: a bracket that a point in hand disproves by 1e-7 of the objective."""
    entry = NAMED[name]
    off = (-1e-7 if entry.sense == "max" else 1e-7) * abs(entry.best)
    forged = entry.best + off
    row = dataclasses.replace(entry, best=forged, lower=forged, upper=forged, method="a forgery")
    write([row], tmp_path)
    found = references.check(references.load(name, tmp_path), entry.values)
    assert found.standing is Standing.IMPOSSIBLE
    assert not found.standing.succeeds
    assert found.excess == pytest.approx(1e-7, rel=1e-3)
    assert "FALSE CERTIFICATE" in str(found)
    assert "a forgery" in str(found)


def test_the_arrays_of_another_program_are_refused() -> None:
    """Every array counts: digests of one that differs in a single number are different."""
    qp = QuadraticProgram.read("rowqp-20-5-5-25-1")
    known = NAMED["rowqp-20-5-5-25-1"].digest
    names = ("P", "q", "G", "h", "A", "b", "lb", "ub")
    for name in names:
        arrays = {each: getattr(qp, each).copy() for each in names}
        arrays[name].flat[0] += 0.5
        other = references.Digest.of_program(iopt.QuadraticProgram(**arrays))
        assert known.difference(other) > 1e-6, name
    assert known.difference(NAMED[SMALL].digest) == np.inf
    for entry in (
        dataclasses.replace(NAMED["boxqp-20-100-2"], name="boxqp-20-100-1"),
        dataclasses.replace(NAMED[SMALL], seed=1),
    ):
        with pytest.raises(iopt.errors.DataError, match="digests differ"):
            references.check(entry, entry.values)


def test_check_says_what_is_wrong() -> None:
    with pytest.raises(iopt.errors.UnknownName, match="Did you mean sigmoid-010-c1"):
        references.check("sigmoid-10-c1", {"alpha": [0.0]})
    with pytest.raises(iopt.errors.ProblemError, match=r"alpha of shape \(10,\)"):
        references.check(SMALL, {"alphabar": np.zeros(10)})


# ---------------------------------------------------------------------------------- files, digest


def test_the_table_is_written_as_it_was_read(tmp_path: Path) -> None:
    write(TABLE, tmp_path)
    for name in ("references.csv", "points.json"):
        assert (tmp_path / name).read_text("utf-8") == (FOLDER / name).read_text("utf-8")


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    table, points = "references.csv", "points.json"
    best = repr(NAMED[SMALL].best)
    for file, old, new, said in (
        (table, "# format 2", "# format 1", ""),
        (table, ",upper,", ",above,", ""),
        (table, ",max,", ",max,no,", ""),
        (table, best, "0.0", r".* of sigmoid-010-c1: 0\.0 between 0\.0 and"),
        (points, SMALL, "another", ""),
        (points, "}}", "}", ""),
        (points, "{", "[" * 100_000, ""),
        (points, "{", "9" * 5000, ""),
    ):
        write([NAMED[SMALL]], tmp_path)
        text = (tmp_path / file).read_text(encoding="utf-8").replace("}\n}", "}}")
        assert old in text
        (tmp_path / file).write_text(text.replace(old, new), encoding="utf-8")
        with pytest.raises(iopt.errors.DataError, match=f"folder: expected{said}"):
            references.references(tmp_path)


def test_rows_of_nonsense_are_refused(tmp_path: Path) -> None:
    """NaN is neither above nor below a point: everybody's would be better than it."""
    entry, nan = NAMED[SMALL], float("nan")
    changes: tuple[dict[str, Any], ...] = (
        {"best": nan}, {"best": float("inf")}, {"lower": nan}, {"upper": nan}, {"upper": -1.0},
        {"sense": "middle"}, {"seed": -1}, {"title": "LPSVM"},
        {"digest": dataclasses.replace(entry.digest, plus=10**400)},
        {"values": {"alpha": np.full(10, nan)}}, {"values": {"alpha": np.zeros(9)}},
    )  # fmt: skip
    for changed in changes:
        write([dataclasses.replace(entry, **changed)], tmp_path)
        with pytest.raises(iopt.errors.DataError, match="expected every column of format 2"):
            references.references(tmp_path)


def test_the_sense_and_the_digest_are_checked() -> None:
    """With the other sense a worse point would be called better."""
    entry = NAMED[SMALL]
    turned = dataclasses.replace(entry, sense={"max": "min", "min": "max"}[entry.sense])
    with pytest.raises(iopt.errors.DataError, match=f"reference: expected the sense {entry.sense}"):
        references.check(turned, entry.values)
    digest = dataclasses.replace(entry.digest, trace=np.nan)
    with pytest.raises(iopt.errors.DataError, match="digests differ by nan"):
        references.check(dataclasses.replace(entry, digest=digest), entry.values)
    with pytest.raises(iopt.errors.ProblemError, match=r"K: .* got complex numbers"):
        references.Digest.of(1j * np.eye(2), [1, -1])


def test_a_folder_without_a_table(tmp_path: Path) -> None:
    with pytest.raises(iopt.errors.DataError, match=r"references\.csv and points\.json"):
        references.references(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(iopt.errors.DataError, match="a folder that can be written"):
        write([TABLE[0]], tmp_path / "file")


def test_a_digest_sees_order_and_labels_but_not_rounding() -> None:
    problem = NAMED[SMALL].kernel_problem()
    K, y = problem.K, problem.y
    mine = references.Digest.of(K, y)
    assert mine.difference(references.Digest.of(K * (1.0 + 1e-14), y)) < 1e-12
    order = np.roll(np.arange(10), 1)
    for other in (
        references.Digest.of(K[np.ix_(order, order)], y[order]),
        references.Digest.of(K, y[order]),
        references.Digest.of(K, -y),
        references.Digest.of(K + 1e-6, y),
    ):
        assert mine.difference(other) > 1e-8


# ------------------------------------------------------------------------------------ regenerate


class Bracket:
    """What `iopt.bound` returns, as far as it is read."""

    rigorous, method = True, "a test"

    def __init__(self, lower: float, upper: float, values: dict[str, Any]) -> None:
        self.lower, self.upper, self.values = lower, upper, values


def regenerate(monkeypatch: pytest.MonkeyPatch, folder: Path, *arguments: str, **found: Any) -> Any:
    """The rows that the program of the benchmarks writes, with other functions in its places."""
    path = Path(__file__).parents[2] / "benchmarks" / "regenerate_references.py"
    program = runpy.run_path(str(path))
    for name, function in found.items():
        monkeypatch.setitem(program["computed"].__globals__, name, function)
    program["main"]([str(folder), *arguments, "--time-limit", "1"])
    return references.references(folder)


def bracketed(below: float, above: float) -> Any:
    """Brackets from a local optimum less `below` to it plus `above`."""

    def bound(problem: Any, formulation: Any, **limits: Any) -> Bracket:
        result = iopt.solve(problem, formulation)
        return Bracket(result.objective - below, result.objective + above, result.values)

    return bound


def nothing_but_zero(name: str, upper: float) -> dict[str, Any]:
    """A search and a bound that find the point 0."""
    problem = NAMED[name].problem()
    zero = {"alpha": np.zeros(problem.n)}
    found = dataclasses.replace(iopt.solve(problem, "SVMDual(C=1)"), values=zero)
    return {"solve": lambda *a, **k: found, "bound": lambda *a, **k: Bracket(0.0, upper, zero)}


def test_regenerate_writes_what_it_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ["l1-gaussian-040-guo", SMALL, "paley-014-guo"]
    rows = regenerate(monkeypatch, tmp_path, *names, bound=bracketed(0.25, 0.5))
    shown = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in shown] == names
    # In the order of the library, whatever the order asked for.
    assert [row.name for row in rows] == [SMALL, *names[::2]]
    small, guo, paley = rows
    assert small.best == small.lower == pytest.approx(NAMED[SMALL].best, rel=1e-9)
    assert small.upper == pytest.approx(small.best + 0.5)
    assert small.method == "a test"
    assert guo.best == guo.upper
    assert guo.lower == pytest.approx(guo.best - 0.25)
    assert (paley.lower, paley.upper) == (paley.best, paley.best)
    assert paley.method == "closed form"


def test_regenerate_refuses_a_false_bracket(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(FalseCertificate, match="sigmoid-010-c1: the objective"):
        regenerate(monkeypatch, tmp_path, SMALL, bound=bracketed(1.0, -0.1))
    # Beside a closed form, too, even if no point is found that attains it.
    name = "lemma4-017-c1"
    with pytest.raises(FalseCertificate, match=f"{name}: the objective 0.5"):
        regenerate(monkeypatch, tmp_path, name, **nothing_but_zero(name, 0.4))
    with pytest.raises(iopt.errors.UnknownName, match="Did you mean sigmoid-010-c1"):
        regenerate(monkeypatch, tmp_path, "sigmoid-010-c2")
    assert list(tmp_path.iterdir()) == []


# ------------------------------------------------------------------------------------- proofs


def assert_proved(entry: Reference, path: Path, gap: float) -> None:
    """The checker accepts it for the program of this instance, and a limit as good as `gap`."""
    value, program = proof_checker.check(json.loads(path.read_text()))
    n, size = entry.n, len(program["c"])
    H = np.zeros((size, size))
    H[np.tril_indices(size)] = [number for row in program["H"] for number in row]
    problem = entry.problem()
    if isinstance(problem, iopt.QuadraticProgram):
        qp = QuadraticProgram.read(entry.name)
        m = qp.h.size
        # Inequalities have slacks after the variables.
        assert size == n + m
        np.testing.assert_array_equal(H[:n, :n], np.tril(qp.P))
        assert not H[n:].any()
        assert program["c"] == [*qp.q, *np.zeros(m)]
        rows = np.block([[qp.G, np.eye(m)], [qp.A, np.zeros((qp.b.size, m))]])
        np.testing.assert_array_equal(np.reshape(program["rows"], rows.shape), rows)
        assert program["rhs"] == [*qp.h, *qp.b]
        assert program["lower"] == [*qp.lb, *np.zeros(m)]
        assert program["upper"][:n] == qp.ub.tolist()
    else:
        y = problem.y
        # SVMDual has Q, the others 2Q.
        scale = 1.0 if entry.title.startswith("SVMDual") else 2.0
        Q = scale * np.outer(y, y) * problem.K
        np.testing.assert_allclose(H, np.tril(Q), rtol=1e-9, atol=1e-12)
        assert max(program["upper"]) <= entry.program(problem).feasible.upper
    unit = abs(entry.best)
    better = value - entry.best if entry.sense == "max" else entry.best - value
    assert -1e-9 * unit <= better <= gap * unit


SHIPPED = [
    NAMED[name]
    for name in (
        "boxqp-20-100-1", "clique-hamming-5-3", "rowqp-20-5-5-25-1", "maxcut-20-50-1",
        "spinglass-5-5-1", "blending-4-2-3-1",
    )
]  # fmt: skip
SHIPPED += [entry for entry in KERNEL_ROWS if entry.n <= 20 and entry.name != "paley-014-guo"]


@pytest.mark.parametrize("entry", some(SHIPPED[:6], 1) + some(SHIPPED[6:], 2))
def test_a_shipped_proof_is_accepted(entry: Reference) -> None:
    assert_proved(entry, references.proof(entry.name), 1e-6)


def test_the_shipped_proofs_are_those_and_small() -> None:
    files = list((FOLDER / "proofs").iterdir())
    assert {path.stem for path in files} == {entry.name for entry in SHIPPED}
    assert sum(path.stat().st_size for path in files) < 430_000
    with pytest.raises(iopt.errors.UnknownName):
        references.proof("sigmoid-100-c10")


# Of kernels of up to 60 points every second, of 80 points three, and of programs of up to 25
# variables every sixth: exact fractions take seconds, and smaller proofs of the same families are
# shipped.
EASY = [entry for entry in KERNEL_ROWS if 20 < entry.n <= 60][::2]
EASY += [NAMED[name] for name in ("sigmoid-080-c1", "simpson-080-c10", "chebyshev-linear-080-c1")]
EASY += [entry for entry in PROGRAM_ROWS if entry.n <= 25][::6]


@pytest.mark.slow
@pytest.mark.parametrize("entry", some(EASY, 1))
def test_every_bracket_is_proved_again(entry: Reference, tmp_path: Path) -> None:
    path = references.prove(entry, tmp_path / "proof.json", time_limit=HANGS)
    assert_proved(entry, path, 1e-2)


# ------------------------------------------------------------------------------------ the command


def run(*arguments: object, code: int = 0) -> Result:
    result = CliRunner().invoke(app, ["reference", *map(str, arguments)])
    assert result.exit_code == code, (result.output, result.exception)
    assert "Traceback" not in result.output
    return result


def test_the_command_lists() -> None:
    text = run("list").stdout
    assert all(name in text for name in NAMES)
    assert max(map(len, text.splitlines())) <= 100
    chosen = json.loads(run("list", "sigmoid-0?0-*", "--json").stdout)
    assert SMALL in chosen
    assert all(re.fullmatch(r"sigmoid-0.0-.*", name) for name in chosen)
    entry = NAMED[SMALL]
    assert chosen[SMALL]["best"] == entry.best
    assert chosen[SMALL]["upper"] == (entry.upper if np.isfinite(entry.upper) else None)
    assert "pattern: expected one of" in run("list", "nothing-*", code=2).stderr


def test_the_command_exports_and_proves(tmp_path: Path) -> None:
    path = tmp_path / "proof.json"
    assert run("prove", SMALL, path).stdout.strip() == str(path)
    assert_proved(NAMED[SMALL], path, 1e-6)
    path = tmp_path / "model.lp"
    assert str(path) in run("export", SMALL, path).stdout
    assert path.read_text(encoding="utf-8").startswith("maximize\n")
    assert ".npz" in run("export", SMALL, tmp_path / "model.txt", code=2).stderr


def test_the_command_checks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = NAMED[SMALL]
    good, poor = tmp_path / "good.npz", tmp_path / "poor.json"
    np.savez(good, **entry.values)  # type: ignore[arg-type]
    poor.write_text(json.dumps({"alpha": [0.0] * entry.n}), encoding="utf-8")
    assert "as good as the best-known" in run("check", SMALL, good).stdout
    assert "worse" in run("check", SMALL, poor, code=1).stdout
    forged = dataclasses.replace(entry, best=1.0, lower=1.0, upper=1.0)
    monkeypatch.setattr(references, "load", lambda name: forged)
    assert "FALSE CERTIFICATE" in run("check", SMALL, good, code=1).stdout
