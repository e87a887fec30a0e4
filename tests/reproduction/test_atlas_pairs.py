"""The list of the atlas is complete, and its recipes give what it declares."""

from __future__ import annotations

import itertools
import math
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import braycurtis

import indefinite_opt as iopt
from indefinite_opt.errors import DataError, UnknownName
from reproduction.atlas import objects, similarities
from reproduction.atlas.matrices import computed
from reproduction.atlas.objects import Matrix, Molecule
from reproduction.atlas.pairs import POINTS, Pair, find, pairs, scaled
from reproduction.atlas.similarities import DISTANCES, SCORES

RNG = np.random.default_rng(0)


def made(pair: Pair, folder: Path) -> iopt.studies.Data:
    """The data of a pair; skipped with the reason if they are not there."""
    try:
        return pair.data(folder)
    except DataError as error:
        pytest.skip(str(error))


def test_the_list_is_long_and_every_entry_is_whole() -> None:
    listed = pairs()
    assert len(listed) >= 70
    assert len({pair.dataset for pair in listed.values()}) >= 50
    assert sum(pair.n >= 300 for pair in listed.values()) >= 10
    assert sum(pair.n >= 1000 and not pair.seen for pair in listed.values()) >= 6
    assert sum(len(pair.classes) > 2 for pair in listed.values()) >= 10
    for pair in listed.values():
        assert pair.source.origin, pair.name
        assert pair.source.licence, pair.name
        assert pair.source.citation, pair.name
        assert pair.similarity.meaning, pair.name
        assert pair.similarity.citation, pair.name
        assert pair.similarity.function in {*DISTANCES, *SCORES, *POINTS, "given"}
        assert pair.objects[0] in objects.LOADERS
        assert min(pair.classes) >= (5 if pair.seen else 10)  # one or two for each of five folds


def test_objects_that_the_first_run_had_are_not_among_the_unseen() -> None:
    seen, unseen = (
        {pair.dataset for pair in pairs().values() if pair.seen is each} for each in (True, False)
    )
    assert not seen & unseen
    assert sum(pair.seen for pair in pairs().values()) == 42
    shared = {pair.dataset for pair in find("hitchip-*").values()}
    assert shared == {"hitchip"}


def test_every_package_is_in_the_extra() -> None:
    text = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    named = {"Bio": "biopython", "gender_guesser": "gender-guesser", "skbio": "scikit-bio",
             "skimage": "scikit-image", "stop_words": "stop-words"}  # fmt: skip
    for package in {"rapidfuzz", *(pair.source.package for pair in pairs().values())}:
        assert not package or f'"{named.get(package, package)}>=' in text, package


@pytest.mark.parametrize(
    "name", [name for name, pair in pairs().items() if not pair.source.package]
)
def test_recipes_without_further_packages(
    name: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if pairs()[name].objects[0] in ("matrix", "table", "mixed_file"):
        request.getfixturevalue("data_dir")
    is_as_declared(pairs()[name], tmp_path)


@pytest.mark.parametrize("name", [name for name, pair in pairs().items() if pair.source.package])
def test_classes_of_packages(name: str) -> None:
    loader, *arguments = pairs()[name].objects
    try:
        found, labels = objects.LOADERS[loader](*arguments)
    except ModuleNotFoundError as missing:
        pytest.skip(str(missing))
    assert tuple(np.unique(labels, return_counts=True)[1]) == pairs()[name].classes
    if not isinstance(found, Matrix):
        assert len(found) == len(labels)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [name for name, pair in pairs().items() if pair.source.package and (pair.seen or pair.n < 700)],
)
def test_recipes_of_packages(name: str, tmp_path: Path) -> None:
    is_as_declared(pairs()[name], tmp_path)


def is_as_declared(pair: Pair, folder: Path) -> None:
    data = made(pair, folder)
    assert np.unique(data.y, return_counts=True)[1].tolist() == list(pair.classes)
    for kernel in data.kernels or (None,):
        problem = data.with_kernel(kernel)
        assert problem.K.shape == (pair.n, pair.n)
        assert np.isfinite(problem.K).all()
        assert np.array_equal(problem.K, problem.K.T)
    # A second reading takes what was kept.
    assert pair.data(folder).digest == data.digest


