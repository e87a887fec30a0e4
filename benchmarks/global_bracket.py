"""`iopt.bound` against its targets and its peers; run `python benchmarks/global_bracket.py`.

Brackets of SVMDual on indefinite kernels of 20 to 250 points, compared with SCIP and Gurobi where
they are installed; bounds against the enumerated optimum of small random programs and against
thousands of local solves; and the distance of LIBSVM, one descent and the default solve from the
proved optimum.

Gaps are (bound - value) / max(1, |value|). "Gap after" and "s to" are taken from the trace of the
search, whose first entry is the multistart value with a bound from one eigendecomposition. Seconds
include the local search, but not the construction of the problem or compilation. The protein data
set is read from the folder that `INDEFINITE_OPT_DATA` names, and omitted if it is not there.

`--resume FILE` keeps every finished instance as a line of JSON, and reads it from there next time.
"""

from __future__ import annotations

import argparse
import itertools
import multiprocessing
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from global_peers import PEERS
from local_solver import libsvm_objective, two_classes
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

import indefinite_opt as iopt
from indefinite_opt.modeling.structures import BoxLineQP
from indefinite_opt.studies.store import Store

Array = NDArray[np.float64]

KERNELS = (
    "sigmoid",
    "sigmoid(a=1,r=-1)",
    "l1-gaussian(gamma=0.01)",
    "epanechnikov",
    "epanechnikov(gamma=0.05)",
    "random",
    "simpson",
    "polynomial(r=-1)",
    "distance(distance=chebyshev,gamma=0.1)",
    "distance(form=linear)",
    "gaussian",
)
"""Families of indefinite kernels, and the Gaussian as a convex control."""

CONVEX = ("l1-gaussian", "polynomial", "distance(gamma=0.1)")
"""Kernels in the table of convexity only, as they are convex on these points at every size."""

LARGE_KERNELS = (
    "sigmoid",
    "distance(distance=chebyshev,gamma=0.1)",
    "distance(form=linear)",
)

PROTEIN = "protein"

BOUNDS = (1.0, 10.0)
"""Values of C."""

MOMENTS = (1.0, 5.0, 30.0)
"""Seconds after which the gap is printed."""

PROCESSES = 2

CHUNK = 50
"""Number of enumerated instances per line of the journal."""

FALSE = 1e-9
"""Relative amount by which a bound must cross a feasible value to count as false, as the
evaluation of that value is rounded."""

SINGULAR = 1e12
"""Condition number from which a face is skipped, as in tests/helpers/exact.py."""

LIBSVM_STEPS = 1_000_000
"""Largest number of steps of LIBSVM, which may cycle on indefinite kernels."""


# Instances, and what is kept about them


@dataclass(frozen=True)
class Instance:
    """One SVM dual; `kernel` may be the name of a data set that has its own."""

    n: int
    kernel: str
    C: float
    seed: int

    @cached_property
    def problem(self) -> iopt.KernelProblem:
        if self.kernel == PROTEIN:
            return iopt.KernelProblem.from_dataset(iopt.datasets.load(PROTEIN), form="gaussian")
        return iopt.KernelProblem(*two_classes(self.n, self.kernel, self.seed))

    @property
    def formulation(self) -> iopt.SVMDual:
        return iopt.SVMDual(C=self.C)

    @property
    def convex(self) -> bool:
        """Whether it is convex along yᵀα = 0, so that local optima are global."""
        return self.problem.is_convex(lines=1)

    @property
    def cells(self) -> str:
        return f"| {self.n} | {self.kernel} | {self.C:g} | {self.seed} "


@dataclass(frozen=True)
class Closed:
    """The bracket of one instance: an attained value and the bound above it.

    `curve` is the trace as pairs (seconds, gap), one per change of the gap.
    """

    value: float
    bound: float
    gap: float
    seconds: float
    boxes: int
    status: str
    convex: bool
    curve: list[tuple[float, float]] = field(repr=False)

    def gap_after(self, seconds: float) -> float:
        return min((gap for at, gap in self.curve if at <= seconds), default=np.inf)

    def seconds_to(self, gap: float) -> float:
        return min((at for at, reached in self.curve if reached <= gap), default=np.inf)


