"""Data sets: counts of the sources, stated geometry, closed-form optima, bad files."""

from __future__ import annotations

import gzip
import re
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.error import URLError

import numpy as np
import pandas as pd
import pytest
import sklearn.datasets
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse.linalg import eigsh
from scipy.spatial.distance import cdist

import indefinite_opt as iopt
from helpers.programs import Program
from indefinite_opt.errors import DataError, ParameterError, ProblemError, UnknownName
from indefinite_opt.problem import datasets
from indefinite_opt.problem.datasets import Dataset, read
from indefinite_opt.problem.kernels import Linear

Array = np.ndarray


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**_: object) -> None:
        warnings.warn("a network error, trying again", stacklevel=2)  # as scikit-learn does
        raise URLError("no network in tests")

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", refuse)


@pytest.fixture
def _no_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("INDEFINITE_OPT_DATA", raising=False)


@pytest.mark.parametrize(
    ("name", "shape", "positive", "classes"),
    [
        ("breast_cancer", (569, 30), 212, ("benign", "malignant")),
        ("digits-3-5", (365, 64), 183, ("5", "3")), ("digits-4-6", (362, 64), 181, ("6", "4")),
        ("iris-versicolor-virginica", (100, 4), 50, ("virginica", "versicolor")),
        ("wine-1-2", (130, 13), 59, ("2", "1")), ("wine-2-3", (119, 13), 71, ("3", "2")),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("_no_folder")
def test_bundled(
    name: str, shape: tuple[int, int], positive: int, classes: tuple[str, str]
) -> None:
    data = datasets.load(name)
    assert data.name == name
    assert data.points.shape == shape == (data.n, len(data.feature_names))
    assert (int((data.y == 1).sum()), set(data.y.tolist())) == (positive, {-1, 1})
    assert data.classes == classes
    assert data.kernel is not None
    assert np.isfinite(data.kernel(data.points)).all()
    if name == "digits-3-5":  # digits are scaled and others are not
        assert (data.points.min(), data.points.max()) == (0.0, 1.0)
    if name == "wine-2-3":
        assert_array_equal(data.points, sklearn.datasets.load_wine().data[59:])


def test_checkerboard() -> None:
    data = datasets.load("checkerboard(n=300, cells=3, seed=4)")
    even = [(int(1.5 * (a + 1)) + int(1.5 * (b + 1))) % 2 == 0 for a, b in data.points]
    assert_array_equal(data.y, np.where(even, 1, -1))
    assert np.abs(data.points).max() <= 1
    again = datasets.checkerboard(n=300, cells=3, seed=4)
    assert_array_equal(again.points, data.points)
    assert not np.array_equal(datasets.checkerboard(n=300, cells=3, seed=5).X, data.points)


def test_checkerboard_overlap_changes_labels_near_boundaries_only() -> None:
    clean = datasets.checkerboard(n=1000, cells=2, seed=0)
    noisy = datasets.checkerboard(n=1000, cells=2, overlap=0.2, seed=0)
    assert_array_equal(clean.points, noisy.points)
    changed = clean.y != noisy.y
    # 200 fair coins change 100 labels; 40 is more than five standard deviations (7.1).
    assert abs(int(changed.sum()) - 100) < 40
    distance = np.abs(clean.points).min(axis=1)  # with two cells the boundaries are the axes
    assert distance[changed].max() <= np.sort(distance)[199]


def test_balls_touch_at_most() -> None:
    """Centres that are as far apart as radii and distances say fit in three dimensions."""
    data = datasets.load("balls(n=60, seed=2)")
    assert data.D is not None
    radii = np.where(data.y > 0, 1.0, 2.0)
    between = data.D + radii[:, None] + radii[None, :]
    np.fill_diagonal(between, 0.0)
    assert data.D.min() == 0.0
    assert data.D[~np.eye(60, dtype=bool)].min() > 0.0
    centred = np.eye(60) - 1.0 / 60.0
    values = np.linalg.eigvalsh(-0.5 * centred @ between**2 @ centred)
    assert np.abs(values[:57]).max() < 1e-9 * values[-1]
    assert between.max() <= 100.0 * np.sqrt(3.0)


@pytest.mark.parametrize(
    ("p", "printed"), [(1.0, -1873.9), pytest.param(0.2, -2.1096e8, marks=pytest.mark.slow)]
)
def test_gaussians_have_the_printed_eigenvalues(p: float, printed: float) -> None:
    """Loosli, Ong & Canu (2013), Table 3, GaussM1 and GaussM02."""
    data = datasets.gaussians(p=p)
    assert data.D is not None
    (least,) = eigsh(data.D, 1, which="SA", return_eigenvectors=False, tol=1e-4)
    assert least == pytest.approx(printed, rel=0.01)


def squared_distances(X: Array) -> Array:
    """In R^(1, q), by explicit differences."""
    differences = X[:, None, :] - X[None, :, :]
    squares: Array = differences[..., 0] ** 2 - (differences[..., 1:] ** 2).sum(axis=-1)
    return squares


def class_mean_distance(data: Dataset) -> float:
    difference = data.points[data.y == 1].mean(axis=0) - data.points[data.y == -1].mean(axis=0)
    return float(difference[0] ** 2 - (difference[1:] ** 2).sum())


@pytest.mark.parametrize("seed", [0, 1])
def test_geometry_of_haasdonks_examples(seed: int) -> None:
    separable = datasets.haasdonk_figure1a(seed=seed)
    between = squared_distances(separable.points)[separable.y == 1][:, separable.y == -1]
    assert between.min() == pytest.approx(4.0, rel=1e-12)  # tip to tip
    assert class_mean_distance(separable) > 4.0

    overlapping = datasets.haasdonk_figure1c(n=40, seed=seed)
    assert class_mean_distance(overlapping) == pytest.approx(4 * (1 - 4 / 40) ** 2, rel=1e-12)
    # Each class has a point that is the mean of 19 points of the other: the hulls meet.
    X, y = overlapping.points, overlapping.y
    assert_allclose(X[y == 1][-1], X[y == -1][:-1].mean(axis=0), atol=1e-15)

    unsuitable = datasets.haasdonk_figure2d(seed=seed)
    off_diagonal = squared_distances(unsuitable.points)[~np.eye(unsuitable.n, dtype=bool)]
    assert off_diagonal.min() >= 0.19
    assert class_mean_distance(unsuitable) <= -0.51


def test_l1_examples_are_indefinite_with_positive_class_mean_distance() -> None:
    diamond = datasets.haasdonk_figure4a(seed=0)
    for data, n in ((diamond, 68), (datasets.haasdonk_figure4b(seed=0), 40)):
        assert data.n == n
        assert data.kernel is not None
        K = data.kernel(data.points)
        centre = np.eye(n) - 1 / n
        assert np.linalg.eigvalsh(centre @ K @ centre)[0] < -1e-5  # far beyond rounding
        c = np.where(data.y == 1, 1, -1) / (n / 2)
        assert c @ K @ c > 0
    inside = np.abs(diamond.points - 0.5).sum(axis=1) < 0.25
    assert_array_equal(inside, diamond.y == 1)
    assert 0 <= diamond.points.min() <= diamond.points.max() <= 1


def test_the_best_error_in_figure_4b_is_known() -> None:
    """The vertical line through the mean is Bayes-optimal, with the error Φ(-1) = 0.159."""
    data = datasets.haasdonk_figure4b(n=8000, seed=100)
    error = np.mean((data.points[:, 0] > data.points[:, 0].mean()) != (data.y > 0))
    assert min(error, 1.0 - error) == pytest.approx(0.159, abs=0.02)


def local_maxima(K: Array, y: Array, C: float) -> list[tuple[float, ...]]:
    """Every isolated local maximum of the SVM dual: the KKT points of its faces, by curvature."""
    program = Program.of(K, y, iopt.SVMDual(C=C))
    points, _ = program.stationary_points()
    return sorted(tuple(x) for x in points if program.least_curvature(x) > -1e-9)


@pytest.mark.parametrize(
    ("spec", "count"),
    [("haasdonk-lemma4(q=1)", 2), ("haasdonk-lemma4(q=2)", 4), ("haasdonk-lemma4(q=3, shift=1)", 8),
     ("haasdonk-lemma4(q=2, shift=0)", 4), ("haasdonk-figure3(n=6)", 2),
     ("haasdonk-figure3(n=8, shift=0.9, seed=3)", 2), ("haasdonk-figure1a(n=6)", 1)],
)  # fmt: skip
def test_optima_are_all_the_local_maxima(spec: str, count: int) -> None:
    data = datasets.load(spec)
    assert data.optima is not None
    X, y, C = data.points, data.y, data.optima["C"]
    K = X[:, :1] @ X[:, :1].T - X[:, 1:] @ X[:, 1:].T
    alpha, objective = data.optima["alpha"], data.optima["objective"]
    # The optima survive any larger C.
    for one in (C, 0.6, 100.0) if spec == "haasdonk-lemma4(q=2)" else (C,):
        found = local_maxima(K, y, one)
        assert alpha.shape == np.shape(found) == (count, data.n)
        # Linear systems with condition numbers below 1e3.
        assert_allclose(found, sorted(map(tuple, alpha)), atol=1e-10)
    values = [a.sum() - 0.5 * (a * y) @ K @ (a * y) for a in alpha]
    assert_allclose(objective, values, rtol=1e-12)


@pytest.mark.parametrize("q", [1, 3])
def test_lemma4_embeds_in_q_imaginary_dimensions_and_separates(q: int) -> None:
    data = datasets.haasdonk_lemma4(q=q, shift=0.5)
    assert data.optima is not None
    n = data.n
    assert n == 2**q + 1
    centre = np.eye(n) - 1 / n
    inertia = np.linalg.eigvalsh(-0.5 * centre @ squared_distances(data.points) @ centre)
    assert int((inertia > 1e-9).sum()) == 1
    assert int((inertia < -1e-9).sum()) == q
    assert_allclose(
        data.optima["objective"], [0.5 / (1 + 0.5 * k / 2**q) for k in range(2**q)], rtol=1e-12
    )
    signs = np.append(1.0, -np.ones(q))
    for alpha in data.optima["alpha"]:
        scores = data.points @ (signs * ((alpha * data.y) @ data.points))
        assert scores[data.y == 1].min() - scores[data.y == -1].max() == pytest.approx(2.0)


# --- named sets ----------------------------------------------------------------------------

# Rows, features and labels 1 of the complete rows, as the data folder's own notes count them.
TABLES = [
    ("a1a", 1605, 123, 395), ("australian", 690, 14, 307), ("breast", 683, 9, 239),
    ("cleve", 297, 13, 137), ("corral", 160, 6, 70), ("diabetes", 768, 8, 268),
    ("pima", 768, 8, 268), ("german", 1000, 24, 300), ("german_numeric", 1000, 24, 300),
    ("glass2", 163, 9, 87), ("heart", 270, 13, 120), ("hepatitis", 80, 19, 13),
    ("ionosphere", 351, 34, 225), ("liver", 345, 6, 145), ("mofn_3_7_10", 1324, 10, 1032),
    ("sonar", 208, 60, 111), ("vote", 232, 16, 108),
]  # fmt: skip


def test_tables(data_dir: Path) -> None:
    for name, rows, features, positive in TABLES:
        data = datasets.load(name)
        assert (*data.points.shape, int((data.y == 1).sum())) == (rows, features, positive), name
        assert set(data.y.tolist()) == {-1, 1}


@pytest.mark.parametrize(
    ("name", "letters", "rows", "positive"),
    [
        ("crx", ["A1", "A4", "A5", "A6", "A7", "A9", "A10", "A12", "A13"], 653, 296),
        ("flare", ["class", "largest_spot_size", "spot_distribution"], 1066, 182),
    ],
)
def test_one_hot_columns(
    data_dir: Path, name: str, letters: list[str], rows: int, positive: int
) -> None:
    frame = pd.read_csv(data_dir / "uci" / f"{name}.csv").dropna()
    levels = [frame[column].nunique() for column in letters]
    numeric = frame.shape[1] - 1 - len(letters)
    data = datasets.load(name)
    assert data.points.shape == (rows, numeric + sum(1 if k == 2 else k for k in levels))
    assert int((data.y == 1).sum()) == positive
    for column in letters:
        picked = [i for i, f in enumerate(data.feature_names) if f.startswith(f"{column}=")]
        level = frame[column].to_numpy()
        for i in picked:
            expected = level == data.feature_names[i].split("=")[1]
            assert_array_equal(data.points[:, i], expected)
    if name == "crx":
        assert data.points[0, data.feature_names.index("A14")] == 202  # written 00202


def test_imputation(data_dir: Path) -> None:
    for name, rows in (("crx", 690), ("hepatitis", 155), ("vote", 435), ("breast", 699)):
        data = datasets.load(f"{name}(missing=impute)")
        assert len(data.points) == rows
    given = pd.read_csv(data_dir / "uci" / "breast.csv")["bare_nuclei"]
    column, empty = data.points[:, data.feature_names.index("bare_nuclei")], given.isna().to_numpy()
    assert int(empty.sum()) == 16
    assert set(column[empty]) == {float(np.nanmedian(given))}


@pytest.mark.parametrize(
    ("name", "positive", "negative"), [("usps-3-5", 824, 716), ("usps-4-6", 852, 834)]
)
def test_usps(data_dir: Path, name: str, positive: int, negative: int) -> None:
    data = datasets.load(name)
    assert data.points.shape == (positive + negative, 256)
    assert int((data.y == 1).sum()) == positive
    assert (data.points.min(), data.points.max()) == (-1.0, 1.0)


# The least and the largest eigenvalue, of which the sources print four to six digits, and labels 1.
PROXIMITIES = [
    (-322.3446, 2223.73, {"": 144, "-HA": 72, "-hb": 72, "-M": 39, "-G": 30}, "protein"),
    (-23.39, 182.61, {"-V": 16, "-A": 7, "-S": 16, "-F": 14}, "catcortex53"),
    (-4818.6, 29765.2, {"": 72}, "coilyork"), (-2.096, 35.07, {"": 50}, "auralsonar"),
]  # fmt: skip


@pytest.mark.parametrize(("least", "largest", "positive", "name"), PROXIMITIES)
def test_proximities(
    data_dir: Path, least: float, largest: float, positive: dict[str, int], name: str
) -> None:
    for labels, count in positive.items():
        data = datasets.load(f"{name}{labels}")
        assert int((data.y == 1).sum()) == count
        matrix = data.K if name == "auralsonar" else data.D
        assert matrix is not None
        assert (matrix == matrix.T).all()
    assert np.linalg.eigvalsh(matrix)[[0, -1]] == pytest.approx([least, largest], rel=2e-4)


@pytest.mark.usefixtures("_no_folder")
def test_names_and_describe_agree() -> None:
    names = datasets.names()
    assert {"heart", "pima", "usps-3-5", "protein-HA", "catcortex53-F", "digits-4-6"} <= set(names)
    assert {"checkerboard", "haasdonk-lemma4"} <= set(names)
    assert list(datasets.describe()) == names
    assert all(datasets.describe().values())


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("checkerboard(overlap=1.5)", "overlap: expected a number from 0 to 1, got 1.5"),
        ("checkerboard(seed=-1)", "seed: expected an integer of at least 0, got -1"),
        ("haasdonk-figure1a(n=7)", "n: expected an even number, got 7"),
        ("haasdonk-figure2d(n=6)", "n: expected a multiple of 4, got 6"),
        ("haasdonk-lemma4(q=11)", "q: expected an integer from 1 to 10 (there are 2^q points), "),
    ],
)
def test_ranges_of_generators(spec: str, said: str) -> None:
    with pytest.raises(ParameterError, match=f"^{re.escape(said)}"):
        datasets.load(spec)


