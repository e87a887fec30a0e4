"""The reference library: small quadratic programs with best-known objectives and brackets.

Every instance is generated: SVM duals from a kernel, a number of points and a seed, and programs
with any rows from their names. The folder `data` holds a table, the best-known points, and a README
with the instances in plain numpy, for readers who do not use this package.
"""

from __future__ import annotations

import csv
import dataclasses
import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from indefinite_opt.errors import DataError, IndefiniteOptError
from indefinite_opt.foundation import (
    Array,
    Values,
    checks,
    finite_array,
    parsed_json,
    read_bytes,
)
from indefinite_opt.problem import KernelProblem
from indefinite_opt.quadratic import QP, Certificate, PairedQP, QuadraticProgram
from indefinite_opt.studies.reference_library.instances import Digest, Instance
from indefinite_opt.workflow import bound
from indefinite_opt.workflow.certificates import verify

FORMAT = 2
"""Version of the table format, raised when its columns change."""

FOLDER = Path(__file__).parent / "data"
TABLE, POINTS, PROOFS = "references.csv", "points.json", "proofs"

TARGET_GAP = 1e-6
"""Relative gap at which the computation of a bracket stops; the default tolerance of `solve`."""

ROUNDING = 1e-9
"""Relative difference below which objectives from two machines count as equal: their kernels may
differ by a few units in the last place, and sums over 100² entries by a few hundred."""

_BRACKET, _ORIGIN = ("best", "lower", "upper"), ("method", "date", "version")
_DIGEST = tuple(each.name for each in dataclasses.fields(Digest))


class FalseCertificate(IndefiniteOptError):
    """A feasible point lies outside a certified bracket: one of the two is wrong.

    Examples
    --------
    The error is caught like any other; none is known in the library:

    >>> import indefinite_opt as iopt
    >>> issubclass(FalseCertificate, iopt.IndefiniteOptError)
    True
    """


@dataclass(frozen=True, eq=False)
class Reference(Instance):
    """An instance with what is known about its optimal value.

    Attributes
    ----------
    sense : str
        "max" or "min", as the formulation is declared.
    convex : bool
        Whether the program is convex, decided by eigenvalues.
    best : float
        Best-known objective, attained by the point `values`.
    lower, upper : float
        lower ≤ optimal value ≤ upper, both proved. One of them is the best-known objective, and
        the other is infinite if nothing is proved.
    method : str
        The method of `bound` that proved the bracket, or "closed form", or "nothing proved".
    date, version : str
        Date of the computation, and version of this package.
    digest : Digest
        Digest of the kernel matrix and the labels.
    values : dict of str to array
        The best-known point.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> reference = iopt.reference_library.load("simpson-020-c1")
    >>> reference.sense, reference.convex, reference.lower <= reference.best <= reference.upper
    ('max', False, True)
    """

    sense: str
    convex: bool
    best: float
    lower: float
    upper: float
    method: str
    date: str
    version: str
    digest: Digest
    values: Values = field(repr=False)

    @property
    def relative_gap(self) -> float:
        """(upper - lower) / |best|; 0 for a closed form."""
        return (self.upper - self.lower) / abs(self.best)


class Standing(enum.Enum):
    """How a point compares with the best-known one; the value is the verdict in words.

    Examples
    --------
    >>> [standing.name for standing in Standing if standing.succeeds]
    ['EQUAL', 'BETTER']
    """

    INFEASIBLE = "the point is infeasible"
    WORSE = "feasible, and worse than the best-known objective"
    EQUAL = "feasible, and as good as the best-known objective"
    BETTER = "feasible, and BETTER than the best-known objective, inside the bracket"
    IMPOSSIBLE = (
        "FALSE CERTIFICATE: feasible, and better than the certified bracket allows. The bracket is "
        "wrong, or the matrix is not the one it was computed for. Please report this"
    )

    @property
    def succeeds(self) -> bool:
        """Whether the point is at least as good as the best-known one, without contradiction."""
        return self in (Standing.EQUAL, Standing.BETTER)


@dataclass(frozen=True, eq=False)
class Check:
    """The outcome of `check`; `print` it.

    Attributes
    ----------
    reference : Reference
    standing : Standing
    objective : float
        In the declared sense, at the nearest point that is feasible to rounding, so that nothing
        is gained by violating constraints within the tolerance.
    shortfall : float
        How much worse this is than the best-known objective, relative to it; negative if better.
    excess : float
        How far it lies outside the bracket on the better side, relative likewise; 0 inside.
    certificate : Certificate
        The certificate of the point itself.

    Examples
    --------
    The point 0 is feasible, and worse than the best-known one:

    >>> import numpy as np, indefinite_opt as iopt
    >>> check = iopt.reference_library.check("simpson-020-c1", {"alpha": np.zeros(20)})
    >>> check.standing.name, check.objective, round(check.shortfall, 9)
    ('WORSE', 0.0, 1.0)
    """

    reference: Reference
    standing: Standing
    objective: float
    shortfall: float
    excess: float
    certificate: Certificate

    def __str__(self) -> str:
        known = self.reference
        than = "worse" if self.shortfall >= 0.0 else "better"
        lines = [
            f"{known.name}: {self.standing.value}.",
            f"  objective   {self.objective!r}  (nearest point that is feasible to rounding)",
            f"  best known  {known.best!r}  ({than} by {abs(self.shortfall):.2e}, relative)",
            f"  bracket     [{known.lower!r}, {known.upper!r}]  ({known.sense}, gap "
            f"{known.relative_gap:.2e}, {known.method})",
        ]
        if self.excess > 0.0:
            lines.append(f"  outside by  {self.excess:.2e}, relative")
        return "\n".join([*lines, "The point by itself:", str(self.certificate)])


