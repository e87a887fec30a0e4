"""Generated programs: stated laws, closed-form optima, and digests that must never change."""

from __future__ import annotations

import hashlib
import itertools

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog

import indefinite_opt as iopt
from helpers.exact import Program, clique_number
from indefinite_opt.errors import InfeasibleProblem, ParameterError, ProblemError, UnknownName
from indefinite_opt.quadratic import QuadraticProgram
from indefinite_opt.quadratic.data.arrays import quadratic_arrays
from indefinite_opt.quadratic.instances import depot, named_arrays
from indefinite_opt.quadratic.instances.depot import FAMILIES, GRAPHS, KERNELS, OF_GRAPHS, Draws

DIGESTS = {
    "boxqp-50-40-1": "05ab6205c4c76110",
    "maxcut-20-50-1": "cdafa0fdc81c39b7",
    "spinglass-5-5-1": "3933314404fa365e",
    "stqp-30-50-1": "605ba9bcc0d17cf5",
    "rowqp-20-5-5-50-1": "07d18b0835fa6cb9",
    "bilinear-10-10-5-1": "236c82a92fe36475",
    "jointbilinear-10-10-10-1": "f42ed5a9f668aa5f",
    "concave-20-10-5-1": "6f0fd6265ea449a9",
    "transportation-4-5-1": "ef043ffeb64b2d01",
    "portfolio-30-5-1": "d4e26084713b3025",
    "blending-4-2-3-1": "256c0ab1c656c989",
    "clique-johnson-8-2-4": "01eeeb13165fa9c3",
}

SMALL_GRAPHS = (
    "johnson-5-2-4", "johnson-6-3-4", "johnson-7-3-6", "johnson-8-4-6", "johnson-10-4-6",
    "johnson-8-5-4", "johnson-6-2-6", "johnson-6-3-3", "hamming-3-1", "hamming-4-2", "hamming-5-3",
    "hamming-6-4", "hamming-7-5", "hamming-3-4", "keller-1", "keller-2", "turan-20-7", "turan-6-6",
    "paley-3", "paley-7", "triangular-3", "triangular-8", "lattice-2", "lattice-6",
    "cyclejoin-1-4", "cyclejoin-3-6",
)  # fmt: skip


def on_the_simplex(P: np.ndarray) -> Program:
    """½xᵀPx on the simplex, whose stationary points are those of all its faces."""
    return Program.on(P, np.zeros(len(P)), 0.0, 1.0, A=np.ones(len(P)), b=1.0)


def digest(program: QuadraticProgram) -> str:
    arrays = (program.P, program.q, program.G, program.h, program.A, program.b, program.lb,
              program.ub)  # fmt: skip
    content = b"".join(np.asarray(a + 0.0, "<f8").tobytes() for a in arrays)
    return hashlib.sha256(content).hexdigest()[:16]


# --- the draws -----------------------------------------------------------------------------


def test_draws_are_uniform_and_within_bounds() -> None:
    values = Draws(7).integers(-3, 3, 70_000)
    numbers, counts = np.unique(values, return_counts=True)
    assert numbers.tolist() == [-3, -2, -1, 0, 1, 2, 3]
    # Five standard deviations of a count of 10,000.
    assert np.abs(counts - 10_000).max() < 5 * np.sqrt(10_000)
    assert sorted(Draws(7).order(20).tolist()) == list(range(20))


def test_words_of_pcg64_are_those_of_its_definition() -> None:
    """PCG XSL RR 128/64 of O'Neill (2014) in plain integers, from numpy's state of the seed."""
    state = np.random.PCG64(1).state["state"]
    position, increment = state["state"], state["inc"]
    multiplier, words = 0x2360ED051FC65DA44385DF649FCCF645, []
    for _ in range(5):
        position = (position * multiplier + increment) % 2**128
        mixed, turn = (position >> 64) ^ (position & (2**64 - 1)), position >> 122
        words.append((mixed >> turn | mixed << (64 - turn)) % 2**64)
    assert Draws(1).integers(-50, 50, 5).tolist() == [word % 101 - 50 for word in words]