@pytest.mark.usefixtures("_no_folder")
def test_unknown_names() -> None:
    assert datasets.load("Breast-Cancer").name == "breast_cancer"
    with pytest.raises(UnknownName, match="Did you mean heart"):
        datasets.load("hart")
    with pytest.raises(UnknownName, match="parameter of checkerboard"):
        datasets.load("checkerboard(size=3)")
    with pytest.raises(UnknownName, match="missing: expected one of drop, impute"):
        datasets.load("heart(missing=guess)")


def test_scaler() -> None:
    points = np.array([[0.0, 5.0], [2.0, 5.0], [4.0, 8.0]])
    a = np.sqrt(1.5)
    for kind, first in (("minmax", [-1, 0, 1]), ("unit", [0, 0.5, 1]), ("standard", [-a, 0, a])):
        scaled = datasets.scaler(kind).fit_transform(points)
        assert_allclose(scaled[:, 0], first, atol=1e-15)
        if kind != "standard":
            assert_allclose(scaled[:, 1], [first[0], first[0], 1], atol=1e-15)
    assert datasets.scaler(None) is datasets.scaler("none") is None
    for unknown in ("minimax", "none-all", "minmax-all-all", 1):
        with pytest.raises(UnknownName, match="kind"):
            datasets.scaler(unknown)
        with pytest.raises(UnknownName, match="scaling"):
            iopt.KernelProblem.from_data(points, [0, 1, 1], scaling=unknown)