def test_a_set_that_is_not_there_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("INDEFINITE_OPT_DATA", raising=False)
    with pytest.raises(DataError, match=r"auralsonar.npz in the data folder.*INDEFINITE_OPT_DATA"):
        pairs()["aural-sonar"].data(tmp_path)
    monkeypatch.setattr(objects, "find_spec", lambda name: None)
    with pytest.raises(DataError, match=r"mutag-ged: expected the package grakel.*atlas"):
        pairs()["mutag-ged"].data(tmp_path)
    with pytest.raises(UnknownName, match="mutag-ged"):
        find("mutag-gde")


def test_distances_have_median_1_and_similarities_a_mean_diagonal_of_1() -> None:
    D = np.abs(RNG.normal(size=(7, 7)))
    values = scaled(Matrix("D", D + D.T)).values
    assert np.median(values[np.triu_indices(7, 1)]) == pytest.approx(1.0)
    assert not np.diag(values).any()
    assert np.trace(scaled(Matrix("K", D)).values) == pytest.approx(7.0)


def brute_force(first: Molecule, second: Molecule) -> float:
    """The least cost over all assignments of the atoms, by trying them."""
    n, m = first.atoms.size, second.atoms.size

    def bonds(each: Molecule, k: int) -> list[int]:
        return sorted(each.bonds[k][each.bonds[k] > 0].tolist())

    def apart(left: list[int], right: list[int]) -> int:
        kinds = {*left, *right}
        shared = sum(min(left.count(kind), right.count(kind)) for kind in kinds)
        return max(len(left), len(right)) - shared

    best = np.inf
    for places in itertools.permutations(range(n + m), n):
        cost = 0.0
        for i, j in enumerate(places):
            if j < m:
                cost += first.atoms[i] != second.atoms[j]
                cost += 0.5 * apart(bonds(first, i), bonds(second, j))
            else:
                cost += 1.0 + 0.5 * len(bonds(first, i))
        cost += sum(1.0 + 0.5 * len(bonds(second, j)) for j in range(m) if j not in places)
        best = min(best, cost)
    return best


def molecule(n: int) -> Molecule:
    bonds = np.triu(RNG.integers(0, 3, (n, n)), 1)
    return Molecule(RNG.integers(0, 2, n), bonds + bonds.T)


@pytest.mark.parametrize("sizes", [(1, 1), (2, 3), (3, 3), (4, 2), (4, 3)])
def test_the_assignment_of_atoms_costs_the_least(sizes: tuple[int, int]) -> None:
    first, second = map(molecule, sizes)
    assert similarities.assignment_cost(first, second) == pytest.approx(brute_force(first, second))


def compared(function: Callable[..., Any], first: Any, second: Any) -> float:
    """The value of two objects."""
    both = [
        np.array([each]) if isinstance(each, np.ndarray) else [each] for each in (first, second)
    ]
    return float(function(*both)[0, 0])


def test_dissimilarities_of_counts() -> None:
    counts = np.array([[6.0, 0.0, 2.0], [3.0, 1.0, 2.0], [0.0, 0.0, 5.0]])
    bray_curtis = similarities.bray_curtis(counts, counts)
    assert bray_curtis[0, 1] == pytest.approx(4.0 / 14.0)
    assert bray_curtis[1, 2] == pytest.approx(braycurtis(counts[1], counts[2]))
    assert similarities.canberra(counts, counts)[0, 1] == pytest.approx(3.0 / 9.0 + 1.0)