# --- random programs -----------------------------------------------------------------------


@pytest.mark.parametrize("name", DIGESTS)
def test_an_instance_never_changes(name: str) -> None:
    assert digest(QuadraticProgram.read(name)) == DIGESTS[name]


SUITE = {
    family: [p.name for p in iopt.depot(f"{family}-*", tags="random")][:2]
    for family in FAMILIES
    if family not in ("randomlp", "randomconvex")
}


@pytest.mark.parametrize("name", [name for members in SUITE.values() for name in members])
def test_an_instance_is_what_its_name_says(name: str) -> None:
    program = QuadraticProgram.read(name)
    assert program.name == name
    assert np.array_equal(program.P, program.P.T)
    # Quarters at most: every number is exact in binary.
    for array in (program.P, program.q, program.G, program.h, program.A, program.b):
        assert np.array_equal(4.0 * array, np.round(4.0 * array))
    assert np.isfinite([program.lb, program.ub]).all()


def test_the_law_of_box_programs() -> None:
    program = QuadraticProgram.read("boxqp-400-30-5")
    upper = program.P[np.triu_indices(400)]
    share = 0.3 * 100 / 101
    assert abs(np.mean(upper != 0) - share) < 5 * np.sqrt(share * (1 - share) / upper.size)
    assert (upper.min(), upper.max()) == (-50.0, 50.0)
    assert (program.q.min(), program.q.max()) == (-50.0, 50.0)
    assert program.G.shape == program.A.shape == (0, 400)
    assert not np.array_equal(program.P, QuadraticProgram.read("boxqp-400-30-6").P)


def test_rows_have_the_stated_feasible_point() -> None:
    """Its coordinates are quarters, so that it is found by hand: all that the rows allow."""
    for density in (5, 50, 100):
        program = QuadraticProgram.read(f"rowqp-12-4-3-{density}-2")
        assert program.G.any(axis=1).all()
        assert program.A.any(axis=1).all()
        rows = program.G, program.h, program.A, program.b
        assert linprog(np.zeros(12), *rows, bounds=(0.25, 0.75)).status == 0


def test_the_largest_cut_of_a_torus() -> None:
    """±1 weights on 3 by 3 sites, by enumeration of all cuts."""
    program = QuadraticProgram.read("spinglass-3-3-1")
    weights = program.P / 2.0
    assert np.array_equal(np.abs(weights).sum(axis=0), np.full(9, 4.0))
    for cut in itertools.product((0.0, 1.0), repeat=9):
        side = np.array(cut)
        crossing = side[:, None] != side
        assert program.objective(side) == -weights[crossing].sum() / 2.0


def test_transportation_is_balanced_and_its_costs_never_fall() -> None:
    program = QuadraticProgram.read("transportation-4-5-1")
    supply, demand = program.b[:4], program.b[4:]
    last = supply.sum() - demand.sum()
    assert last >= 1.0
    marginal = program.q + np.diag(program.P) * program.ub
    assert (marginal >= 0.0).all()
    assert np.linalg.matrix_rank(program.A) == 8


def test_blending_counts_every_unit() -> None:
    """The cost of a plan, summed as the definition says."""
    program = QuadraticProgram.read("blending-3-2-2-4")
    draws = Draws(4)
    c, impurity = draws.integers(1, 10, 3), draws.integers(0, 10, 3)
    w, r = draws.integers(0, 3, 2), draws.integers(5, 40, 2)
    x, y = np.array([[0.5, 0.5, 0.0], [0.0, 0.25, 0.75]]), np.array([[3.0, 1.0], [2.0, 4.0]])
    total = sum(
        (c[i] + w[t] * impurity[i] - r[t]) * x[p, i] * y[p, t]
        for p, i, t in itertools.product(range(2), range(3), range(2))
    )
    point = np.concatenate([x.ravel(), y.ravel()])
    assert program.objective(point) == pytest.approx(total, rel=1e-14)
    assert program.A @ point == pytest.approx([1.0, 1.0])


