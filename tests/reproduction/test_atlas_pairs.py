"""The list of the atlas is complete, and its recipes give what it declares."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.distance import braycurtis

import indefinite_opt as iopt
from indefinite_opt.errors import DataError, UnknownName
from reproduction.atlas import objects, similarities
from reproduction.atlas.objects import Matrix, Molecule
from reproduction.atlas.pairs import POINTS, Pair, find, pairs, scaled

RNG = np.random.default_rng(0)


def made(pair: Pair, folder: Path) -> iopt.studies.Data:
    """The data of a pair; skipped with the reason if they are not there."""
    try:
        return pair.data(folder)
    except DataError as error:
        pytest.skip(str(error))


def test_the_list_is_long_and_every_entry_is_whole() -> None:
    listed = pairs()
    assert len(listed) >= 30
    assert sum(pair.n >= 300 for pair in listed.values()) >= 10
    assert sum(len(pair.classes) > 2 for pair in listed.values()) >= 10
    for pair in listed.values():
        assert pair.source.origin, pair.name
        assert pair.source.licence, pair.name
        assert pair.source.citation, pair.name
        assert pair.similarity.meaning, pair.name
        assert pair.similarity.citation, pair.name
        assert pair.similarity.function in {*similarities.SIMILARITIES, *POINTS}
        assert pair.objects[0] in objects.LOADERS
        assert min(pair.classes) >= 5  # one for each of five folds


def test_every_package_is_in_the_extra() -> None:
    text = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    named = {"Bio": "biopython", "skbio": "scikit-bio", "stop_words": "stop-words"}
    for pair in pairs().values():
        package = pair.source.package
        assert not package or f'"{named.get(package, package)}>=' in text, package


@pytest.mark.parametrize(
    "name", [name for name, pair in pairs().items() if not pair.source.package]
)
def test_recipes_without_further_packages(
    name: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if pairs()[name].objects[0] in ("matrix", "table"):
        request.getfixturevalue("data_dir")
    is_as_declared(pairs()[name], tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, pair in pairs().items() if pair.source.package])
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


def test_edit_distances_and_dissimilarities_of_counts() -> None:
    words = similarities.edit(["winter", "water", "wine"])
    assert words.values.tolist() == [[0, 2, 2], [2, 0, 3], [2, 3, 0]]
    counts = np.array([[6.0, 0.0, 2.0], [3.0, 1.0, 2.0], [0.0, 0.0, 5.0]])
    bray_curtis = similarities.bray_curtis(counts).values
    assert bray_curtis[0, 1] == pytest.approx(4.0 / 14.0)
    assert bray_curtis[1, 2] == pytest.approx(braycurtis(counts[1], counts[2]))
    assert similarities.canberra(counts).values[0, 1] == pytest.approx(3.0 / 9.0 + 1.0)


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
    found = similarities.smith_waterman(sequences).values
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