@dataclass(frozen=True)
class Faced:
    """The answer of one peer, as a maximum; `false` names a bound that a value crosses."""

    gap: float
    seconds: float
    note: str
    false: str


@dataclass(frozen=True)
class Checked:
    """Enumerated instances of a chunk of seeds; `false` has one line per failure."""

    instances: int
    nonconvex: int
    closed: int
    largest_gap: float
    largest_cross: float
    seconds: float
    false: list[str]


@dataclass(frozen=True)
class Rivals:
    """The best of many local solves from random points, and the share that reached it."""

    best: float
    share: float


@dataclass(frozen=True)
class Points:
    """Objectives of LIBSVM at two tolerances, of one descent and of the default solve."""

    libsvm_3: float
    libsvm_6: float
    smo: float
    multistart: float


Kept = TypeVar("Kept", Closed, Faced, Checked, Rivals, Points)


class Journal:
    """Finished work by its key, in memory and optionally as JSON lines in a file."""

    def __init__(self, path: Path | None) -> None:
        self.store = None if path is None else Store(path)
        self.kept: dict[str, list[dict[str, Any]]] = {}
        if self.store is not None:
            self.kept = self.store.outcomes

    def get(self, kind: type[Kept], key: str) -> Kept | None:
        """The outcome stored under a key, or None."""
        rows = self.kept.get(f"{kind.__name__} {key}")
        return None if rows is None else kind(**rows[0])

    def put(self, key: str, kept: Kept) -> Kept:
        """Store an outcome, at once on disk, too."""
        name, rows = f"{type(kept).__name__} {key}", [asdict(kept)]
        self.kept[name] = rows
        if self.store is not None:
            self.store.add(name, rows)
        return kept

    def once(self, kind: type[Kept], key: str, work: Callable[[], Kept]) -> Kept:
        """The stored outcome, or else that of the work, which is then stored."""
        kept = self.get(kind, key)
        return self.put(key, work()) if kept is None else kept


def say(line: str) -> None:
    """Print without a buffer, so that nothing is lost if the run is stopped."""
    print(line, flush=True)


def head(title: str, columns: str) -> None:
    """Print a heading and the first two lines of a table."""
    say(f"\n## {title}\n")
    say(f"| {columns} |\n" + "|---" * (columns.count("|") + 1) + "|")


def share(counted: Iterable[bool]) -> str:
    """The number of true entries and their percentage."""
    flags = list(counted)
    return f"{sum(flags)} of {len(flags)} ({100.0 * sum(flags) / max(len(flags), 1):.0f} %)"


def middle(numbers: Iterable[float]) -> str:
    """The median and the maximum."""
    found = list(numbers) or [np.nan]
    return f"{np.median(found):.3g}, {max(found):.3g}"


# Brackets


def bracket(instance: Instance, seconds: float, gap: float) -> Closed:
    """The outcome of `iopt.bound` as numbers."""
    found = iopt.bound(instance.problem, instance.formulation, time_limit=seconds, gap=gap)
    curve: list[tuple[float, float]] = []
    for at, reached in zip(found.trace.seconds, found.trace.residual, strict=True):
        if not curve or reached < curve[-1][1]:
            curve.append((float(at), float(reached)))
    return Closed(
        value=found.objective,
        bound=found.bound,
        gap=found.relative_gap,
        seconds=found.seconds,
        boxes=found.nodes,
        status=found.status.name.lower().replace("_", " "),
        convex=instance.convex,
        curve=curve,
    )


@dataclass(frozen=True)
class Section:
    """Instances with the same targets.

    The search stops at the relative gap `gap`, and the gaps in `levels` are counted.
    """

    name: str
    instances: list[Instance]
    seconds: float
    gap: float
    levels: tuple[float, ...]
    to_reach: str

    def closed(self, instance: Instance, journal: Journal) -> Closed:
        """The bracket of an instance, from the journal if it is there."""
        key = f"{instance} {self.seconds:g} s {self.gap:g}"
        return journal.once(Closed, key, lambda: bracket(instance, self.seconds, self.gap))