def test_distances_of_words() -> None:
    pytest.importorskip("rapidfuzz")
    words = ["winter", "water", "wine", "retina"]
    edits = similarities.edit(words, words[1:])
    for (i, first), (j, second) in itertools.product(enumerate(words), enumerate(words[1:])):
        assert edits[i, j] == iopt.datasets.edit_distance(first, second)
    # CA and ABC: an exchange, and an insertion between the letters that were exchanged.
    assert compared(similarities.damerau, "CA", "ABC") == 2.0
    assert compared(similarities.damerau, "abcd", "acbd") == 1.0
    # The similarities are in the table of Winkler (1990).
    for first, second, score in [("MARTHA", "MARHTA", 0.9611), ("DIXON", "DICKSONX", 0.8133)]:
        distance = compared(similarities.jaro_winkler, first, second)
        assert distance == pytest.approx(1.0 - score, abs=1e-4)


def test_longest_common_subsequences() -> None:
    pytest.importorskip("rapidfuzz")

    def parts(word: str) -> set[str]:
        """All subsequences."""
        lengths = range(len(word) + 1)
        return {"".join(part) for n in lengths for part in itertools.combinations(word, n)}

    for first, second in [("winter", "water"), ("CC(=O)OC", "CCN=O"), ("abc", "xyz")]:
        common = max(map(len, parts(first) & parts(second)))
        longer = max(len(first), len(second))
        assert compared(similarities.lcs, first, second) == pytest.approx(1.0 - common / longer)
        share = common**2 / (len(first) * len(second))
        assert compared(similarities.nlcs, first, second) == pytest.approx(share)


def test_compression_distances() -> None:
    first, second = "the rain in Spain " * 20, "stays mainly in the plain " * 30
    both, one, other = (
        len(zlib.compress(text.encode(), 9)) for text in (first + second, first, second)
    )
    turned = len(zlib.compress((second + first).encode(), 9))
    expected = (min(both, turned) - min(one, other)) / max(one, other)
    assert compared(similarities.ncd, first, second) == pytest.approx(expected)
    assert compared(similarities.ncd, second, first) == pytest.approx(expected)
    assert compared(similarities.ncd, first, first) < 0.25 < expected


def warped(first: Any, second: Any, cost: Callable[[int, int], float], step: float = 0.0) -> float:
    """The least sum of costs over all warpings, by trying them; some steps have a penalty."""

    def rest(i: int, j: int) -> float:
        if (i, j) == (len(first) - 1, len(second) - 1):
            return cost(i, j)
        ways = [
            rest(k, m) + step * (k == i or m == j)
            for k, m in ((i + 1, j), (i, j + 1), (i + 1, j + 1))
            if k < len(first) and m < len(second)
        ]
        return cost(i, j) + min(ways)

    return rest(0, 0)


@pytest.mark.slow
def test_warpings_are_the_best_of_all() -> None:
    pytest.importorskip("aeon")
    a, b = RNG.normal(size=(2, 6))

    def squares(i: int, j: int) -> float:
        return float((a[i] - b[j]) ** 2)

    def weighted(i: int, j: int) -> float:
        return squares(i, j) / (1.0 + math.exp(-0.05 * (abs(i - j) - 3.0)))

    def slopes(x: Any) -> Any:
        """The mean of the slope to the point before and that over both neighbours."""
        return 0.5 * ((x[1:-1] - x[:-2]) + 0.5 * (x[2:] - x[:-2]))

    def of_slopes(i: int, j: int) -> float:
        return float((slopes(a)[i] - slopes(b)[j]) ** 2)

    one, other = a[None], b[None]
    expected = warped(a, b, squares)
    assert compared(similarities.dtw, one, other) ** 2 == pytest.approx(expected)
    assert compared(similarities.wdtw, one, other) == pytest.approx(warped(a, b, weighted))
    assert compared(similarities.adtw, one, other) == pytest.approx(warped(a, b, squares, 1.0))
    expected = warped(a[1:-1], b[1:-1], of_slopes)
    assert compared(similarities.ddtw, one, other) ** 2 == pytest.approx(expected)