# --- graphs --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SMALL_GRAPHS)
def test_the_clique_number_is_right(name: str) -> None:
    graph = depot.graph(name)
    assert np.array_equal(graph.adjacency, graph.adjacency.T)
    assert not graph.adjacency.diagonal().any()
    assert clique_number(graph.adjacency) == graph.clique_number


@pytest.mark.parametrize("name", ["turan-7-3", "cyclejoin-2-4",
                                  "cyclejoin-1-7", "lattice-3", "paley-3", "johnson-5-2-4",
                                  "triangular-4", "hamming-3-2"])  # fmt: skip
def test_the_optimum_is_the_closed_form(name: str) -> None:
    graph = depot.graph(name)
    program = QuadraticProgram.read(f"clique-{name}")
    assert on_the_simplex(program.P).lowest == pytest.approx(program.optimum, abs=1e-12)
    assert program.optimum == pytest.approx(0.5 / clique_number(graph.adjacency) - 1.0)


def test_known_graphs_of_the_literature() -> None:
    """Vertices, edges and clique numbers of the DIMACS benchmark (1993)."""
    for name, expected in {
        "johnson-8-2-4": (28, 210, 4), "johnson-8-4-4": (70, 1855, 14),
        "johnson-16-2-4": (120, 5460, 8), "hamming-6-2": (64, 1824, 32),
        "hamming-6-4": (64, 704, 4), "hamming-8-4": (256, 20864, 16),
    }.items():  # fmt: skip
        graph = depot.graph(name)
        assert (graph.n, graph.adjacency.sum() // 2, graph.clique_number) == expected


# --- names and wrong arguments -------------------------------------------------------------


def test_names_are_listed_once_by_family() -> None:
    names = [p.name for p in iopt.depot()]
    assert len(names) == len(set(names))
    families = {*FAMILIES, *OF_GRAPHS, "units"}
    firsts = {name.partition("-")[0] for name in names if "kernel" not in iopt.depot(name)[0].tags}
    assert firsts == families
    kernels = {p.name.rpartition("-0")[0] or p.name for p in iopt.depot(tags="kernel")}
    assert {name.partition("-1")[0].partition("-0")[0] for name in kernels} == {*KERNELS}
    assert len(iopt.depot("boxqp-*")) == 99  # public instances
    assert len(iopt.depot("rowqp-*")) == 64
    graphs = {name.split("-")[1] for name in names if name.partition("-")[0] in OF_GRAPHS}
    assert graphs == {*GRAPHS}


@pytest.mark.parametrize(
    ("name", "error", "words"),
    [
        ("spar020-100-1", UnknownName, "one of assignment, beale, bilinear"),
        ("clique-petersens", UnknownName, "graph: expected one of"),
        ("boxqp-20", ParameterError, "expected boxqp-n-density-seed, got 'boxqp-20'"),
        ("boxqp-020-100-1", ParameterError, "boxqp-n-density-seed"),
        ("boxqp-20-x-1", ParameterError, "boxqp-n-density-seed"),
        ("boxqp-20-101-1", ParameterError, "density: expected an integer from 0 to 100"),
        ("boxqp-1000000-10-1", ParameterError, "n: expected an integer from 1 to 5000"),
        ("spinglass-500-500-1", ParameterError, "variables: expected"),
        ("rowqp-5-0-5-50-1", ParameterError, "equalities: expected"),
        ("clique-johnson-20-7-6", ParameterError, "number of vertices"),
        ("clique-johnson-13-5-6", ParameterError, "whose size is known here"),
        ("clique-hamming-9-3", ParameterError, "whose size is known here"),
        ("clique-paley-9", ParameterError, "an odd prime"),
        ("clique-keller-9", ParameterError, "n: expected"),
        ("", UnknownName, "family"),
    ],
)
def test_wrong_names_are_named(name: str, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        named_arrays(name)


# --- arrays --------------------------------------------------------------------------------


def test_arrays_are_completed_and_symmetrised() -> None:
    program = QuadraticProgram(
        sparse.csc_matrix([[1.0, 4.0], [0.0, 2.0]]), [1.0, 2.0], G=[[1.0, 1.0], [1.0, 0.0]],
        h=[3.0, np.inf], A=[1.0, -1.0], b=0.0, lb=-1.0, ub=[1.0, np.inf], constant=5.0,
    )  # fmt: skip
    assert program.P.toarray().tolist() == [[1.0, 2.0], [2.0, 2.0]]
    assert (program.G.tolist(), program.h.tolist()) == ([[1.0, 1.0]], [3.0])
    assert (program.A.tolist(), program.b.tolist()) == ([[1.0, -1.0]], [0.0])
    assert program.lb.tolist() == [-1.0, -1.0]
    assert program.objective(np.array([1.0, 2.0])) == 0.5 + 4.0 + 4.0 + 5.0 + 5.0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"P": [[1.0, 0.0]]}, "P: expected a square matrix of order 1"),
        ({"P": [[np.nan, 0.0], [0.0, 1.0]]}, "P: expected finite real numbers"),
        ({"P": sparse.csr_array((2, 3))}, "P: expected a square matrix of order 1"),
        ({"P": sparse.csr_array([[np.nan, 0.0], [0.0, 1.0]])}, "P: expected finite real numbers"),
        ({"P": sparse.csr_array([[1j, 0.0], [0.0, 1.0]])}, "P: .* real numbers.*complex"),
        ({"q": []}, "q: expected finite real numbers of shape"),
        ({"G": [[1.0, 2.0, 3.0]], "h": [1.0]}, "G: expected a matrix with 2 columns"),
        ({"G": [[1.0, 2.0]]}, "h: expected an array, as G is given"),
        ({"b": [1.0]}, "A: expected an array, as b is given"),
        ({"G": [[1.0, 2.0]], "h": [1.0, 2.0]}, "h: expected 1 numbers, one for each row of G"),
        ({"G": [[1.0, 2.0]], "h": [-np.inf]}, "h: expected numbers above -1e.20"),
        ({"A": [[1.0, 2.0]], "b": [np.inf]}, "b: expected numbers of sizes below 1e.20"),
        ({"lb": [1.0, 2.0, 3.0]}, "lb: expected a number or 2 numbers"),
        ({"ub": np.nan}, "ub: expected a number or 2 numbers"),
        ({"lb": 1.0, "ub": [2.0, 0.0]}, r"got lb\[1\] = 1, ub\[1\] = 0"),
        ({"lb": np.inf}, "lb: expected lower bounds"),
        ({"P": np.ma.masked_array(np.eye(2), mask=np.eye(2))}, "P: .* got a masked array"),
        ({"q": [1e160, 0.0]}, r"q: expected terms of at most 1e\+150 .* got a size of 1e\+160"),
        ({"P": np.full((2, 2), 1e308)}, "P: .* got a size of inf"),
        ({"P": 1e100 * np.eye(2), "lb": -1e30, "ub": 1e30}, r"P: .* got a size of 1e\+160"),
        ({"ub": 1e154}, r"lb and ub: .* got a size of 1e\+154"),
        ({"G": [[1e155, 2.0]], "h": [1.0]}, r"G: .* got a size of 1e\+155"),
        ({"A": [[1.0, 2.0]], "b": [1e155]}, r"b: expected numbers of sizes below 1e\+20"),
        ({"constant": -1e200}, r"constant: .* got a size of 1e\+200"),
    ],
)
def test_wrong_arrays_are_named(arguments: dict[str, object], words: str) -> None:
    given = {"P": np.eye(2), "q": [0.0, 0.0], **arguments}
    with pytest.raises((ProblemError, InfeasibleProblem), match=words):
        quadratic_arrays(**given)


def test_large_data_that_cannot_overflow_are_taken() -> None:
    """Up to 1e150 within the bounds, and rows that hold everywhere have no size."""
    made = QuadraticProgram(
        1e100 * np.eye(2), [1e149, 0.0], G=[[1.0, 1.0]], h=[np.inf], lb=-1.0, ub=[1.0, 1e20]
    )
    assert made.objective(np.array([1.0, 1e20])) == pytest.approx(5e139 + 1e149, rel=1e-14)