def brackets(section: Section, journal: Journal) -> None:
    """Print one row per instance, and a summary."""
    after = " | ".join(f"gap after {at:g} s" for at in MOMENTS)
    levels = " | ".join(f"s to {level:g}" for level in section.levels)
    head(
        f"{section.name}: brackets of SVMDual, at most {section.seconds:g} s, "
        f"stopped at gap {section.gap:g}",
        f"n | kernel | C | seed | convex | value | gap | s | nodes | {after} | {levels} | ends",
    )
    rows: list[tuple[Instance, Closed]] = []
    for instance in section.instances:
        found = section.closed(instance, journal)
        rows.append((instance, found))
        gaps = " | ".join(f"{found.gap_after(at):.1e}" for at in MOMENTS)
        times = " | ".join(f"{found.seconds_to(level):.2f}" for level in section.levels)
        say(
            f"{instance.cells}| {'yes' if found.convex else ''} | {found.value:.8g} "
            f"| {found.gap:.1e} | {found.seconds:.2f} | {found.boxes} | {gaps} | {times} "
            f"| {found.status} |"
        )
    summary(section, rows)


def summary(section: Section, rows: list[tuple[Instance, Closed]]) -> None:
    """Print shares and times of all instances by size, and of the nonconvex ones by kernel."""
    levels = " | ".join(f"gap ≤ {level:g}" for level in section.levels)
    head(
        f"{section.name}: summary",
        f"instances | nonconvex | {levels} | gap: median, worst | s: median, worst | nodes: "
        "median, most",
    )
    groups: dict[str, list[Closed]] = {}
    for instance, found in rows:
        names = [f"n = {instance.n}"]
        if not found.convex:
            names += ["nonconvex", f"nonconvex, {instance.kernel}"]
        for name in names:
            groups.setdefault(name, []).append(found)
    # First by size, then all nonconvex instances, then those by kernel.
    for name in sorted(groups, key=lambda name: (name.startswith("nonconvex"), "," in name)):
        founds = groups[name]
        cells = " | ".join(share(f.gap <= level for f in founds) for level in section.levels)
        say(
            f"| {name} | {sum(not f.convex for f in founds)} of {len(founds)} | {cells} "
            f"| {middle(f.gap for f in founds)} | {middle(f.seconds for f in founds)} "
            f"| {middle(f.boxes for f in founds)} |"
        )
    say(f"\nTo reach: {section.to_reach}.")


def grid(sizes: Iterable[int], kernels: Iterable[str], seeds: int) -> list[Instance]:
    """The instances of all combinations, with both values of C."""
    chosen = itertools.product(sizes, kernels, BOUNDS, range(seeds))
    return [Instance(n, kernel, C, seed) for n, kernel, C, seed in chosen]


def convexity(sizes: list[int], seeds: int) -> None:
    """Count the nonconvex problems; a local solve is enough for the others."""
    head(
        f"Nonconvex along yᵀα = 0, of {seeds} seeds",
        "kernel | " + " | ".join(f"n = {n}" for n in sizes),
    )
    for kernel in (*KERNELS, *CONVEX):
        counts = (
            sum(not Instance(n, kernel, 1.0, seed).convex for seed in range(seeds)) for n in sizes
        )
        say(f"| {kernel} | " + " | ".join(map(str, counts)) + " |")


def protein() -> list[Instance]:
    """The protein distances in Gaussian form; if they are missing, print why."""
    try:
        data = iopt.datasets.load(PROTEIN)
    except iopt.IndefiniteOptError as error:
        say(f"\nLeft out: {PROTEIN}. {error}")
        return []
    return [Instance(len(data.y), PROTEIN, C, 0) for C in BOUNDS]


# Peers


def faced(instance: Instance, peer: str, seconds: float, ours: Closed) -> Faced:
    """Run one peer, and see whether its value crosses our bound or its bound our value."""
    structure = instance.formulation.structure(instance.problem)
    found = PEERS[peer](structure, seconds)
    value, bound = structure.declared(found.upper), structure.declared(found.lower)
    false = ""
    if value > ours.bound + FALSE * max(1.0, abs(ours.bound)):
        false = f"ours: {ours.bound:.12g} < {value:.12g}"
    elif bound < ours.value - 1e-6 * max(1.0, abs(ours.value)):
        false = f"{peer}'s: {bound:.12g} < {ours.value:.12g}"
    return Faced(found.gap, found.seconds, found.note, false)


