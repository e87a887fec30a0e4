"""Problems of several classes, one against one: what was found for each pair of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from numpy.typing import NDArray

from indefinite_opt.errors import DataError, MatrixNotKept, ParameterError
from indefinite_opt.foundation import Array, cached_property, clock
from indefinite_opt.modeling import (
    Formulation,
    Pair,
    PairProblem,
    PairwiseClassifier,
    naming_pair,
    of_each_pair,
    of_points,
    pair_problems,
)
from indefinite_opt.problem import KernelProblem
from indefinite_opt.quadratic import Claim, Status
from indefinite_opt.workflow.result import (
    Result,
    keeps_matrix,
    kernel_values,
    refuse_another,
    warn_of_doubt,
)
from indefinite_opt.workflow.saving import (
    arrays_of_result,
    classifier_parts,
    facts_of_result,
    write_result,
)
from indefinite_opt.workflow.tables import aligned, html_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

T = TypeVar("T")


def weakest_kind(kinds: Iterable[str]) -> str:
    """The kind of gap that says least of several ones; empty without any.

    >>> weakest_kind(["duality gap", "global bracket", "duality gap"])
    'global bracket'
    """
    found = set(kinds)
    ordered = ("KKT residual", "global bracket", "duality gap")
    return next((kind for kind in ordered if kind in found), "")


@dataclass(frozen=True, eq=False)
class Pairwise(Mapping[Pair, T], Generic[T]):
    """What was found for each pair of classes, by (class a, class b) in sorting order."""

    problem: KernelProblem = field(repr=False)
    formulation: Formulation
    members: dict[Pair, T]
    seconds: float

    @classmethod
    def of(
        cls,
        problem: Any,
        formulation: Any,
        work: Callable[[KernelProblem, Formulation, float | None], T],
        time_limit: float | None,
        again: bool,
    ) -> Any:
        """The work on each pair, which gets an equal part of the time that is left.

        Ctrl-C ends all of it, unless `again` says that a callback ends each pair by itself.
        """
        began = clock()
        left = problem.classes.size * (problem.classes.size - 1) // 2

        def one(pair: PairProblem) -> T:
            nonlocal left
            limit = time_limit
            if limit is not None:
                limit = max(limit - (clock() - began), 0.0) / left
                limit = max(limit, 1e-9)  # a pair whose time is over still has its first point
            left -= 1
            found: Any = work(pair.problem, of_points(formulation, pair.points, problem.n), limit)
            if found.status is Status.INTERRUPTED and not again:
                raise KeyboardInterrupt
            return found

        members = of_each_pair(problem, one)
        return cls(problem, formulation, members, clock() - began)

    def __getitem__(self, pair: Pair) -> T:
        return self.members[pair]

    def __iter__(self) -> Iterator[Pair]:
        return iter(self.members)

    def __len__(self) -> int:
        return len(self.members)

    @property
    def status(self) -> Status:
        """`SOLVED` if every pair was; else the status of the first that was not."""
        found: list[Any] = list(self.members.values())
        return next((one.status for one in found if one.status is not Status.SOLVED), Status.SOLVED)

    def save_proofs(self, folder: str | FilePath) -> list[FilePath]:
        """Write the proof of each pair to a JSON file in a folder, which may be new.

        The file 0-2.json is about the first and the third of `problem.classes`. Each is checked as
        `Certificate.save` says.

        Raises
        ------
        ParameterError
            If nothing is proved about a pair; the message names it, and its file is missing.
        DataError
            If a file cannot be written.
        """
        into, order = FilePath(folder), self.problem.classes.tolist()
        try:
            into.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise DataError("folder", "a folder that can be written", f"{into}: {error}") from None
        files = []
        for pair, member in self.members.items():
            with naming_pair(pair):
                proof = self._proof_of(member)
                files.append(proof.save(into / "{}-{}.json".format(*map(order.index, pair))))
        return files

    def _proof_of(self, member: Any) -> Any:
        """What writes the proof of a pair."""
        return member

    def _columns(self, member: Any) -> dict[str, str]:
        """The cells of a pair behind its name and size."""
        raise NotImplementedError

    @property
    def _title(self) -> str:
        return f"{self.formulation} on {self.problem.name} (n = {self.problem.n})"

    @property
    def _summary(self) -> str:
        return f"{len(self)} pairs of {self.problem.classes.size} classes, {self.seconds:.3g} s"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._title}: {self._summary})"

    @property
    def _rows(self) -> list[dict[str, str]]:
        members: dict[Pair, Any] = self.members
        return [
            {"pair": f"{a} | {b}", "n": str(member.problem.n), **self._columns(member)}
            for (a, b), member in members.items()
        ]

    def __str__(self) -> str:
        return aligned(f"{self._title}: {self._summary}", self._rows)

    def _repr_html_(self) -> str:
        return html_table(f"{self._title}: {self._summary}", self._rows)


class PairwiseResult(Pairwise[Result]):
    """The results of all pairs of classes; see `solve`.

    A mapping from (class a, class b), in sorting order, to `Result`, whose problem has the points
    of both classes, and whose classifier is positive for b. `print` it.

    Attributes
    ----------
    problem : KernelProblem
        The problem of all classes.
    formulation : Formulation
    seconds : float
        Duration of the whole call.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> import numpy as np
    >>> x = [0.0, 1.0, 2.0, 10.0, 11.0, 12.0, 30.0, 31.0, 32.0]
    >>> problem = KernelProblem.from_data(np.c_[x], list("aaabbbccc"), "gaussian(gamma=0.01)")
    >>> result = iopt.solve(problem, "SVMDual(C=10)")
    >>> list(result), result.claim.name
    ([('a', 'b'), ('a', 'c'), ('b', 'c')], 'GLOBAL')
    >>> result["a", "b"].certificate.claim.name, result.predict([[9.0], [40.0]]).tolist()
    ('GLOBAL', ['b', 'c'])
    """

    @property
    def claim(self) -> Claim:
        """The weakest claim of all pairs."""
        return min(result.certificate.claim for result in self.members.values())

    @property
    def gap_kind(self) -> str:
        """The kind of gap that all pairs have; of several kinds the one that says least."""
        return weakest_kind(result.certificate.gap_kind for result in self.members.values())

    @property
    def gap(self) -> float:
        """The largest number among the pairs whose gap is of the kind `gap_kind`."""
        found = [result.certificate for result in self.members.values()]
        return max(float(each.measure) for each in found if each.gap_kind == self.gap_kind)

    @property
    def proved_within(self) -> float:
        """The largest relative gap to a proved bound of all pairs; inf if one has none."""
        return max(result.certificate.proved_within for result in self.members.values())

    @property
    def has_classifier(self) -> bool:
        """Whether the values of every pair define a classifier."""
        return all(result.has_classifier for result in self.members.values())

    def __getstate__(self) -> dict[str, Any]:
        if self._keeps_matrix:
            return self.__dict__
        return self.__dict__ | {"problem": self.problem.without_matrix()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if self._keeps_matrix:  # those of pairs are blocks of it
            self.__dict__["members"] = self.with_problem(self.problem).members

    @property
    def _keeps_matrix(self) -> bool:
        """Whether a pickle or a file has the kernel matrix, or points that make it again."""
        found = self.members.values()
        return not self.problem.matrix_was_given or any(map(keeps_matrix, found))

    def with_problem(self, problem: KernelProblem) -> PairwiseResult:
        """The same results on the problem that they were found for; see `Result.with_problem`."""
        refuse_another(self.problem, problem)
        members = {
            pair: self.members[pair].with_problem(part) for pair, _, part in pair_problems(problem)
        }
        return PairwiseResult(problem, self.formulation, members, self.seconds)

    @cached_property
    def classifier(self) -> PairwiseClassifier:
        """The classifiers of the pairs, which vote."""
        members = {pair: result.classifier for pair, result in self.members.items()}
        return PairwiseClassifier.of(self.problem, members)

    def predict(self, X: Any) -> NDArray[Any]:
        """Labels of new points, (m,), by votes; X and errors are as in `Result.predict`."""
        self._warn()
        return self.classifier.predict(*kernel_values(self.problem, self.classifier, X))

    def decision_function(self, X: Any) -> Array:
        """Votes for the classes, (m, k); see `PairwiseClassifier.decision_function`."""
        self._warn()
        return self.classifier.decision_function(*kernel_values(self.problem, self.classifier, X))

    def save(self, path: str | FilePath, *, with_matrix: bool = False) -> FilePath:
        """Write the results of all pairs to a .npz file, for `load`, as `Result.save` does."""
        found = list(self.members.values())
        facts: dict[str, Any] = {
            "seconds": self.seconds,
            "pairs": [facts_of_result(result) for result in found],
        }
        arrays = {
            f"{k} {entry}": array
            for k, result in enumerate(found)
            for entry, array in arrays_of_result(result).items()
        }
        kept = with_matrix or self._keeps_matrix
        if not kept:
            for k, result in enumerate(found):
                own, more = classifier_parts(result)
                facts["pairs"][k] |= own
                arrays |= {f"{k} {entry}": array for entry, array in more.items()}
        return write_result(path, self.problem, self.formulation, facts, arrays, kept)

    def _proof_of(self, member: Result) -> Any:
        return member.certificate

    def plot(self) -> Figure:
        """Draw what the solver stopped by, against its iterations and seconds, for each pair."""
        from indefinite_opt.figures import convergence_figure

        return convergence_figure({f"{a} | {b}": one for (a, b), one in self.members.items()})

    @property
    def doubt(self) -> str:
        """The doubt about the first pair that has one, with its classes; else empty."""
        doubts = ((pair, result.doubt) for pair, result in self.members.items())
        return next((f"{a} against {b}: {doubt}" for (a, b), doubt in doubts if doubt), "")

    def _warn(self) -> None:
        if self.doubt:
            warn_of_doubt(self.doubt, stacklevel=4)

    def _columns(self, member: Result) -> dict[str, str]:
        objective = {"objective": f"{member.objective:.6g}"}
        try:
            certificate = member.certificate
        except MatrixNotKept:
            return objective | dict.fromkeys(("claim", "gap", "kind of gap"), "–")
        return objective | {
            "claim": certificate.claim.name,
            "gap": f"{certificate.measure:.2g}",
            "kind of gap": certificate.gap_kind,
        }

    @property
    def _summary(self) -> str:
        try:
            return f"{super()._summary}, claim {self.claim.name}"
        except MatrixNotKept:
            return f"{super()._summary}, no claim without the kernel matrix"


def proof_of(found: Result | PairwiseResult) -> dict[str, Any]:
    """What is proved about a result: claim (its name), gap_kind, gap and proved_within.

    With more than two classes each is the weakest of all pairs.
    """
    if isinstance(found, PairwiseResult):
        claim, kind, gap, within = found.claim, found.gap_kind, found.gap, found.proved_within
    else:
        known = found.certificate
        claim, kind, gap, within = known.claim, known.gap_kind, known.measure, known.proved_within
    return {
        "claim": claim.name, "gap_kind": kind, "gap": float(gap), "proved_within": float(within)
    }  # fmt: skip


def refuse_start(start: Any) -> None:
    """Raise `ParameterError` if there is a start, which only the variables of one pair have."""
    if start is not None:
        expected = "no start with more than two classes, as each pair has its own variables"
        raise ParameterError("start", expected, "a start")