def test_a_data_set_has_exactly_one_of_X_K_D() -> None:
    y, eye = np.array([1, -1]), np.eye(2)
    assert Dataset(name="pair", y=y, K=eye, kernel=Linear()).n == 2
    with pytest.raises(ProblemError, match="balls"):  # only points have features
        _ = datasets.balls(n=4).points
    with pytest.raises(ProblemError, match="exactly one of X, K, D, got none"):
        Dataset(name="nothing", y=y)
    with pytest.raises(ProblemError, match="got X and D"):
        Dataset(name="both", y=y, X=eye, D=eye)
    for wrong in ({"X": np.eye(3)}, {"K": np.ones((2, 3))}, {"D": np.eye(3)}):
        with pytest.raises(ProblemError, match=r"2 rows as in y|a square matrix"):
            Dataset(name="wrong", y=y, **wrong)


@pytest.mark.usefixtures("_no_folder")
def test_missing_file_without_openml(tmp_path: Path) -> None:
    for name in ("flare", "protein", "coilyork", "auralsonar", "catcortex53-V"):
        with pytest.raises(DataError, match="INDEFINITE_OPT_DATA"):
            datasets.load(name)
        with pytest.raises(DataError, match="no such file"):
            datasets.load(name, data_dir=tmp_path)


def test_missing_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    gone = str(tmp_path / "gone")
    with pytest.raises(DataError, match=r"^data_dir: .*no folder"):
        datasets.load("heart", data_dir=gone)
    monkeypatch.setenv("INDEFINITE_OPT_DATA", gone)
    with pytest.raises(DataError, match=r"^INDEFINITE_OPT_DATA: .*no folder"):
        datasets.load("usps-3-5")
    assert datasets.load("checkerboard(n=10)").n == 10  # needs no folder