def facing(instances: list[Instance], most: int) -> list[Instance]:
    """Nonconvex instances of the first seed, one per kernel, with alternating sizes and C."""
    by_kernel: dict[str, list[Instance]] = {}
    for instance in instances:
        if instance.seed == 0 and not instance.convex:
            by_kernel.setdefault(instance.kernel, []).append(instance)
    chosen = [found[i % len(found)] for i, found in enumerate(by_kernel.values())]
    return chosen[:most]


def peers(instances: list[Instance], seconds: float, most: int, journal: Journal) -> None:
    """Print our brackets and those of the peers with the same time limit."""
    section = Section("peers", facing(instances, most), seconds, 1e-6, (), "")
    columns = " | ".join(f"{name} gap | s | note" for name in PEERS)
    head(
        f"Peers, gap after {seconds:g} s (theirs: one thread; ours: two)",
        f"n | kernel | C | seed | ours | s | {columns} | false",
    )
    for instance in section.instances:
        ours = section.closed(instance, journal)
        answers = [
            journal.once(
                Faced,
                f"{name} {instance} {seconds:g} s",
                partial(faced, instance, name, seconds, ours),
            )
            for name in PEERS
        ]
        cells = " | ".join(f"{a.gap:.1e} | {a.seconds:.1f} | {a.note}" for a in answers)
        false = "; ".join(a.false for a in answers if a.false)
        say(f"{instance.cells}| {ours.gap:.1e} | {ours.seconds:.2f} | {cells} | {false} |")


# False certificates: enumeration


@dataclass(frozen=True, eq=False)
class Small:
    """min F(x) = ½xᵀHx + qᵀx  s.t.  0 ≤ x ≤ u, Ax = b; the declared objective is sense·F.

    Each weight appears in at most one row of A.
    """

    H: Array
    q: Array
    u: float
    A: Array
    b: Array
    sense: int
    unit: float


def declared(problem: iopt.KernelProblem, formulation: iopt.Formulation) -> Small:
    """The program from K, y and the formulas alone, not from the structure the search reads."""
    K, y, n = problem.K, problem.y, problem.n
    Q = K * np.outer(y, y)
    if isinstance(formulation, iopt.SVMDual):
        A = y[None, :] if formulation.bias else np.zeros((0, n))
        return Small(Q, -np.ones(n), formulation.C, A, np.zeros(len(A)), -1, 1.0)
    classes = np.array([y > 0, y < 0], dtype=float)
    unit = min(1.0, float(np.abs(K).max())) or 1.0
    if isinstance(formulation, iopt.ConvexHullDual):
        squares = np.diag(K)[:, None] - 2.0 * K + np.diag(K)[None, :]
        H = -squares * np.outer(y, y)
        return Small(H, np.zeros(n), formulation.mu, classes, np.ones(2), -1, unit)
    assert isinstance(formulation, iopt.GuoSchuurmansQP)
    return Small(2.0 * Q, np.zeros(n), formulation.beta, classes, np.full(2, 0.5), 1, unit)


def candidates(small: Small, k: int) -> Array:
    """The stationary points of F on the faces with k free weights, where they exist.

    One batch of KKT systems treats all choices of free weights, with the corners of the others as
    right-hand sides. A constraint without a free weight gets the multiplier 0 and is checked later.
    """
    n, m = small.q.size, small.b.size
    free = np.array(list(itertools.combinations(range(n), k)), dtype=int)
    fixed = np.array([np.setdiff1d(np.arange(n), row) for row in free], dtype=int)
    corners = np.array(list(itertools.product((0.0, small.u), repeat=n - k)))
    X = np.zeros((len(free), len(corners), n))
    faces = np.arange(len(free))[:, None, None]
    X[faces, np.arange(len(corners))[None, :, None], fixed[:, None, :]] = corners
    if k == 0:
        return X.reshape(-1, n)
    lines = np.moveaxis(small.A[:, free], 1, 0)
    untouched = ~np.any(lines, axis=2)
    systems = np.zeros((len(free), k + m, k + m))
    systems[:, :k, :k] = small.H[free[:, :, None], free[:, None, :]]
    systems[:, k:, :k] = lines
    systems[:, :k, k:] = np.swapaxes(lines, 1, 2)
    systems[:, range(k, k + m), range(k, k + m)] = untouched
    slopes = np.take_along_axis(X @ small.H + small.q, free[:, None, :], axis=2)
    short = np.where(untouched[:, None, :], 0.0, small.b - X @ small.A.T)
    regular = np.linalg.cond(systems) < SINGULAR
    right = np.concatenate([-slopes, short], axis=2)[regular]
    solved = np.linalg.solve(systems[regular], np.swapaxes(right, 1, 2))
    X, free = X[regular], free[regular]
    np.put_along_axis(X, free[:, None, :], np.swapaxes(solved, 1, 2)[:, :, :k], axis=2)
    return X.reshape(-1, n)


