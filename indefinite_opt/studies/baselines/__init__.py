"""Methods other than the formulations of the papers, to compare them with.

Each has a file; every concrete `Baseline` in this folder is discovered automatically.
"""

from __future__ import annotations

import functools

from indefinite_opt.foundation import as_instance, discover
from indefinite_opt.studies.baselines.baseline import Baseline, trained
from indefinite_opt.studies.baselines.knn import KNN, KNNDistance, KNNRegression
from indefinite_opt.studies.baselines.libsvm import LIBSVM
from indefinite_opt.studies.baselines.lssvm import LSSVM, KernelRidge
from indefinite_opt.studies.baselines.rvm import RVM


@functools.cache
def known() -> dict[str, type[Baseline]]:
    """All baselines by name, in the order of the file names."""
    return {cls.__name__: cls for cls in discover(__name__, __path__, Baseline)}  # type: ignore[type-abstract]


def available_baselines() -> list[str]:
    """Names of the baselines that `compare` runs besides the formulations.

    >>> available_baselines()
    ['KNN', 'KNNDistance', 'KNNRegression', 'KernelRidge', 'LIBSVM', 'LSSVM', 'RVM']
    """
    return sorted(known())


def as_baseline(baseline: Baseline | type[Baseline] | str) -> Baseline:
    """A baseline, given as an object, a class, or a name with parameters."""
    return as_instance("baseline", Baseline, known(), baseline)  # type: ignore[type-abstract]