def test_pictures_that_are_shifted_are_alike() -> None:
    whole = RNG.uniform(size=(14, 14))
    first, second = whole[2:12, 2:12], whole[3:13, 1:11]

    def one_way(a: Any, b: Any) -> float:
        shifts = itertools.product(range(5), range(5))
        return min(math.dist(a[2:8, 2:8].ravel(), b[i : i + 6, j : j + 6].ravel())
                   for i, j in shifts)  # fmt: skip

    assert compared(similarities.shifted, first, second) == pytest.approx(0.0, abs=1e-12)
    other = RNG.uniform(size=(10, 10))
    expected = 0.5 * (one_way(first, other) + one_way(other, first))
    assert compared(similarities.shifted, first, other) == pytest.approx(expected)


def test_tangents_of_a_round_spot() -> None:
    """Blurred by 1, exp(-r²/2s²) is s²/(s² + 1) exp(-r²/2(s² + 1)), with a known gradient."""
    y, x = np.mgrid[-15:16, -15:16].astype(float)
    wide = 3.0**2 + 1.0
    spot, blurred = np.exp(-(x**2 + y**2) / 18.0), 0.9 * np.exp(-(x**2 + y**2) / (2.0 * wide))
    right, down = -x / wide * blurred, -y / wide * blurred
    found = similarities.tangents(spot).T.reshape(7, 31, 31)
    expected = [
        right, down, x * right + y * down, 0.0 * x, x * right - y * down, y * right + x * down,
        right**2 + down**2,
    ]  # fmt: skip
    # Central differences have an error of a sixth of the third derivative, at most 0.01 here.
    inner = slice(3, -3)
    for mine, known in zip(found, expected, strict=True):
        assert mine[inner, inner] == pytest.approx(known[inner, inner], abs=0.1)


def test_tangent_distances_are_those_of_least_squares() -> None:
    first, second = RNG.uniform(size=(2, 9, 9))
    ways = []
    for a, b in ((first, second), (second, first)):
        away = (b - a).ravel()
        plane = similarities.tangents(a)
        ways.append(np.linalg.norm(away - plane @ np.linalg.lstsq(plane, away)[0]))
    assert compared(similarities.tangent, first, second) == pytest.approx(np.mean(ways))


def test_distances_of_sets_of_points() -> None:
    first, second = RNG.normal(size=(2, 5, 2))
    apart = [[math.dist(a, b) for b in second] for a in first]
    there = np.mean([min(row) for row in apart])
    back = np.mean([min(column) for column in zip(*apart, strict=True)])
    assert compared(similarities.hausdorff, first, second) == pytest.approx(max(there, back))
    least = min(
        np.mean([apart[i][j] for i, j in enumerate(order)])
        for order in itertools.permutations(range(5))
    )
    assert compared(similarities.earth_movers, first, second) == pytest.approx(least)


def test_gowers_dissimilarity_leaves_out_what_is_missing() -> None:
    table = pd.DataFrame({
        "age": [20.0, 30.0, 40.0], "sex": ["f", "m", None], "eyes": ["blue", "brown", "blue"],
        "height": [1.6, np.nan, 2.0],
    })  # fmt: skip
    features = objects.gowers(table)
    found = similarities.gower(features, features)
    expected = [[0.0, (0.5 + 1 + 1) / 3, (1 + 0 + 1) / 3], [0.0, 0.0, (0.5 + 1) / 2]]
    assert found[:2] == pytest.approx(np.array([expected[0], [expected[0][1], 0.0, 0.75]]))
    assert np.array_equal(found, found.T)


def test_similarities_of_sets_and_profiles() -> None:
    first, second = np.array([1.0, 1, 1, 0, 0]), np.array([0.0, 1, 1, 1, 1])
    assert compared(similarities.jaccard, first, second) == pytest.approx(1.0 - 2 / 5)
    assert compared(similarities.overlap, first, second) == pytest.approx(2 / 3)
    assert compared(similarities.kulczynski, first, second) == pytest.approx((2 / 3 + 2 / 4) / 2)
    a, b = RNG.normal(size=(2, 8))
    expected = 1.0 - np.corrcoef(a, b)[0, 1]
    assert compared(similarities.correlation, a, b) == pytest.approx(expected)