def least(small: Small) -> float:
    """min F over the feasible stationary points of all 3ⁿ faces, among which the minimiser is.

    A face with a singular system is skipped, since a minimum inside it extends to its boundary at
    the same value. Multipliers need not be checked, as any feasible point bounds the minimum.
    """
    slack = 1e-11 * small.u
    best = np.inf
    for k in range(small.q.size + 1):
        X = candidates(small, k)
        inside = np.all((-slack <= X) & (small.u + slack >= X), axis=1)
        inside &= np.all(np.abs(X @ small.A.T - small.b) <= 10.0 * slack, axis=1)
        X = X[inside]
        values = 0.5 * np.einsum("pi,ij,pj->p", X, small.H, X) + X @ small.q
        best = min(best, float(values.min(initial=np.inf)))
    return best


def random_matrix(generator: np.random.Generator, n: int) -> Array:
    """A symmetric matrix of any scale: dense, of small integers, of low rank, or of tanh."""
    family = generator.integers(4)
    if family == 1:
        # Integers make exact ties, zeros and singular faces.
        half = np.triu(generator.integers(-2, 3, (n, n))).astype(float)
        return half + np.triu(half, 1).T
    if family == 2:
        rank = int(generator.integers(1, n + 1))
        V = generator.standard_normal((n, rank))
        K = (V * generator.choice([-1.0, 1.0], rank)) @ V.T
    elif family == 3:
        X = generator.standard_normal((n, 2))
        K = np.tanh(generator.uniform(0.2, 3.0) * X @ X.T + generator.uniform(-2.0, 1.0))
    else:
        K = generator.standard_normal((n, n))
    scale = 10.0 ** generator.uniform(-3.0, 3.0) if generator.random() < 0.5 else 1.0
    return scale * 0.5 * (K + K.T)


def random_program(seed: int) -> tuple[iopt.KernelProblem, iopt.Formulation]:
    """One of four programs on two to seven points."""
    generator = np.random.default_rng([seed, 7])
    n = int(generator.integers(2, 8))
    K = random_matrix(generator, n)
    y = generator.permutation(np.append([1, -1], generator.choice([-1, 1], n - 2)))
    problem = iopt.KernelProblem(K, y)
    C = float(10.0 ** generator.uniform(-1.0, 1.5))
    # From the least feasible value to that of the whole hull.
    part = generator.uniform(1.0, problem.smaller_class + 0.5) / problem.smaller_class
    formulations = (
        iopt.SVMDual(C=C),
        iopt.SVMDual(C=C, bias=False),
        iopt.ConvexHullDual(mu=float(part)),
        iopt.GuoSchuurmansQP(beta=0.5 * float(part)),
    )
    return problem, formulations[seed % 4]