@pytest.mark.usefixtures("_no_folder")
@pytest.mark.parametrize("name", ["heart", "usps-3-5", "cleve"])
def test_network_failure_is_a_data_error(name: str) -> None:
    with pytest.raises(DataError, match=r"no network in tests.*INDEFINITE_OPT_DATA"):
        datasets.load(name)


def fake_heart(rows: int = 270, positive: int = 120) -> SimpleNamespace:
    target = pd.Series(["present"] * positive + ["absent"] * (rows - positive), dtype="category")
    data = pd.DataFrame({"age": np.arange(rows, dtype=float), "sex": ["m", "f"] * (rows // 2)})
    return SimpleNamespace(data=data, target=target)


@pytest.mark.usefixtures("_no_folder")
def test_openml_result_is_converted(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, object] = {}

    def fetch(**parameters: object) -> SimpleNamespace:
        asked.update(parameters)
        return fake_heart()

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
    data = datasets.load("heart")
    assert asked["data_id"] == 53
    assert data.feature_names == ("age", "sex=m")
    assert data.points[:2].tolist() == [[0.0, 1.0], [1.0, 0.0]]
    assert data.y.tolist() == [1] * 120 + [-1] * 150


@pytest.mark.usefixtures("_no_folder")
def test_openml_result_of_another_size(monkeypatch: pytest.MonkeyPatch) -> None:
    for rows, positive in ((268, 120), (270, 122)):
        fake = fake_heart(rows, positive)
        monkeypatch.setattr(sklearn.datasets, "fetch_openml", lambda fake=fake, **_: fake)
        with pytest.raises(DataError, match="OpenML 53: expected 270 rows"):
            datasets.load("heart")


@pytest.mark.usefixtures("_no_folder")
def test_openml_usps(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = [1553, 1269, 929, 824, 852, 716, 834, 792, 708, 821]
    labels = pd.Series(np.repeat(np.arange(1, 11), counts).astype(str), dtype="category")
    pixels = pd.DataFrame(np.zeros((9298, 256)))
    pixels.iloc[:, 0] = labels.astype(float)
    bunch = SimpleNamespace(data=pixels, target=labels)
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", lambda **_: bunch)
    data = datasets.load("usps-3-5")
    assert data.points[data.y == 1, 0].tolist() == [4.0] * 824  # OpenML calls digit 3 "4"
    assert data.points[data.y == -1, 0].tolist() == [6.0] * 716
    bunch.target = pd.Series(np.repeat(np.arange(10), counts).astype(str), dtype="category")
    with pytest.raises(DataError, match="digits 0 to 9"):
        datasets.load("usps-3-5")


def write(folder: Path, name: str, content: bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def test_own_table(tmp_path: Path) -> None:
    write(tmp_path, "uci/mine.csv", b"a,b,c,label\n1,x,NA,1\n2,y,u,-1\n,z,u,1\n4,x,NA,-1\n")
    assert "mine" in datasets.names(tmp_path)
    data = datasets.load("mine", data_dir=tmp_path)
    assert data.feature_names == ("a", "b=y", "c=u")
    assert data.points.tolist() == [[1, 0, 0], [2, 1, 1], [4, 0, 0]]  # b, c have two levels left
    filled = datasets.load("mine(missing=impute)", data_dir=tmp_path)
    assert filled.feature_names == ("a", "b=x", "b=y", "b=z", "c=u")
    assert filled.points[2].tolist() == [2, 0, 0, 1, 1]


MALFORMED = [
    b"", b"a,label\n", b"a,b\n1,2\n", b"label\n1\n", b"a,label\n1,2\n", b"a,label\n1,\n",
    b"a,label\n1,1\n1,2,3,4\n", b"a,label\n\xff\xfe,1\n", b"a,label\ninf,1\n", b"a,label\n,1\n",
    b"a,label\n1,yes\n", b"a,label\n1,x\n2,1\n", b"a,label\n" + b"9" * 400 + b",-1\n2,1\n",
]  # fmt: skip


def test_malformed_tables(tmp_path: Path) -> None:
    for content in MALFORMED:
        write(tmp_path, "uci/mine.csv", content)
        with pytest.raises(DataError, match=r"mine\.csv"):
            datasets.load("mine", data_dir=tmp_path)
    write(tmp_path, "uci/mine.csv", b"a,b,label\n1,,1\n2,,-1\n")
    with pytest.raises(DataError, match="some rows without missing cells"):
        datasets.load("mine", data_dir=tmp_path)
    with pytest.raises(DataError, match="a value in the column 'b'"):
        datasets.load("mine(missing=impute)", data_dir=tmp_path)
    write(tmp_path, "uci/heart.csv", b"a,label\n1,1\n2,-1\n")
    with pytest.raises(DataError, match=r"heart\.csv: expected 270 rows, 120 of them labelled 1"):
        datasets.load("heart", data_dir=tmp_path)


def test_malformed_usps(tmp_path: Path) -> None:
    good = gzip.compress(b"p0_0,label\n0.5,3\n")
    for part in ("train", "test"):
        write(tmp_path, f"usps/usps_{part}.csv.gz", good)
    with pytest.raises(DataError, match="256 pixels"):
        datasets.load("usps-3-5", data_dir=tmp_path)
    for broken in (good[:-12], b"no gzip"):
        write(tmp_path, "usps/usps_test.csv.gz", broken)
        with pytest.raises(DataError, match=r"usps_test\.csv\.gz"):
            datasets.load("usps-3-5", data_dir=tmp_path)


def test_malformed_proximities(tmp_path: Path) -> None:
    path = write(tmp_path, "proximity/protein.npz", b"no archive")
    cases: list[dict[str, Any] | None] = [
        None,
        {"D": np.eye(3), "y": np.arange(3)},
        {"y": np.ones(213)},
        *({"D": np.full((213, 213), entry), "y": np.ones(213)} for entry in (np.nan, None)),
    ]
    for arrays in cases:
        if arrays is not None:
            np.savez(path, **arrays)
        with pytest.raises(DataError, match=r"protein\.npz"):
            datasets.load("protein", data_dir=tmp_path)


# Files with several classes, with targets, and without labels; sets of scikit-learn as tables.

IRIS = sklearn.datasets.load_iris(as_frame=True)
SPECIES = IRIS.target.map(dict(enumerate(IRIS.target_names)))
DIABETES = sklearn.datasets.load_diabetes(as_frame=True)
D = cdist(IRIS.data[::5], IRIS.data[::5], "cityblock")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tasks")
    tables = {
        "iris": IRIS.data.assign(species=SPECIES), "points": IRIS.data,
        "one": IRIS.data.iloc[:, :1], "labelled": IRIS.data.assign(label=SPECIES),
        "diabetes": DIABETES.frame.assign(target=DIABETES.target / 8), "whole": DIABETES.frame,
    }  # fmt: skip
    for name, table in tables.items():
        table.to_csv(path / f"{name}.csv", index=False)
    np.savez(path / "three.npz", D=D, y=IRIS.target[::5])
    np.savez(path / "targets.npz", D=D, y=IRIS.data.iloc[::5, 0])
    np.savez(path / "alone.npz", D=D)
    np.savez(path / "others.npz", D=D, target=IRIS.target[::5])
    flowers = [f"flower {k}" for k in range(30)]
    named = pd.DataFrame(D, flowers, flowers)
    named.to_csv(path / "alone.csv", index=False, header=False)
    named.assign(label=SPECIES[::5].tolist()).to_csv(path / "three.csv")
    return path


def test_a_table_of_three_classes(folder: Path) -> None:
    data = read(folder / "iris.csv")
    assert data.classes == ("setosa", "versicolor", "virginica")
    assert data.y is not None
    assert data.y.tolist() == SPECIES.tolist()
    problem = iopt.KernelProblem.from_dataset(data, "linear", scaling=None)
    assert (problem.task, problem.classes.tolist()) == ("classification", list(IRIS.target_names))
    assert_allclose(problem.K, IRIS.data @ IRIS.data.T, rtol=1e-12)
    assert problem.labels_in_words == "setosa (50), versicolor (50), virginica (50)"


def test_a_table_of_targets(folder: Path) -> None:
    data = read(folder / "diabetes.csv")
    assert (data.classes, data.points.shape) == ((), (442, 10))
    assert repr(data) == "Dataset('diabetes', n=442, d=10, targets)"
    problem = iopt.KernelProblem.from_dataset(data)
    assert_allclose(problem.targets, DIABETES.target / 8)
    assert problem.labels_in_words == "targets from 3.125 to 43.25"
    # Whole numbers are targets by request.
    path = folder / "whole.csv"
    assert iopt.KernelProblem.read(path).classes.size == DIABETES.target.nunique()
    problem = iopt.KernelProblem.read(path, task="regression")
    assert_array_equal(problem.targets, DIABETES.target)
    with pytest.raises(ProblemError, match=r"y: expected finite real numbers.* got text"):
        iopt.KernelProblem.read(folder / "iris.csv", task="regression")


def test_a_table_without_labels(folder: Path) -> None:
    data = read(folder / "points.csv", label="none")
    assert (data.y, data.n, data.classes) == (None, 150, ())
    assert_array_equal(data.points, IRIS.data)
    assert repr(data) == "Dataset('points', n=150, d=4, no labels)"
    assert "labels" not in str(data.table)
    problem = iopt.KernelProblem.from_dataset(data)
    assert (problem.task, problem.labels, problem.labels_in_words) == ("one class", None, "none")
    # A column that would be that of labels is left out, and said to be.
    data = read(folder / "labelled.csv", label="none")
    assert_array_equal(data.points, IRIS.data)
    assert str(data.table).endswith("left out: label")
    assert read(folder / "one.csv", label="none").points.shape == (150, 1)
    with pytest.raises(DataError, match=r'a single column.*read by label="none"'):
        read(folder / "one.csv")


@pytest.mark.parametrize("name", ["three.npz", "three.csv"])
def test_matrices_of_three_classes(name: str, folder: Path) -> None:
    problem = iopt.KernelProblem.read(folder / name, kind_of(name), form="linear")
    assert_allclose(problem.K, -0.5 * D**2, rtol=1e-12)
    assert problem.classes.size == 3
    expected = SPECIES if name.endswith("csv") else IRIS.target
    assert problem.labels is not None
    assert problem.labels.tolist() == expected[::5].tolist()


def test_a_matrix_with_targets(folder: Path) -> None:
    problem = iopt.KernelProblem.read(folder / "targets.npz")
    assert_array_equal(problem.targets, IRIS.data.iloc[::5, 0])
    path = folder / "lengths.txt"
    IRIS.data.iloc[::5, :1].to_csv(path, index=False, header=False)
    problem = iopt.KernelProblem.read(folder / "alone.csv", "distances", labels=path)
    assert_array_equal(problem.targets, IRIS.data.iloc[::5, 0])


@pytest.mark.parametrize(
    ("name", "label"),
    [("alone.npz", None), ("alone.csv", None), ("alone.npz", "none"), ("alone.csv", "none"),
     ("three.npz", "none"), ("three.csv", "none"), ("others.npz", "none")],
)  # fmt: skip
def test_matrices_without_labels(name: str, label: str | None, folder: Path) -> None:
    data = read(folder / name, kind_of(name), label=label)
    assert data.y is None
    assert_array_equal(data.D, D)
    assert iopt.KernelProblem.from_dataset(data).task == "one class"


def test_labels_are_not_lost_without_a_word(folder: Path) -> None:
    with pytest.raises(DataError, match=r"with D, target.*label=.none"):
        read(folder / "others.npz")
    (folder / "y.txt").write_text("a\nb\n" * 15, encoding="utf-8")
    with pytest.raises(ParameterError, match=r"labels: expected none for data without labels"):
        read(folder / "alone.csv", "distances", label="none", labels=folder / "y.txt")
    with pytest.raises(ParameterError, match=r"label: expected none for arrays in a .npz file"):
        read(folder / "three.npz", label="y")


def kind_of(name: str) -> str | None:
    return "distances" if name.endswith(".csv") else None


def test_names_of_classes_are_as_many_as_the_classes(tmp_path: Path) -> None:
    X = np.arange(6.0)[:, None]
    given: dict[str, Any] = {"name": "six", "X": X, "y": np.arange(6) % 3}
    data = Dataset(**given, classes=("low", "middle", "high"))
    problem = iopt.KernelProblem.from_dataset(data)
    assert problem.class_names == ("low", "middle", "high")
    assert problem.meanings == {"0": "low", "1": "middle", "2": "high"}
    assert problem.labels_in_words == "low (2), middle (2), high (2)"
    saved = iopt.solve(problem, "OneClassSVM").save(tmp_path / "model.npz")
    assert iopt.load(saved).problem.class_names == ("low", "middle", "high")
    with pytest.raises(ProblemError, match="classes: expected 3 names, one for each class, got 2"):
        Dataset(**given, classes=("low", "high"))
    with pytest.raises(ProblemError, match="classes: expected 0 names"):
        Dataset("targets", X[:, 0] / 2, X=X, classes=("low", "high"))
    # Labels of a single class are names of nothing, and may be those of the task "one class".
    alone = Dataset("one", np.ones(6), X=X)
    assert alone.classes == ()
    assert iopt.KernelProblem.from_dataset(alone, task="one class").task == "one class"
    # Many classes are told in short.
    told = iopt.KernelProblem(np.eye(24), [f"c{k:02}" for k in range(24)]).labels_in_words
    assert told.startswith("c00 (1), c01 (1), ")
    assert told.endswith("c07 (1), ..., c23 (1)")


ROWS = [",a,b,c,d,label", "a,0,1,2,4,x", "b,1,0,1,3,x", "c,2,1,0,2,y", "d,4,3,2,0,y"]
"""Distances of four named points, and their labels."""


def told(folder: Path, content: str, kind: str | None = "distances") -> str:
    """What is said about a file that is refused."""
    path = folder / "file.csv"
    path.write_text(content)
    with pytest.raises(DataError) as caught:
        read(path, kind)
    return str(caught.value).removeprefix(f"{path}: ")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (",", ";", "separated by commas, not semicolons or tabs"),
        (",", "\t", "separated by commas, not semicolons or tabs"),
        ("c,2,1", "c,abc,1", "got 'abc' in line 4"),
        ("c,2,1,0", "c,2,1;5,0", "got '1;5' in line 4"),
        ("c,2,1,0", "c,2,1", "6 cells in every line, got 5 in line 4"),
        ("b,1,0,1,3,x", "b,1", "6 cells in every line, got 2 in line 3"),
        ("c,2,1,0,2,y", "c,2,1,0,2,", "a label in every row, got none in line 4"),
        ("c,2,1,0", "c,2,,0", "a finite number in every cell, got none in line 4"),
        (",a,b,c", ",a,b,b", "got two columns named 'b'"),
        (",a,b,c", ",a,b,f", "columns with the names of the rows, got f"),
    ],
)
def test_the_place_of_a_fault_in_a_matrix(old: str, new: str, words: str, tmp_path: Path) -> None:
    assert words in told(tmp_path, "\n".join(ROWS).replace(old, new))


def test_short_rows_of_points(tmp_path: Path) -> None:
    """pandas fills them up with empty cells, although a cell before may be missing."""
    table = "a,b,label\n1,2,x\n\n3,y\n5,6,x\n"
    assert "3 cells in every line, got 2 in line 4" in told(tmp_path, table, None)
    quoted = 'a,b,label\n1,"2\n",x\n3,x\n'
    assert "3 cells in every line, got 2 in line 4" in told(tmp_path, quoted, None)


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("behind", ["", "labels", "header"])
def test_numbers_of_rows_before_a_matrix(first: int, behind: str, tmp_path: Path) -> None:
    """LIBSVM has them before a precomputed kernel; distances of equal steps are none."""
    X = np.random.default_rng(0).normal(size=(6, 2))
    K = np.exp(-cdist(X, X))
    serial = np.c_[np.arange(6) + first, K]
    lines = [",".join(map(repr, row)) for row in serial.tolist()]
    if behind:
        lines = [f"{line},{'xy'[k % 2]}" for k, line in enumerate(lines)]
    if behind == "header":
        lines = ["id,a,b,c,d,e,f,label", *lines]
    said = told(tmp_path, "\n".join(lines), "similarities")
    assert f"the numbers {first} to {first + 5} of the rows in the first column" in said
    assert "Leave them out" in said
    # With the advice it is read.
    left = [line.partition(",")[2] for line in lines]
    (tmp_path / "file.csv").write_text("\n".join(left))
    found = read(tmp_path / "file.csv", "similarities").K
    assert found is not None
    assert_array_equal(found, K)
    equal = np.abs(np.subtract.outer(np.arange(6.0), np.arange(6.0)))
    lines = [f"{','.join(map(repr, row))},{'xy'[k % 2]}" for k, row in enumerate(equal.tolist())]
    (tmp_path / "file.csv").write_text("\n".join(lines))
    assert_array_equal(read(tmp_path / "file.csv", "distances").D, equal)