def test_intervals_of_a_tune() -> None:
    """A scale in C, and the same one octave higher, as ABC notation spells them."""
    assert objects.intervals("X:1\nK:C\nCDEF GABc|") == "n" * 7
    assert objects.intervals('X:1\nK:C\nc2 d/e^f z|{a}g"Am"a!f!b c\'|') == "n" * 7
    assert objects.intervals("X:1\nK:G\nR:reel\nC,C c' % Coda\n") == "t{"


@pytest.mark.parametrize("name", ["hausdorff", "tangent", "gower", "kulczynski"])
def test_blocks_of_several_processes_give_the_same_numbers(name: str, tmp_path: Path) -> None:
    shape = (70, 6, 6) if name in ("hausdorff", "tangent") else (70, 12)
    found = RNG.integers(0, 2, shape).astype(float)
    found[:, 0] = 1.0
    serial, parallel = (computed(name, found, tmp_path / f"{jobs}", jobs) for jobs in (1, 2))
    assert np.array_equal(serial.values, parallel.values)
    assert np.array_equal(serial.values, serial.values.T)
    whole = (DISTANCES | SCORES)[name](found, found)
    assert serial.values == pytest.approx(whole, abs=1e-9)
    assert serial.letter == ("D" if name in DISTANCES else "K")
    assert not list(tmp_path.iterdir())


def test_blocks_that_were_kept_are_not_computed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = RNG.integers(1, 9, (100, 3)).astype(float)

    def broken(some: Any, others: Any) -> Any:
        if len(others) < 50:
            raise KeyboardInterrupt
        asked.append(len(others))
        return similarities.canberra(some, others)

    asked: list[int] = []
    monkeypatch.setitem(DISTANCES, "canberra", broken)
    with pytest.raises(KeyboardInterrupt):
        computed("canberra", counts, tmp_path / "blocks")
    assert len(list((tmp_path / "blocks").glob("*.npy"))) == len(asked) == 26
    monkeypatch.setitem(DISTANCES, "canberra", similarities.canberra)
    kept = np.load(tmp_path / "blocks" / "0.npy")
    np.save(tmp_path / "blocks" / "0.npy", kept + 1.0)
    found = computed("canberra", counts, tmp_path / "blocks").values
    apart = found - similarities.canberra(counts, counts)
    assert apart[:2] == pytest.approx(1.0)
    assert apart[2:, 2:] == pytest.approx(0.0, abs=1e-12)


def test_alignments_are_those_of_biopython() -> None:
    pytest.importorskip("skbio", exc_type=ImportError)
    Align = pytest.importorskip("Bio.Align")
    aligner = Align.PairwiseAligner(
        mode="local", open_gap_score=-12, extend_gap_score=-1,
        substitution_matrix=Align.substitution_matrices.load("BLOSUM62"),
    )  # fmt: skip
    sequences = [
        "GLWSKIKEVGKEAAKAAAKAAGKAALGAVSEAV",
        "AAKKWAKAKWAKAKKWAKAA",
        "GIGKFLHSAKKFGKAFVGEIMNS",
    ]
    found = similarities.smith_waterman(sequences, sequences)
    own = [aligner.score(each, each) for each in sequences]
    for i, j in itertools.product(range(3), range(3)):
        score = aligner.score(sequences[i], sequences[j])
        assert found[i, j] == pytest.approx(score / np.sqrt(own[i] * own[j]))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "file"), [("mutag-ged", "ged-mutag"), ("gunpoint-dtw", "dtw-gunpoint")]
)
def test_matrices_are_those_of_the_data_folder(
    name: str, file: str, tmp_path: Path, data_dir: Path
) -> None:
    """Other code computed them before; some of its series were in single precision."""
    path = data_dir / "field" / f"{file}.npz"
    if not path.is_file():
        pytest.skip(f"no file {path}")
    with np.load(path) as arrays:
        D = arrays["D"]
    mine = made(pairs()[name], tmp_path).problem.D
    assert mine == pytest.approx(D / np.median(D[np.triu_indices(len(D), 1)]), abs=1e-5)