def checked(seeds: range) -> Checked:
    """Compare brackets of random programs with the enumerated optimum."""
    began = time.perf_counter()
    false: list[str] = []
    nonconvex = closed = 0
    gaps, crosses = [0.0], [-np.inf]
    for seed in seeds:
        problem, formulation = random_program(seed)
        structure = formulation.structure(problem)
        assert isinstance(structure, BoxLineQP)
        small = declared(problem, formulation)
        optimum = least(small)
        found = iopt.bound(problem, formulation, time_limit=10.0, gap=1e-6)
        size = max(small.unit, abs(optimum))
        above = (small.sense * found.bound - optimum) / size
        below = (optimum - small.sense * found.objective) / size
        crosses.append(max(above, below))
        gaps.append(found.relative_gap)
        nonconvex += not structure.is_convex
        closed += found.relative_gap <= 1e-6
        if not crosses[-1] <= FALSE:
            what = "bound above the optimum" if above > FALSE else "value below the optimum"
            name = f"seed {seed}, n = {problem.n}, {formulation}"
            false.append(f"{name}: {what} by {crosses[-1]:.2e}")
    seconds = time.perf_counter() - began
    return Checked(len(seeds), nonconvex, closed, max(gaps), max(crosses), seconds, false)


def one_thread_each() -> None:
    """Limit a worker process to one thread."""
    threadpool_limits(1)


def with_item(work: Callable[[Any], Any], item: Any) -> tuple[Any, Any]:
    return item, work(item)


def in_parallel(work: Callable[[Any], Any], items: list[Any]) -> Iterator[tuple[Any, Any]]:
    """Pairs (item, outcome) from two processes, in the order of completion."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(PROCESSES, one_thread_each) as pool:
        yield from pool.imap_unordered(partial(with_item, work), items)


def enumeration_agrees(count: int) -> None:
    """Compare `least` with tests/helpers/exact.py, whose minimum can only be larger.

    With two lines it may be, as a face where a class has no free weight is skipped there.
    """
    sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
    from helpers.exact import global_minimum

    above, below, compared = 0.0, {0: 0, 1: 0, 2: 0}, 0
    for seed in itertools.count():
        problem, formulation = random_program(seed)
        small = declared(problem, formulation)
        if problem.n > 5:
            continue
        with np.errstate(all="ignore"):
            try:
                theirs = global_minimum(small.H, small.q, small.u, small.A, small.b)
            except ValueError:  # no isolated stationary point at all
                theirs = np.inf
        relative = (least(small) - theirs) / max(small.unit, abs(theirs))
        below[small.b.size] += not relative >= -FALSE
        above = max(above, relative)
        compared += 1
        if compared == count:
            break
    say(
        f"\nEnumeration here against tests/helpers/exact.py on {count} programs of n ≤ 5: nowhere "
        f"above it by more than {above:.0e} (to reach: {FALSE:g}); below it on {below[2]} with two "
        f"lines, {below[1]} with one, {below[0]} with none."
    )


def enumeration(count: int, journal: Journal) -> None:
    """Compare brackets of random programs of two to seven points with all stationary points."""
    say(f"\n## False certificates: {count} random programs, n ≤ 7, all 3ⁿ faces enumerated\n")
    enumeration_agrees(50)
    chunks = [range(first, min(first + CHUNK, count)) for first in range(0, count, CHUNK)]
    kept = {chunk: journal.get(Checked, f"{chunk}") for chunk in chunks}
    done = [found for found in kept.values() if found is not None]
    for each in itertools.chain.from_iterable(found.false for found in done):
        say(f"\nFALSE: {each}")
    for chunk, found in in_parallel(checked, [chunk for chunk in chunks if kept[chunk] is None]):
        done.append(journal.put(f"{chunk}", found))
        for each in found.false:
            say(f"\nFALSE: {each}")
    head(
        "Brackets against the enumerated optimum",
        "programs | nonconvex | closed to 1e-6 | largest gap | farthest across the optimum | "
        "s (all processes) | false",
    )
    total = sum(each.instances for each in done)
    say(
        f"| {total} | {sum(each.nonconvex for each in done)} | {sum(e.closed for e in done)} "
        f"| {max(each.largest_gap for each in done):.1e} "
        f"| {max(each.largest_cross for each in done):.1e} "
        f"| {sum(each.seconds for each in done):.0f} | {sum(len(each.false) for each in done)} |"
    )
    say(f"\nFalse: across by more than {FALSE:g}, relative. To reach: 0 of 10,000.")


# False certificates: local solves


def rivals(task: tuple[Instance, int]) -> Rivals:
    """Run descents from random points; those within 1e-6 of the best count as reaching it."""
    instance, starts = task
    generator = np.random.default_rng([instance.seed, 11])
    structure = instance.formulation.structure(instance.problem)
    values = np.array(
        [
            iopt.solve(
                instance.problem,
                instance.formulation,
                solver="smo",
                start=structure.random_start(generator),
            ).objective
            for _ in range(starts)
        ]
    )
    best = float(values.max())
    return Rivals(best, float(np.mean(values >= best - 1e-6 * max(1.0, abs(best)))))


def local_solves(section: Section, starts: int, journal: Journal) -> None:
    """Compare the brackets of nonconvex instances of the first seed with many local solves."""
    chosen = [each for each in section.instances if each.seed == 0 and not each.convex]
    ours = {each: section.closed(each, journal) for each in chosen}
    head(
        f"The bracket against the best of {starts} local solves, n ≤ 40",
        "n | kernel | C | seed | value | gap | best of local solves above value | above bound | "
        "reached by | false",
    )
    false = missed = 0
    known = {each: journal.get(Rivals, f"{each} {starts}") for each in chosen}
    pairs: Iterator[tuple[Instance, Rivals]] = itertools.chain(
        ((each, found) for each, found in known.items() if found is not None),
        (
            (task[0], journal.put(f"{task[0]} {starts}", found))
            for task, found in in_parallel(
                rivals, [(each, starts) for each in chosen if known[each] is None]
            )
        ),
    )
    for instance, found in pairs:
        own = ours[instance]
        size = max(1.0, abs(found.best))
        better, across = (found.best - own.value) / size, (found.best - own.bound) / size
        false += across > FALSE
        missed += better > FALSE
        say(
            f"{instance.cells}| {own.value:.8g} | {own.gap:.1e} | {better:+.1e} | {across:+.1e} "
            f"| {100.0 * found.share:.2f} % | {'FALSE' if across > FALSE else ''} |"
        )
    say(
        f"\nFalse: {false} of {len(chosen)} (to reach: 0). Best point missed by the bracket's "
        f"value: {missed}."
    )


# How far local solutions are from the proved optimum


def points(instance: Instance) -> Points:
    """Objectives of the methods that prove nothing."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.svm import SVC

    problem, formulation = instance.problem, instance.formulation
    found = []
    for tol in (1e-3, 1e-6):
        libsvm = SVC(kernel="precomputed", C=instance.C, tol=tol, max_iter=LIBSVM_STEPS)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            libsvm.fit(problem.K, problem.y)
        found.append(libsvm_objective(problem.K, problem.y, libsvm))
    found += [iopt.solve(problem, formulation, solver=solver).objective for solver in ("smo", None)]
    return Points(*found)


