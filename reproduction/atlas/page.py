"""The page and the manuscript of the atlas: every sentence with a number is made of its table."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from reproduction.atlas import questions
from reproduction.atlas.figures import FIGURES, drawn
from reproduction.atlas.pairs import Pair, pairs
from reproduction.atlas.protocol import (
    BOUNDS,
    DESCENT,
    LIBSVM,
    METHODS,
    NONCONVEX,
    USUAL,
    Protocol,
)
from reproduction.atlas.questions import CLOSE, Estimate
from reproduction.markup import markdown_table, svg
from reproduction.pages import duration

TITLE = "The atlas: formulations for indefinite kernels on real similarities"

NOT_RUN = (
    "The atlas has not been run yet: this page has the method and the list, which were fixed "
    "before, and no result."
)

FIRST = 4
"""Methods that the summary names for each group of pairs."""

MISSES = "How often solvers miss the optimum"
FOLLOWS = "Whether accuracy follows the objective"
"""The headings whose first paragraphs are also in the abstract."""


def write(
    table: pd.DataFrame | None,
    protocol: Protocol,
    page: Path,
    manuscript: Path | None = None,
    note: str = "",
) -> list[Path]:
    """Write the page with figures and a summary beside it, and the manuscript; return the paths.

    The note says how the table was made.
    Without a table both have the method and the list only, and there is nothing beside them.
    """
    written = []
    page.parent.mkdir(parents=True, exist_ok=True)
    if table is not None:
        for name in drawn(table):
            path = page.with_name(f"{name}.svg")
            path.write_bytes(svg(FIGURES[name][0](table, protocol), name, small=True))
            written.append(path)
    lead = [NOT_RUN] if table is None else extent(table)
    lead += [note] * bool(note)
    parts = sections(table, protocol)
    body = [text for heading, texts in parts.items() for text in (f"## {heading}", *texts)]
    page.write_text(joined([f"# {TITLE}", *lead, *body]), "utf-8")
    written.append(page)
    if table is not None:
        summary = page.with_name("atlas-summary.md")
        summary.write_text(joined(summarised(table, protocol)), "utf-8")
        written.append(summary)
    if manuscript is not None:
        abstract = [*lead, *parts.get(MISSES, [])[:1], *parts.get(FOLLOWS, [])]
        beside = Path(os.path.relpath(page.parent, manuscript.parent)).as_posix()
        prose = [text.replace("](atlas-", f"]({beside}/atlas-") for text in body]
        manuscript.parent.mkdir(parents=True, exist_ok=True)
        manuscript.write_text(joined([*front(abstract), *prose, *references()]), "utf-8")
        written.append(manuscript)
    return written


def joined(paragraphs: list[str]) -> str:
    """The paragraphs with an empty line between them."""
    return "\n\n".join(paragraphs) + "\n"


def front(abstract: list[str]) -> list[str]:
    """Title, abstract and introduction of the manuscript."""
    return [
        f"# {TITLE}",
        "## Abstract",
        *abstract,
        "## Introduction",
        "Alignment scores, edit distances and time warping give kernel matrices with negative "
        "eigenvalues. The dual of the support vector machine is then a nonconvex quadratic "
        "program. Software stops at a stationary point of it, and many papers propose another "
        "problem instead. Accuracies alone cannot tell whether a formulation is better or a solver "
        "stopped too early. The atlas runs the formulations on the same folds of many real "
        "similarities, and brackets the optimum of each nonconvex program that is tested.",
    ]


def sections(table: pd.DataFrame | None, protocol: Protocol) -> dict[str, list[str]]:
    """The paragraphs that the page and the manuscript share, by their headings."""
    parts = {"Method": method(protocol), "Pairs of data and similarity": listed(table)}
    if table is not None:
        pictures = {name: _figure(name) for name in drawn(table)}
        parts |= {
            MISSES: [*misses(table), pictures["atlas-misses"]],
            FOLLOWS: follows(table),
            "Which formulation classifies best": [
                *winners(table, protocol),
                *(text for name, text in pictures.items() if name == "atlas-ranks"),
            ],
            "What a proof costs": [*costs(table), pictures["atlas-proofs"]],
            "What was not proved": unproved(table),
        }
    return {**parts, "Run it again": again()}


def _figure(name: str) -> str:
    caption = FIGURES[name][1]
    return f"![{caption}]({name}.svg)\n\n*{caption}*"


def method(protocol: Protocol) -> list[str]:
    """What is run."""
    names = [name for name in METHODS if name in protocol.methods]
    return [
        f"All methods run on the same {protocol.folds} stratified folds. Parameters and kernels "
        f"are chosen by {protocol.inner} inner folds of the training points, by accuracy. Several "
        "classes are trained one against one. Distances are divided by their median; their kernels "
        "are -d²/2 and exp(-γd²) with γ = 0.1, 1, 10. Similarities are used as they are, divided "
        f"by the mean of |K_ii|. The grid has C = {', '.join(map(str, BOUNDS))}, or bounds of "
        "the weights of 1.2, 2 and 5 times the least feasible one.",
        f"The methods are {', '.join(f'`{name}`' for name in names)}. `clip`, `shift` and "
        "`square` are those of `SpectrumSVM`; flip is left out, because its classifier is that "
        "of `ESVM`. `square` and `SeparabilitySVM` have the same classifier, too. "
        f"{' and '.join(f'`{name}`' for name in NONCONVEX if name in names)} "
        f"{'are' if set(NONCONVEX) <= set(names) else 'is'} not convex: each tested fit has "
        f"{protocol.seconds:g} s for a proof, and counts as proved from a relative gap of "
        f"{CLOSE:g}. All other programs are convex.",
        f"The ends of descents are compared on `SVMDual` with the two largest classes and the "
        f"first kernel of each pair, with the training points of {protocol.ends_folds} of the "
        f"folds and C = {', '.join(map(str, BOUNDS))}: those of LIBSVM, of one descent from zero, "
        f"of the usual search, and of descents from {protocol.starts} random starts.",
        "Intervals hold 95 % of 2000 bootstrap samples, which draw pairs with replacement.",
    ]


def listed(table: pd.DataFrame | None) -> list[str]:
    """The pairs with their sources; with a table those that were run, and which are missing."""
    known = pairs()
    shares: dict[str, float] = {}
    if table is not None:
        rows = table[table["part"] == "pair"]
        shares = dict(zip(rows["pair"], rows["negative"], strict=True))
    chosen = {name: pair for name, pair in known.items() if table is None or name in shares}
    sources = list(dict.fromkeys(pair.source for pair in chosen.values()))

    def row(pair: Pair) -> list[str]:
        n, k = str(pair.n), str(len(pair.classes))
        negative = [] if table is None else [f"{100 * shares[pair.name]:.1f}"]
        compared = f"{pair.similarity.meaning} ({pair.similarity.citation})"
        return [pair.name, n, k, *negative, compared, str(1 + sources.index(pair.source))]

    share = [] if table is None else ["negative (%)"]
    heads = ["pair", "n", "classes", *share, "similarity", "source"]
    sides = "lrr" + "r" * len(share) + "lr"
    shown = "\n".join(markdown_table(heads, map(row, chosen.values()), sides))
    origins = "\n".join(
        f"{k}. {source.origin} ({source.citation}); {source.licence}."
        for k, source in enumerate(sources, 1)
    )
    absent = [f"`{name}`" for name in known if name not in chosen]
    lost = f"{len(absent)} of the {len(known)} pairs of the list were not run: {', '.join(absent)}."
    return [shown, "The sources are:", origins, *([lost] if absent else [])]


def extent(table: pd.DataFrame) -> list[str]:
    """How much was run."""
    described, rows = table[table["part"] == "pair"], table[table["part"] == "study"]
    spent = rows["cell_seconds"].sum() + table.loc[table["part"] == "end", "seconds"].sum()
    failed = int((rows["error"] != "").sum())
    return [
        f"{len(described)} pairs of data and similarity with {int(described['n'].min())} to "
        f"{int(described['n'].max())} objects, {rows['method'].nunique()} methods, "
        f"{rows['run'].nunique()} seed{'s' * (rows['run'].nunique() != 1)}: {len(rows)} tested "
        f"fits, of which {failed} failed. All cells together took {duration(float(spent))}."
    ]


def percent(found: Estimate, signed: bool = False) -> str:
    """A share, or a difference of shares, with its interval."""
    sign = "+" if signed else ""
    value, low, high = (f"{100 * number:{sign}.1f}" for number in found[:3])
    return f"{value} {'points' if signed else '%'} ({low} to {high})"


def misses(table: pd.DataFrame) -> list[str]:
    """How often, and by how much, LIBSVM and descents miss the best known point."""
    found, told = questions.misses(table), []
    indefinite = found[found["q"] > 0]
    closed = int((indefinite["proved_within"] <= CLOSE).sum())
    told.append(
        f"{len(indefinite)} of {len(found)} programs are not convex; the optimum of {closed} of "
        f"them is proved to {CLOSE:g}."
    )
    for name in (LIBSVM, DESCENT, USUAL):
        missed = indefinite[indefinite[f"miss {name}"] > CLOSE]
        said = f"{_capital(name)} misses the best known objective of these programs by more than "
        said += f"{CLOSE:g} in {percent(questions.missed_share(indefinite, name))}"
        if len(missed):
            miss = missed[f"miss {name}"]
            worth = questions.bootstrapped(missed, partial(_mean_gain, name=name))
            said += (
                f", by {100 * miss.median():.2g} % in the median and {100 * miss.max():.2g} % at "
                "most; where it does, the test accuracy of the proved point minus that of its own "
                f"averages {percent(worth, True)}"
            )
        told.append(f"{said}.")
    return [" ".join(told)]


def _mean_gain(rows: pd.DataFrame, name: str) -> float:
    return float(rows[f"gain {name}"].mean())


def _capital(text: str) -> str:
    named = f"the {text}" if text == USUAL else text
    return named[:1].upper() + named[1:]


def follows(table: pd.DataFrame) -> list[str]:
    """Whether better local optima of one program classify better."""
    found = questions.correlations(table)
    programs = len(questions.misses(table))
    if found.empty:
        return [f"None of the {programs} programs has three local optima of unlike accuracy."]
    rho = questions.bootstrapped(found, lambda rows: float(rows["rho"].mean()))
    return [
        f"{len(found)} of {programs} programs, of {rho.pairs} pairs, have three distinct local "
        "optima or more whose accuracies differ. Spearman's correlation of objective and test "
        f"accuracy over the optima of one program is {rho.value:.2f} in the mean, with the "
        f"interval {rho.low:.2f} to {rho.high:.2f}."
    ]


def winners(table: pd.DataFrame, protocol: Protocol) -> list[str]:
    """Mean ranks, tests, differences from the dual, and ranks in groups of pairs."""
    outcome = questions.study(table, protocol)
    told = [" ".join(outcome.conclusions)]
    others = [name for name in outcome.ranks if name != "SVMDual"]
    if "SVMDual" in outcome.ranks:
        against = [(name, questions.gains(table, name, "SVMDual")) for name in others]
        against.sort(key=lambda pair: -pair[1].value)
        texts = [f"`{name}` {percent(gain, True)}" for name, gain in against]
        told.append(f"Mean accuracy over the pairs minus that of `SVMDual`: {'; '.join(texts)}.")
    ranks = questions.group_ranks(table, protocol)
    order = sorted(ranks.index, key=outcome.ranks.__getitem__)
    rows = []
    for name in order:
        texts = [
            f"**{value:.2f}**" if value == ranks[group].min() else f"{value:.2f}"
            for group, value in ranks.loc[name].items()
        ]
        rows.append([f"`{name}`", f"{outcome.ranks[name]:.2f}", *texts])
    heads = ["mean rank", f"all ({len(outcome.study.sources)})", *ranks.columns]
    told.append("\n".join(markdown_table(heads, rows, "l" + "r" * (1 + ranks.shape[1]))))
    told.append("Columns have the number of their pairs; the best rank of each column is bold.")
    return [*told, *accuracies(table, order)]


def accuracies(table: pd.DataFrame, methods: list[str]) -> list[str]:
    """The mean accuracy of every method on every pair."""
    rows = table[(table["part"] == "study") & (table["error"] == "")]
    means = 100.0 * rows.pivot_table(index="pair", columns="method", values="accuracy")
    shown = [
        [
            str(pair),
            *(f"**{value:.1f}**" if value == row.max() else f"{value:.1f}" for value in row),
        ]
        for pair, row in means[methods].round(1).iterrows()
    ]
    heads = ["accuracy (%)", *(f"`{name}`" for name in methods)]
    text = "Mean accuracies over the folds, with the best of each pair in bold:"
    return [text, "\n".join(markdown_table(heads, shown, "l" + "r" * len(methods)))]


def summarised(table: pd.DataFrame, protocol: Protocol) -> list[str]:
    """The methods with the best mean ranks, over all pairs and in groups, for the guide."""
    outcome, groups = questions.study(table, protocol), questions.group_ranks(table, protocol)
    count = len(outcome.study.sources)
    ranks = {f"all ({count})": pd.Series(outcome.ranks), **{name: groups[name] for name in groups}}
    rows = []
    for name, column in ranks.items():
        best = column.sort_values(kind="stable").iloc[:FIRST]
        rows.append([name, ", ".join(f"`{method}` {rank:.1f}" for method, rank in best.items())])
    heads = ["pairs of the atlas", f"best mean ranks of {len(outcome.ranks)} methods by accuracy"]
    told = [text for text in outcome.conclusions if text.startswith("The best mean rank")]
    return [*told, "\n".join(markdown_table(heads, rows, "ll"))]


def costs(table: pd.DataFrame) -> list[str]:
    """The seconds of proofs, and how they grow with n and with the negative share."""
    found = questions.misses(table)
    found = found[found["q"] > 0]
    closed = found[found["proved_within"] <= CLOSE]
    if closed.empty:
        return ["No nonconvex program was proved."]
    quartiles = np.quantile(closed["seconds"], [0.25, 0.5, 0.75])
    told = (
        f"{len(closed)} of {len(found)} nonconvex programs were proved, in {quartiles[1]:.2g} s in "
        f"the median; the middle half took {quartiles[0]:.2g} to {quartiles[2]:.2g} s."
    )
    if closed["pair"].nunique() >= 5:
        grown = questions.growth(found)
        power, factor = grown["exponent of n"], grown["factor for 10 points"]
        told += (
            f" Seconds grow like n to the power {power.value:.1f} ({power.low:.1f} to "
            f"{power.high:.1f}), and by the factor {factor.value:.2g} ({factor.low:.2g} to "
            f"{factor.high:.2g}) for 10 points more of negative share, at one C. This is of the "
            "proved programs only: those that took too long are not in it."
        )
    return [told]


def unproved(table: pd.DataFrame) -> list[str]:
    """The fits of nonconvex formulations whose gap is not closed."""
    rows = questions.nonconvex(table)
    open_ = rows[rows["proved_within"] > CLOSE].sort_values("proved_within", ascending=False)
    told = [
        f"{len(rows) - len(open_)} of {len(rows)} tested fits of nonconvex formulations "
        f"({100 * (1 - len(open_) / max(1, len(rows))):.1f} %) are proved to {CLOSE:g}. With more "
        "than two classes the gap is that of the worst pair. The gap of a convex program "
        "is its duality gap. Fits that choose parameters are not proved."
    ]
    if open_.empty:
        return told
    lines = [
        [row.pair, row.method, f"{row.run:.0f}", f"{row.fold:.0f}", f"{row.proved_within:.1e}"]
        for row in open_.itertuples()
    ]
    told.append(
        "\n".join(markdown_table(["pair", "method", "seed", "fold", "gap"], lines, "llrrr"))
    )
    return told


def again() -> list[str]:
    """The commands."""
    return [
        "In a copy of the repository:",
        "```sh\npip install '.[atlas]'\n"
        "python -m reproduction.atlas --quick  # a handful of pairs\n"
        "python -m reproduction.atlas --jobs 2 --store atlas  # all; runs again what is missing\n"
        "python -m reproduction.atlas --report  # this page from the stored table\n```",
        "`INDEFINITE_OPT_DATA` names the folder of the sets that no package ships. `--seeds 2` "
        "adds a second seed of the folds. `--cluster ADDRESS` runs the cells on a Dask scheduler, "
        "by joblib's back end.",
    ]


def references() -> Iterator[str]:
    """The sources and similarities that are cited."""
    yield "## References"
    cited = {pair.source.citation for pair in pairs().values()}
    cited |= {pair.similarity.citation for pair in pairs().values()}
    yield "\n".join(f"- {citation}" for citation in sorted(cited))