def check(reference: Reference | str, values: Mapping[str, ArrayLike], tol: float = 1e-6) -> Check:
    """Compare a point with the best-known one and with the bracket.

    Parameters
    ----------
    reference : Reference or str
    values : mapping of str to array_like
        One entry per declared variable: `alpha`, `alphabar` for the hulls, or `x` for a quadratic
        program.
    tol : float
        Relative tolerance of feasibility and of "as good as". Only rounding is tolerated in a
        point outside the bracket.

    Raises
    ------
    UnknownName
        For a name that the library does not have.
    ProblemError
        If values have wrong names or shapes.
    DataError
        If the row belongs to a matrix other than the one generated here.

    Examples
    --------
    >>> known = load("lemma4-017-c1")
    >>> check(known, known.values).standing.name
    'EQUAL'
    """
    checks.tolerance("tol", tol)
    known = load(reference) if isinstance(reference, str) else reference
    problem = _rebuilt(known)
    certificate = verify(problem, known.formulation, values, tol=tol)
    qp = known.program(problem)
    objective = qp.declared(qp.value(feasible(qp, values))) + 0.0  # no -0.0
    unit = abs(known.best)
    shortfall = better(known.sense, known.best, objective) / unit
    limit = known.upper if known.sense == "max" else known.lower
    excess = max(better(known.sense, objective, limit) / unit, 0.0)  # NaN stays NaN
    if certificate.primal_residual > tol:
        standing = Standing.INFEASIBLE
    elif not excess <= ROUNDING:
        standing = Standing.IMPOSSIBLE
    elif not shortfall <= tol:
        standing = Standing.WORSE
    else:
        standing = Standing.EQUAL if shortfall >= -tol else Standing.BETTER
    return Check(known, standing, objective, shortfall, excess, certificate)


def export(reference: Reference | str, path: str | Path) -> Path:
    """Write the program of an instance to a .lp, .mps or .npz file, or a .qplib or .in file.

    The last two are for quadratic programs that are no SVM duals, and .in for those without rows on
    the unit box.

    Raises
    ------
    UnknownName
        For a name that the library does not have.
    DataError
        If the suffix is another one, the file cannot be written, or the row belongs to a matrix
        other than the one generated here.

    Examples
    --------
    >>> import tempfile, indefinite_opt as iopt
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = iopt.reference_library.export("simpson-020-c1", f"{folder}/program.npz")
    ...     H = np.load(file)["H"]
    >>> H.shape
    (20, 20)
    """
    known = load(reference) if isinstance(reference, str) else reference
    problem = _rebuilt(known)
    if isinstance(problem, KernelProblem):
        return known.program(problem).export(Path(path))
    return problem.write(path)


def _rebuilt(known: Reference) -> KernelProblem | QuadraticProgram:
    """The problem of a row, checked against the digest of its arrays."""
    problem = known.problem()
    difference = known.digest.difference(Digest.of_problem(problem))
    if not difference <= ROUNDING:
        raise DataError(
            "reference", f"the arrays of {known.name} to be those of the table",
            f"another: their digests differ by {difference:.2e}",
        )  # fmt: skip
    declared = "max" if known.program(problem).sense < 0 else "min"
    if known.sense != declared:
        raise DataError("reference", f"the sense {declared} of {known.name}", known.sense)
    return problem


def prove(reference: Reference | str, path: str | Path, time_limit: float = 60.0) -> Path:
    """Bracket an instance again, and write the proof for `proof_checker` to a file.

    Parameters
    ----------
    reference : Reference or str
    path : path
    time_limit : float
        Seconds for the bracket.

    Raises
    ------
    UnknownName
        For a name that the library does not have.
    DataError
        If the file cannot be written.

    Examples
    --------
    >>> import tempfile, indefinite_opt as iopt
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = iopt.reference_library.prove("simpson-020-c1", f"{folder}/proof.json")
    ...     path.stat().st_size > 0
    True
    """
    known = load(reference) if isinstance(reference, str) else reference
    gap = TARGET_GAP * min(1.0, abs(known.best))
    return bound(known.problem(), known.formulation, time_limit=time_limit, gap=gap).save(path)