def shortfalls(instance: Instance, own: Closed, journal: Journal) -> tuple[float, ...]:
    """(value of the bracket - objective) / max(1, |value|) of each method."""
    found = journal.once(Points, f"{instance}", partial(points, instance))
    return tuple((own.value - each) / max(1.0, abs(own.value)) for each in asdict(found).values())


def distance(sections: list[Section], journal: Journal) -> None:
    """Print how far each method is from the optimum, by size, by kernel, and where nonconvex."""
    names = ("LIBSVM 1e-3", "LIBSVM 1e-6", "smo", "multistart")
    columns = " | ".join(f"{name}: median, worst | within 1e-6" for name in names)
    head(
        "How far from the proved optimum: (value - objective) / max(1, |value|)",
        f"n | kernel | instances | largest gap of the brackets | {columns}",
    )
    nonconvex: dict[str, list[tuple[Closed, tuple[float, ...]]]] = {}
    for section in sections:
        groups: dict[tuple[int, str], list[Instance]] = {}
        for instance in section.instances:
            groups.setdefault((instance.n, instance.kernel), []).append(instance)
        for (n, kernel), instances in groups.items():
            rows = []
            for instance in instances:
                own = section.closed(instance, journal)
                rows.append((own, shortfalls(instance, own, journal)))
            say(f"| {n} | {kernel} {distance_cells(rows)}")
            nonconvex.setdefault(kernel, []).extend(row for row in rows if not row[0].convex)
    for kernel, rows in nonconvex.items():
        if rows:
            say(f"| all nonconvex | {kernel} {distance_cells(rows)}")
    every = list(itertools.chain.from_iterable(nonconvex.values()))
    if every:
        say(f"| all nonconvex | all {distance_cells(every)}")
    say("\nThe value is the bracket's, whose search starts from the local solves of multistart;")
    say("no point is better by more than the gap in the fourth column. Negative: one is.")


