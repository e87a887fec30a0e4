"""A comparison and a bracket whose numbers are written by hand."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd

import indefinite_opt as iopt
from indefinite_opt.figures.inputs import ACCURACY
from indefinite_opt.quadratic.solving.solution import Trace

NAN = float("nan")


def hand_made(name: str = "six points") -> SimpleNamespace:
    """Two folds of four formulations, one of them with two solvers; one fails in both folds."""
    formulations = [
        iopt.SVMDual(C=1.0),
        iopt.SpectrumSVM(C=1.0, transform="clip"),
        iopt.SpectrumSVM(C=1.0, transform="flip"),
        iopt.ConvexHullDual(mu=0.125),
    ]
    svm, clip, flip, hull = map(str, formulations)
    cells = [
        (svm, "smo", 0, 0.75, 2.5, "GLOBAL", "duality gap", 0.0, 3, 0.002, "solved", ""),
        (svm, "smo", 1, 1.0, 3.5, "GLOBAL", "duality gap", 3.1e-9, 4, 0.004, "solved", ""),
        (svm, "uno", 0, 0.5, 2.5, "LOCAL", "KKT residual", 8e-7, 3, 0.2, "solved", ""),
        (svm, "uno", 1, 0.5, 2.5, "LOCAL", "KKT residual", 4e-7, 3, 0.4, "solved", ""),
        (clip, "smo", 0, 0.5, 1.0, "FEASIBLE", "duality gap", 2e-3, 6, 0.01, "max_iter", ""),
        (clip, "smo", 1, NAN, NAN, "-", "", NAN, 0, NAN, "failed", "SolverFailed: rounding"),
        (flip, "smo", 0, 0.875, 1.0, "STATIONARY", "KKT residual", 5e-7, 6, 0.01, "solved", ""),
        (flip, "smo", 1, 0.875, 1.0, "STATIONARY", "KKT residual", 1e-8, 6, 0.03, "solved", ""),
        (hull, "smo", 0, NAN, NAN, "-", "", NAN, 0, NAN, "failed", "InfeasibleProblem: mu < 1/3"),
        (hull, "smo", 1, NAN, NAN, "-", "", NAN, 0, NAN, "failed", "InfeasibleProblem: mu < 1/3"),
    ]
    rows = [
        (svm, "smo", 0.875, 0.125, 3.0, "GLOBAL", "duality gap", 3.1e-9, 3.5, 0.003, 0, 2),
        (svm, "uno", 0.5, 0.0, 2.5, "LOCAL", "KKT residual", 8e-7, 3.0, 0.3, 0, 2),
        (clip, "smo", 0.5, 0.0, 1.0, "FEASIBLE", "duality gap", 2e-3, 6.0, 0.01, 1, 2),
        (flip, "smo", 0.875, 0.0, 1.0, "STATIONARY", "KKT residual", 5e-7, 6.0, 0.02, 0, 2),
        (hull, "smo", NAN, NAN, NAN, "-", "", NAN, NAN, NAN, 2, 2),
    ]
    start = ["method", "solver"]
    middle = ["objective", "claim", "gap_kind", "gap", "support", "seconds"]
    bounds = {"duality gap": 1.0, "KKT residual": np.inf, "": NAN}
    frame = pd.DataFrame(cells, columns=[*start, "fold", "accuracy", *middle, "status", "error"])
    frame["proved_within"] = frame["gap"] * frame["gap_kind"].map(bounds)
    scores, counts = ["accuracy", "accuracy_sd"], ["failed", "divisions"]
    summary = pd.DataFrame(rows, columns=[*start, *scores, *middle, *counts])
    summary["proved_within"] = summary["gap"] * summary["gap_kind"].map(bounds)
    summary["proved"] = [2, 0, 1, 0, 0]
    for table in (frame, summary):  # the only method with several solvers
        own = table["method"] == svm
        table.loc[own, "method"] = svm + " · " + table.loc[own, "solver"]
    K = [[1.0, -1.0, 0.0, 0.0], [-1.0, 1.0, 0.0, 0.0], [0.0] * 4, [0.0, 0.0, 0.0, -3.0]]
    return SimpleNamespace(
        problem=iopt.KernelProblem(K, ["no", "yes", "yes", "yes"], name=name),
        formulations=formulations,
        settings={"evaluation": "2 folds", "seed": "7", "tol": "1e-06"}
        | {"kernel": "precomputed", "scaling": "none"},
        ends=[],
        chosen_by_shown_scores=False,
        test_per_train=1.0,
        scores=(ACCURACY,),
        chosen_rows=frame.to_dict("records"),
        summary=summary.assign(chosen=""),
    )


def hand_made_bracket(
    reports: list[tuple[float, float, float, float]],
    end: tuple[float, float, float, float],
    maximised: bool = True,
) -> SimpleNamespace:
    """A bracket of reports (seconds, objective, bound, relative gap), and an end alike."""
    seconds, objective, bound, gap = end
    columns = [list(column) for column in zip(*reports, strict=True)] or [[], [], [], []]
    return SimpleNamespace(
        title="SVMDual on hand-made", maximised=maximised,
        objective=objective, bound=bound, relative_gap=gap, seconds=seconds,
        trace=Trace(columns[0], [1] * len(reports), columns[1], columns[3], columns[2]),
    )  # fmt: skip
