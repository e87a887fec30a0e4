"""The numbers of the atlas by the names under which its texts use them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from reproduction.atlas import questions
from reproduction.atlas.pairs import pairs
from reproduction.atlas.protocol import DESCENT, LIBSVM, NONCONVEX, PROVED, USUAL, Protocol
from reproduction.atlas.questions import (
    BUDGETS,
    CLOSE,
    CONTROL,
    FAR,
    HIGH,
    LARGE,
    MARGIN,
    estimated,
)

ENDS = {"LIBSVM": LIBSVM, "descent": DESCENT, "usual": USUAL, "proof": PROVED}
"""The searches by the names of their numbers."""

SHARES = {"low": (0.0, 0.05), "middle": (0.05, 0.15), "high": (0.15, 1.01)}
"""Negative shares of the kernels that were used, by which programs are grouped."""

SIZES = {"small": (0, 100), "middle": (100, 300), "large": (300, 10_000)}
"""Training points, likewise."""


class P(float):
    """A p-value, which a text shows as "p = 0.012" or "p < 0.001"."""

    def __format__(self, spec: str) -> str:
        if self < 0.001:
            return "p < 0.001"
        return f"p = {float(self):.{3 if self < 0.1 else 2}f}"


class Share(float):
    """A share of a count, shown in percent."""

    def __format__(self, spec: str) -> str:
        return f"{100.0 * self:{spec or '.0f'}}"


def numbers(table: pd.DataFrame, protocol: Protocol) -> dict[str, Any]:
    """All numbers; names with several parts are dictionaries in dictionaries."""
    programs = questions.misses(table)
    found = questions.accuracies(table)
    fair = questions.between(found)
    told: dict[str, Any] = {
        "extent": _extent(table, found, protocol),
        "plan": _plan(protocol),
        "miss": {name: _misses(programs, end) for name, end in ENDS.items()},
        "programs": _programs(programs),
        "place": _places(found),
        "convex": _convex(questions.misses(table, convex=True)),
    }
    optima = questions.correlations(table)
    told["optima"] = {
        "rho": estimated(optima), "programs": len(optima), "sets": optima["dataset"].nunique()
    }  # fmt: skip
    compared, everything = questions.compared(fair), questions.compared(found)
    told["method"] = _methods(compared)
    told["method_of_all"] = _methods(everything)
    told["practice"] = estimated(questions.difference(fair, "SVMDual", LIBSVM))
    kept = fair.index.get_level_values("pair").unique()
    proved = questions.proof_gains(table)
    told["practice_proved"] = estimated(proved[proved["pair"].isin(kept)])
    new = questions.compared(questions.unseen(fair))
    told["method_of_new"] = _methods(new)
    told["counts"], told["counts_of_new"] = _counts(compared), _counts(new)
    told["trend"] = _trend(table, questions.unseen(fair))
    told["trend_of_seen_too"] = _trend(table, fair)
    told["trend_of_all"] = _trend(table, found)
    told["rule"] = _rule(table, fair) | {
        "gain_of_all": estimated(questions.unseen(questions.by_rule(table, found)))
    }  # fmt: skip
    told["worth"] = worth = _worth(programs, programs[programs["pair"].isin(kept)])
    raw = {
        "H1": questions.wilcoxon(
            questions.growth_with_C(questions.unseen(programs), LIBSVM), "greater"
        ),
        "H2": float(np.max([worth["all"].tost, worth["far"].tost])),
        "H3": float(compared["adjusted"].min()),
        "H4": float(told["trend"]["p"]),
        "H5": float(told["rule"]["p"]),
    }
    adjusted = questions.holm(raw)
    told["H"] = {
        name: {
            "p": P(raw[name]), "adjusted": P(adjusted[name]),
            "verdict": "supported" if adjusted[name] < 0.05 else "not supported",
        }
        for name in raw
    }  # fmt: skip
    told["excluded"] = "excluded" if adjusted["H2"] < 0.05 else "not excluded"
    told["growing"] = _growing(programs)
    told["time"] = _times(table, fair)
    told["cost"] = questions.growth(programs, protocol.seconds)
    told["proof"] = _proofs(table)
    told["ends"] = _ends(table)
    return told


def _plan(protocol: Protocol) -> dict[str, Any]:
    """What the plan fixes: margins, seconds, and the values of each parameter."""
    grids = {
        name: f"{', '.join(f'{value:g}' for value in values[:-1])} and {values[-1]:g}"
        for name, values in protocol.grids.items()
    }
    return {
        "margin": 100 * MARGIN, "close": 100 * CLOSE, "seconds": protocol.seconds,
        "starts": protocol.starts, "limit": protocol.time_limit, **grids,
    }  # fmt: skip


def _counts(compared: pd.DataFrame) -> dict[str, int]:
    """How many methods are better or worse than the control, or equivalent and not worse."""
    values = compared["gain"].map(lambda gain: gain.value)
    apart = compared["adjusted"] < 0.05
    return {
        "better": int((apart & (values > 0)).sum()), "worse": int((apart & (values < 0)).sum()),
        "equivalent": int((compared["equivalent"] & ~(apart & (values < 0))).sum()),
        "compared": len(compared),
    }  # fmt: skip


def _extent(table: pd.DataFrame, found: pd.DataFrame, protocol: Protocol) -> dict[str, Any]:
    """How much was run."""
    rows, known = table[table["part"] == "study"], pairs()
    run = [known[name] for name in found.index.get_level_values("pair").unique()]
    new = [pair for pair in run if not pair.seen]
    seeds = found.groupby(level="pair").size()
    return {
        "pairs": len(run), "sets": len({pair.dataset for pair in run}),
        "listed": len(known), "listed_sets": len({pair.dataset for pair in known.values()}),
        "new_pairs": len(new),
        "new_sets": len({pair.dataset for pair in new}),
        "least": min(pair.n for pair in run), "most": max(pair.n for pair in run),
        "large": sum(pair.n >= 1000 for pair in run), "methods": found.shape[1],
        "seeds": int(seeds.min()), "folds": protocol.folds, "fits": len(rows),
        "failed": int((rows["error"] != "").sum()),
        "failed_others": int((table.loc[table["part"] != "study", "error"] != "").sum()),
        "hours": float(table["cell_seconds"].sum() / 3600.0),
    }  # fmt: skip


def _misses(programs: pd.DataFrame, end: str) -> dict[str, Any]:
    """The share of programs that a search misses, in all and in groups, and what that is worth."""
    rows = questions.missed(programs, end)
    closed = rows["proved_within"] <= CLOSE
    far = rows[rows["value"] > 0.0]
    worth = questions.worth(programs, end)
    told: dict[str, Any] = {
        "all": estimated(rows), "closed": estimated(rows[closed]), "count": len(far),
        "far": estimated(questions.missed(programs, end, FAR)),
        "open": int((~closed & (rows["value"] > 0.0)).sum()),
        "median": float(far[f"miss {end}"].median()), "most": float(far[f"miss {end}"].max()),
        "worth": estimated(worth), "worth_sets": worth["dataset"].nunique(),
    }  # fmt: skip
    for C, group in rows.groupby("C"):
        told[f"C{C:g}"] = estimated(group)
    told["tuned"] = estimated(rows[rows["tuned"]])
    told["seconds"] = float(programs[f"seconds {end}"].median())
    # The same programs, so that the difference is one of pairs.
    fine = questions.missed(programs, DESCENT)["value"]
    told["beyond_descent"] = estimated(rows.assign(value=rows["value"] - fine))
    told["share"] = {name: estimated(rows[rows["negative_share"].between(*ends, "left")])
                     for name, ends in SHARES.items()}  # fmt: skip
    told["n"] = {name: estimated(rows[rows["n"].between(*ends, "left")])
                 for name, ends in SIZES.items()}  # fmt: skip
    return told


def _convex(programs: pd.DataFrame) -> dict[str, Any]:
    """By how much LIBSVM misses convex programs: what its tolerance does."""
    found = programs[f"miss {LIBSVM}"]
    return {"count": len(programs), "missed": int((found > CLOSE).sum()),
            "most": float(found.max())}  # fmt: skip


def _growing(programs: pd.DataFrame) -> dict[str, Any]:
    """The share of missed programs with high C less that with low C, in several ways."""
    ways = {
        "all": (programs, LIBSVM, CLOSE), "new": (questions.unseen(programs), LIBSVM, CLOSE),
        "far": (programs, LIBSVM, FAR), "descent": (programs, DESCENT, CLOSE),
    }  # fmt: skip
    return {name: estimated(questions.growth_with_C(*way)) for name, way in ways.items()}


def _worth(programs: pd.DataFrame, decisive: pd.DataFrame) -> dict[str, Any]:
    """The gain of the point of the search with a proof where LIBSVM misses, in several ways.

    `far` are misses above `FAR` on the pairs neither at the ceiling nor at the floor, `size` is the
    magnitude of the gain, `beyond` whether it is more than the margin, and `gained` and `lost`
    whether it is positive or negative.
    """
    found = questions.worth(programs, LIBSVM)
    size = found.assign(value=found["value"].abs().round(questions.DECIMALS))
    return {
        "all": estimated(found), "far": estimated(questions.worth(decisive, LIBSVM, FAR)),
        "new": estimated(questions.unseen(found)), "tuned": estimated(found[found["tuned"]]),
        "size": estimated(size),
        "gained": estimated(size.assign(value=(found["value"] > 0.0).astype(float))),
        "lost": estimated(size.assign(value=(found["value"] < 0.0).astype(float))),
        "beyond": estimated(size.assign(value=(size["value"] > MARGIN).astype(float))),
    }  # fmt: skip


def _trend(table: pd.DataFrame, found: pd.DataFrame) -> dict[str, Any]:
    """The correlation of the gain of square with the negative share, and its p-value."""
    rho, p = questions.trend(found, questions.shares_used(table), "square")
    return {"rho": rho, "p": P(p)}


def _programs(programs: pd.DataFrame) -> dict[str, Any]:
    """How many nonconvex programs there are, and how many of them are proved."""
    closed = programs["proved_within"] <= CLOSE
    large, high = programs["n"] > LARGE, programs["C"] >= HIGH
    seconds = programs.loc[closed, "seconds"]
    return {
        "count": len(programs), "sets": programs["dataset"].nunique(), "proved": int(closed.sum()),
        "share": Share(closed.mean()), "large": Share(closed[large].mean()),
        "high": Share(closed[high].mean()),
        "seconds": float(seconds.median()),
        "C": {f"{C:g}": Share(group.mean()) for C, group in closed.groupby(programs["C"])},
    }  # fmt: skip


def _places(found: pd.DataFrame) -> dict[str, Any]:
    """The pairs at the ceiling and at the floor."""
    told = questions.places(found)
    groups = {
        name: [pair for pair, place in told.items() if place == name]
        for name in ("ceiling", "floor", "between")
    }
    known = pairs()
    return {
        name: {
            "count": len(group), "names": ", ".join(group) or "none",
            "sets": len({known[pair].dataset for pair in group}),
        }
        for name, group in groups.items()
    }  # fmt: skip


def _methods(compared: pd.DataFrame) -> dict[str, Any]:
    """The gains of the methods against the control, by their labels."""
    return {
        str(row["method"]).replace("-", ""): {
            "gain": row["gain"], "p": P(row["p"]), "adjusted": P(row["adjusted"]),
            "tost": P(row["gain"].tost),
        }
        for row in compared.reset_index().to_dict("records")
    }  # fmt: skip


def _rule(table: pd.DataFrame, fair: pd.DataFrame) -> dict[str, Any]:
    """The gain of the rule against the control, on new data sets and on those it was made of."""
    rows = questions.by_rule(table, fair)
    new = questions.unseen(rows)
    best = fair.loc[fair.index.get_level_values("pair").isin(new["pair"])]
    return {
        "gain": estimated(new), "p": P(questions.wilcoxon(new, "greater")),
        "pairs": new["pair"].nunique(), "sets": new["dataset"].nunique(),
        "seen": estimated(rows[~rows["pair"].isin(new["pair"])]),
        "taken": {name.replace("-", ""): Share((new["method"] == name).mean())
                  for name in questions.TAKEN},
        "always": {name.replace("-", ""): estimated(questions.difference(best, name))
                   for name in questions.TAKEN if name != CONTROL},
    }  # fmt: skip


def _times(table: pd.DataFrame, fair: pd.DataFrame) -> dict[str, Any]:
    """At each budget, the methods that are ready on most pairs, and their gains."""
    told: dict[str, Any] = {}
    kept = fair.index.get_level_values("pair").unique()
    for budget in BUDGETS:
        found = questions.at_equal_time(table, budget)
        found = found[found.index.isin(kept)].assign(run=0).set_index("run", append=True)
        told[f"{budget:g}s"] = {
            name.replace("-", ""): estimated(questions.difference(found, name))
            for name in map(str, found) if name != CONTROL
        }  # fmt: skip
    spent = table[table["part"] == "times"]
    seconds = (spent["selection_seconds"] + spent["seconds"]).groupby(spent["method"]).median()
    told["median"] = {str(name).replace("-", ""): value for name, value in seconds.items()}
    return told


def _proofs(table: pd.DataFrame) -> dict[str, Any]:
    """The shares of the tested fits of nonconvex formulations that are proved."""
    rows = questions.proof_shares(table)
    groups = {
        "all": rows, "large": rows[rows["n"] > LARGE], "high": rows[rows["C"] >= HIGH],
        **{name: rows[rows["method"] == name] for name in NONCONVEX},
    }  # fmt: skip
    return {
        name: {"share": Share(group["proved"].mean()), "count": len(group),
               "proved": int(group["proved"].sum())}
        for name, group in groups.items()
    }  # fmt: skip


def _ends(table: pd.DataFrame) -> dict[str, Any]:
    """The shares of fits that chose an end of a grid, of each method and over all of them."""
    found = questions.at_ends(table)
    kinds = sorted({kind for own in found.values() for kind in own})
    return {
        kind: {
            "most": Share(max(own.get(kind, 0.0) for own in found.values())),
            "mean": Share(questions.mean_of_tuned(found, kind)),
        }
        for kind in kinds
    }  # fmt: skip