def distance_cells(rows: list[tuple[Closed, tuple[float, ...]]]) -> str:
    """The number of rows, the largest gap, and two cells per method."""
    cells = [f"{len(rows)}", f"{max(own.gap for own, _ in rows):.1e}"]
    for column in zip(*(found for _, found in rows), strict=True):
        cells.append(f"{np.median(column):.1e}, {max(column, key=abs):.1e}")
        cells.append(share(abs(each) <= 1e-6 for each in column))
    return "| " + " | ".join(cells) + " |"


# The run


def sections_of(options: argparse.Namespace) -> dict[str, Section]:
    """The sections with brackets, with the limits of the targets or smaller ones by option."""
    quick = options.quick

    def limit(seconds: float) -> float:
        return min(seconds, options.seconds or seconds)

    def seeds(default: int) -> int:
        return options.seeds or (1 if quick else default)

    large = grid([200] if quick else [200, 250], LARGE_KERNELS, seeds(1))
    wanted = {"large", "distance"} & set(options.only)
    return {
        "small": Section(
            "small", grid([20] if quick else [20, 40], KERNELS, seeds(3)), limit(60.0), 1e-6,
            (1e-6,), "gap ≤ 1e-6 on 95 % within 60 s, median under 5 s",
        ),
        "medium": Section(
            "medium", grid([80] if quick else [80, 100], KERNELS, seeds(2)), limit(120.0),
            options.medium_gap, (1e-2, 5e-3, 1e-4),
            "gap ≤ 1e-4 on 70 % within 120 s on 2 cores (90 % is the dream), ≤ 5e-3 on all",
        ),
        "large": Section(
            "large", large + (protein() if wanted else []), limit(600.0), 1e-3, (1e-2, 1e-3),
            "gap ≤ 1e-2 within 10 minutes on most",
        ),
    }  # fmt: skip


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = ("small", "medium", "large", "false", "distance")
    parser.add_argument("--quick", action="store_true", help="few instances, to see that it runs")
    parser.add_argument("--only", nargs="+", choices=names, default=names)
    parser.add_argument("--seconds", type=float, help="most seconds of a bracket")
    parser.add_argument("--seeds", type=int, help="by default 3, 2 and 1 by size")
    parser.add_argument(
        "--medium-gap", type=float, default=1e-4, help="where the medium section stops"
    )
    parser.add_argument("--peers", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--peer-seconds", type=float, default=30.0)
    parser.add_argument("--peer-instances", type=int, default=10)
    parser.add_argument("--programs", type=int, default=10_000, help="that are enumerated")
    parser.add_argument("--local-solves", type=int, default=10_000, help="for each instance")
    parser.add_argument("--resume", type=Path, help="journal of JSON lines to go on from")
    options = parser.parse_args()
    if options.quick:
        options.seconds = min(10.0, options.seconds or 10.0)
        options.peer_seconds = min(3.0, options.peer_seconds)
        options.peer_instances = min(2, options.peer_instances)
        options.programs = min(200, options.programs)
        options.local_solves = min(200, options.local_solves)
    return options


def main() -> None:
    """Print the chosen tables."""
    options = parsed()
    journal = Journal(options.resume)
    say(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the start.")
    warm = Instance(40, "random", 1.0, 99)
    bracket(warm, 2.0, 1e-12)
    sections = sections_of(options)
    for name in options.only:
        if name in sections:
            if name == "small":
                convexity([20, 40, 80, 100], 3)
            brackets(sections[name], journal)
        if name == "small" and options.peers:
            small = sections[name].instances
            peers(small, options.peer_seconds, options.peer_instances, journal)
        if name == "false":
            enumeration(options.programs, journal)
            local_solves(sections["small"], options.local_solves, journal)
        if name == "distance":
            distance(list(sections.values()), journal)
    say(f"\nLoad {os.getloadavg()[0]:.1f} at the end.")


if __name__ == "__main__":
    main()