def proof(name: str) -> Path:
    """The file with the proof of an instance; most of the smallest have one.

    Raises
    ------
    UnknownName
        If the package holds no proof of this name.

    Examples
    --------
    >>> import json
    >>> from indefinite_opt.quadratic import proof_checker
    >>> value, program = proof_checker.check(json.loads(proof("lemma4-017-c1").read_text()))
    >>> round(value, 6), len(program["c"])
    (0.5, 17)
    """
    files = {path.stem: path for path in (FOLDER / PROOFS).glob("*.json")}
    checks.choice("proof", name, files)
    return files[name]


def references(folder: str | Path | None = None) -> list[Reference]:
    """The rows of the table, in order.

    Parameters
    ----------
    folder : path, optional
        Folder of the table and of the points; by default that of the package.

    Raises
    ------
    DataError
        If a file is missing, damaged, or of another format.

    Examples
    --------
    >>> sum(not reference.convex for reference in references()) >= 60
    True
    """
    home = FOLDER if folder is None else Path(folder)
    table = home / TABLE
    try:
        lines = read_bytes(table).decode("utf-8").splitlines()
        points = parsed_json(read_bytes(home / POINTS))
    except ValueError as error:
        raise DataError("folder", f"{TABLE} and {POINTS}", f"{home}: {error}") from None
    if f"# format {FORMAT}" not in lines:
        raise DataError("folder", f"a table with a line '# format {FORMAT}'", f"{table}")
    rows = csv.DictReader(
        (line for line in lines if not line.startswith("#")), skipinitialspace=True
    )
    try:
        return [_read_row(row, points[row["name"]]) for row in rows]
    except (AttributeError, LookupError, OverflowError, TypeError, ValueError, csv.Error) as error:
        reason = f"{table}: {type(error).__name__} {error}"
        raise DataError("folder", f"every column of format {FORMAT}", reason) from None


def load(name: str, folder: str | Path | None = None) -> Reference:
    """A row of the table by its name.

    Raises
    ------
    UnknownName
        For a name that the table does not have.
    DataError
        As in `references`.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> reference = iopt.reference_library.load("simpson-020-c1")
    >>> reference.n, str(reference.formulation)
    (20, 'SVMDual')
    """
    known = {reference.name: reference for reference in references(folder)}
    checks.choice("reference", name, known)
    return known[name]


def better(sense: str, one: float, other: float) -> float:
    """By how much the first objective is better than the second."""
    return one - other if sense == "max" else other - one


def feasible(qp: QP, values: Mapping[str, ArrayLike]) -> Array:
    return qp.feasible.project(np.asarray(values[qp.variable], dtype=float))


def cells(entry: Reference) -> dict[str, str | int | float | None]:
    """A row of the table as a dictionary, by column; a column that makes no sense is empty."""
    return {
        "name": entry.name,
        "kernel": entry.kernel or None,
        "n": entry.n,
        "seed": entry.seed if entry.kernel else None,
        "formulation": entry.title or None,
        "sense": entry.sense,
        "convex": "yes" if entry.convex else "no",
        **{key: getattr(entry, key) for key in _BRACKET},
        "gap": entry.relative_gap,
        **{key: getattr(entry, key) for key in _ORIGIN},
        **dataclasses.asdict(entry.digest),
    }


def _read_row(row: Mapping[str, str], point: Mapping[str, list[float]]) -> Reference:
    texts = {key: row[key] for key in ("name", "kernel", "sense", *_ORIGIN)}
    numbers = {key: float(row[key]) for key in _BRACKET}
    entry = Reference(
        **texts,  # type: ignore[arg-type]
        **numbers,  # type: ignore[arg-type]
        n=int(row["n"]),
        seed=int(row["seed"] or 0),
        title=row["formulation"],
        convex={"yes": True, "no": False}[row["convex"]],
        digest=Digest(
            int(row["plus"]) if row["plus"] else None,
            *(float(row[name]) for name in _DIGEST[1:6]),
            *(float(row[name]) if row[name] else None for name in _DIGEST[6:]),
        ),
        values={
            name: finite_array(name, numbers, (int(row["n"]),)) for name, numbers in point.items()
        },
    )
    # NaN lies in no bracket. Gaps are relative to the best-known objective, which is never 0.
    if not entry.lower <= entry.best <= entry.upper or not 0.0 < abs(entry.best) < np.inf:
        raise ValueError(f"of {entry.name}: {entry.best} between {entry.lower} and {entry.upper}")
    if entry.sense not in ("max", "min") or bool(entry.kernel) != bool(entry.title):
        raise ValueError(f"of {entry.name}: {entry.sense} {entry.title}")
    plus, formulation = entry.digest.plus, entry.formulation
    if formulation is None:
        if any(value is None for value in dataclasses.astuple(entry.digest)[1:]):
            raise ValueError(f"of {entry.name}: a digest without linear term, rows or bounds")
    elif formulation.program_type is not PairedQP:
        raise ValueError(f"of {entry.name}: {entry.title}")
    elif not 0 <= entry.seed < 2**32 or plus is None or not 0 < plus < entry.n:
        raise ValueError(f"of {entry.name}: seed {entry.seed}, {plus} of {entry.n}")
    return entry
