"""A solver at work, frame by frame: steps, cutting planes, and the boxes of branch and bound."""

from __future__ import annotations

import base64
import html
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from indefinite_opt.algebra import symbol_text
from indefinite_opt.errors import ParameterError
from indefinite_opt.figures import style
from indefinite_opt.figures.comparison import CLAIM_COLORS
from indefinite_opt.figures.plane import (
    RESOLUTION,
    Plane,
    clipped,
    resolution_of,
    vector_of,
)
from indefinite_opt.figures.tree import Boxes, proof_of, refuse_pairs
from indefinite_opt.foundation import Array, checks, write_bytes, writing
from indefinite_opt.quadratic import Iterate, VectorProgram

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ENLARGED_FROM = 4.0
"""Where the part of the feasible set that cuts leave is so many times smaller than what is drawn,
the picture is enlarged by that factor, or a power of it."""

CUT_NOW, CUT_BEFORE = "#F0B68C", "#9A9A9A"
"""Where a cut proves that no point is better. Opaque, so that a legend has the same colours."""

SIZE = (8.2, 3.9)
"""Width and height of a frame in inches."""


def step_by_step(result: Any, plane: Sequence[Any] | None = None, most: int = 40) -> StepByStep:
    """What a solver has done, as frames that a notebook shows with a slider.

    A solver that goes step by step shows the weights, or the feasible set if it has two dimensions,
    and the objective so far. `accpm` shows its cutting planes: by the tangent at each centre no
    point on the shaded side is better than the centre. Branch and bound shows its tree with the
    boxes, in the order in which one thread bounds them.

    Parameters
    ----------
    result : Result or Bracket
        Of `solve` with `record=True`, or of `bound`, whose proof has the boxes.
    plane : three points, optional
        Arrays or values by name; steps, cuts and boxes are drawn on the plane through them; see
        `landscape`.
    most : int
        Most frames: the first, the last, and others at equal distances.

    Returns
    -------
    StepByStep

    Raises
    ------
    ParameterError
        If the result has no recorded points, and no proof by branch and bound, or if there is a
        plane but the program has several variables by name.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> problem = iopt.KernelProblem([[-1.0, 0.2], [0.2, -0.5]], [1, -1])
    >>> dual = iopt.SVMDual(C=2.0, bias=False)
    >>> work = step_by_step(iopt.solve(problem, dual, solver="smo", record=True))
    >>> len(work.frames), work.captions[1]
    (3, 'Step 1, pair step: α₁ moves; objective 4')
    """
    checks.whole("most", most, least=2)
    refuse_pairs("result", result)
    iterates = _distinct(getattr(getattr(result, "trace", None), "iterates", []))
    if iterates:
        program = result.program
        kind = _Cuts if iterates[0].step == "cut" else _Path
        frames: _Frames = kind(result, program, iterates, plane)
    elif proof_of(result) is not None:
        frames = _Tree(Boxes.of(result), plane)
    else:
        raise ParameterError(
            "result", "one with recorded points, or with the proof of branch and bound",
            f"a {type(result).__name__} without", "Solve with record=True.",
        )  # fmt: skip
    return StepByStep(frames, most)


class StepByStep:
    """The frames of a solver at work; see `step_by_step`.

    Attributes
    ----------
    title : str
    frames : sequence of matplotlib Figure
        Each is drawn when it is asked for.
    captions : list of str
        A sentence for each frame.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> problem = iopt.KernelProblem([[-1.0, 0.2], [0.2, -0.5]], [1, -1])
    >>> work = step_by_step(iopt.solve(problem, "SVMDual(C=2)", solver="smo", record=True))
    >>> work
    StepByStep(SVMDual(C=2) by smo: 2 frames)
    """

    def __init__(self, frames: _Frames, most: int) -> None:
        count = frames.count
        chosen = np.unique(np.linspace(0, count - 1, min(most, count)).round().astype(int))
        self.title = frames.title
        self.frames: Sequence[Figure] = _Drawn(frames, chosen.tolist())
        self.captions = [frames.caption(k) for k in chosen.tolist()]

    def __repr__(self) -> str:
        return f"StepByStep({self.title}: {len(self.frames)} frames)"

    def _repr_html_(self) -> str:
        """All frames in one element, of which a slider shows one; nothing is fetched."""
        last = len(self.frames) - 1
        show = (
            "[...this.parentNode.querySelectorAll('figure')].forEach((f,k)=>f.hidden=k!=this.value)"
        )
        figures = "".join(
            f'<figure style="margin:0"{" hidden" * (k > 0)}>'
            f'<img alt="{html.escape(caption)}" style="max-width:100%" '
            f'src="data:image/png;base64,{base64.b64encode(style.png(figure)).decode()}">'
            f"<figcaption>{k + 1}/{last + 1}. {html.escape(caption)}</figcaption></figure>"
            for k, (figure, caption) in enumerate(zip(self.frames, self.captions, strict=True))
        )
        return (
            f"<div><strong>{html.escape(self.title)}</strong><br>"
            f'<input type="range" min="0" max="{last}" value="0" aria-label="frame" '
            f'style="width:min(100%,40em)" oninput="{show}">{figures}</div>'
        )

    def save(self, path: str | Path) -> Path:
        """Write a page with a slider if the name ends in .html, else a folder of PNG files.

        Raises
        ------
        DataError
            If it cannot be written.
        """
        path = Path(path)
        if path.suffix == ".html":
            page = (
                '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
                f"<title>{html.escape(self.title)}</title></head>"
                f'<body style="font-family:sans-serif">{self._repr_html_()}</body></html>\n'
            )
            write_bytes(path, page.encode())
            return path
        with writing("path", path, "folder"):
            path.mkdir(parents=True, exist_ok=True)
        for k, figure in enumerate(self.frames, 1):
            write_bytes(path / f"step-{k:03d}.png", style.png(figure))
        return path


def _distinct(iterates: Sequence[Iterate]) -> list[Iterate]:
    """The points without those that are where the one before was: checks that nothing moved."""
    kept: list[Iterate] = []
    for each in iterates:
        same = kept and all(
            np.array_equal(value, kept[-1].values[name]) for name, value in each.values.items()
        )
        if not same:
            kept.append(each)
    return kept


class _Drawn(Sequence[Any]):
    """Frames that are drawn when they are asked for."""

    def __init__(self, frames: _Frames, chosen: list[int]) -> None:
        self._frames, self._chosen = frames, chosen

    def __len__(self) -> int:
        return len(self._chosen)

    def __getitem__(self, k: Any) -> Any:
        if isinstance(k, slice):
            return [self[j] for j in range(len(self))[k]]
        return self._frames.figure(self._chosen[k])

    def __iter__(self) -> Iterator[Any]:
        return (self[k] for k in range(len(self)))


class _Frames(ABC):
    """Two panels for each state of a solver."""

    title: str
    count: int

    @abstractmethod
    def caption(self, k: int) -> str:
        """A sentence on the k-th state."""

    @abstractmethod
    def draw(self, left: Axes, right: Axes, k: int) -> None:
        """Both panels of the k-th state."""

    def figure(self, k: int) -> Figure:
        """The k-th state."""
        figure: Figure = _two_panels(self, k)
        return figure


@style.styled
def _two_panels(frames: _Frames, k: int) -> Figure:
    figure, (left, right) = style.panels(*SIZE, 2)
    frames.draw(left, right, k)
    return figure


class _Path(_Frames):
    """Points that follow each other: on a plane, or their weights."""

    def __init__(self, result: Any, program: Any, iterates: list[Iterate], plane: Any) -> None:
        self.program, self.iterates, self.count = program, iterates, len(iterates)
        self.problem = result.problem
        self.resolution = resolution_of(program)
        self.title = f"{result.formulation} by {result.solver}"
        vector = program.feasible is not None
        if plane is not None and not vector:
            expected = "none for a program of several variables by name"
            raise ParameterError("plane", expected, f"{len(plane)} points")
        self.points = [
            program.from_values(each.values) if vector
            else np.concatenate([np.ravel(value) for value in each.values.values()])
            for each in iterates
        ]  # fmt: skip
        (self.name, *_), *_ = [tuple(each.values) for each in iterates]
        self.plane = self._plane(plane) if vector else None
        if self.plane is not None:
            self.places = self.plane.place(np.array(self.points))
            self.view = self.plane.view(self.places, self.resolution)
        self.objectives = [each.objective for each in iterates]

    def _plane(self, chosen: Any) -> Plane | None:
        return _asked_plane(self.program, chosen)

    def caption(self, k: int) -> str:
        step, objective = self.iterates[k].step, f"objective {self.objectives[k] + 0.0:.6g}"
        if k == 0:
            return f"{step.capitalize()}: {objective}"
        moved = np.flatnonzero(self.points[k] != self.points[k - 1])
        names = [symbol_text(f"{self.name}{i + 1}") for i in moved[:2]]
        if len(moved) > 2:
            words = f"{len(moved)} variables move"
        else:
            words = f"{' and '.join(names)} move{'s' * (len(moved) == 1)}"
        return f"Step {k}, {step}: {words}; {objective}"

    def draw(self, left: Axes, right: Axes, k: int) -> None:
        if self.plane is None:
            self._draw_weights(left, k)
        else:
            self.plane.draw(left, self.view, bar=False)
            s = self.places[: k + 1]
            left.plot(*s.T, color="white", linewidth=3.4, zorder=3)
            left.plot(*s.T, ".-", color=style.VERMILLION, linewidth=1.5, label="steps", zorder=3)
            left.plot(
                *s[-1], "o", color=style.VERMILLION, markeredgecolor=style.INK, markersize=9.0,
                clip_on=False, label="point", zorder=4,
            )  # fmt: skip
            style.legend_above(left, self.title)
        right.plot(self.objectives, color="#CCCCCC", linewidth=1.2)
        right.plot(self.objectives[: k + 1], ".-", color=style.BLUE, linewidth=1.5, markersize=4.0)
        right.plot(k, self.objectives[k], "o", color=style.BLUE, markersize=7.0)
        right.set(xlabel="step", ylabel="objective")
        right.grid(True)

    def _draw_weights(self, ax: Axes, k: int) -> None:
        """The entries of a point as bars; those that the last step has moved stand out."""
        x, n = self.points[k], self.points[k].size
        moved = x != self.points[k - 1] if k else np.zeros(n, bool)
        colors = {"moved by this step": style.VERMILLION, "others": style.BLUE}
        ax.bar(np.arange(n) + 1, x, width=0.8, color=np.where(moved, *colors.values()))
        for label, color in colors.items():
            ax.fill([], [], color=color, label=label)
        ends = np.concatenate(self.points)
        low, high = min(float(ends.min()), 0.0), max(float(ends.max()), 0.0)
        margin = 0.05 * ((high - low) or 1.0)
        ax.set(xlim=(0.2, n + 0.8), ylim=(low - margin * (low < 0.0), high + margin))
        alone = self.problem.declaration is not None
        ax.set(xlabel="variable" if alone else "point", ylabel=symbol_text(self.name))
        style.legend_above(ax, self.title)


def _asked_plane(program: VectorProgram, chosen: Any) -> Plane | None:
    """The plane that was asked for, or that of a feasible set of two dimensions."""
    return Plane.of_all(program) if chosen is None else Plane.of(program, [], chosen)


class _Cuts(_Path):
    """The centres of cutting planes, with the side that each cuts off."""

    def __init__(self, result: Any, program: Any, iterates: list[Iterate], plane: Any) -> None:
        self.trace = result.trace
        super().__init__(result, program, iterates, plane)
        rows = [
            i for i, each in enumerate(self.trace.iterates) if any(each is it for it in iterates)
        ]
        self.best = [self.trace.objective[i] for i in rows]
        self.bound = [self.trace.bound[i] for i in rows]
        gradients = [np.asarray(each.gradient) for each in iterates]
        self.tangents = [
            (g @ self.cut_plane.steps, float(g @ (x - self.cut_plane.origin)))
            for g, x in zip(gradients, self.points, strict=True)
        ]
        """a and b with a·s - b what each tangent says that F rises by above its centre."""

    def _plane(self, chosen: Any) -> Plane | None:
        self.cut_plane = Plane.of(self.program, self.points[::-1], chosen)
        return self.cut_plane

    def caption(self, k: int) -> str:
        gap, size = abs(self.best[k] - self.bound[k]), self._enlarged(k)[1]
        enlarged = f"; enlarged {size:.0f} times" if size > 1.0 else ""
        return (
            f"Cut {k + 1}: the best centre so far has objective {self.best[k]:.6g}, "
            f"the bound is {self.bound[k]:.6g}, the gap {gap:.2g}{enlarged}"
        )

    def _enlarged(self, k: int) -> tuple[Array, float]:
        """The middle of what is left before the k-th cut, and how much larger to draw it."""
        left = self.view.polygon
        for tangent in self.tangents[:k]:
            left = clipped(left, *tangent)
        if len(left) < 3:
            return np.zeros(2), 1.0
        low, high = left.min(axis=0), left.max(axis=0)
        size = float(np.ptp(self.view.first)) / max(float((high - low).max()), 1e-9)
        power = np.floor(np.log(size) / np.log(ENLARGED_FROM))
        return 0.5 * (low + high), float(ENLARGED_FROM ** max(power, 0.0))

    def draw(self, left: Axes, right: Axes, k: int) -> None:
        from matplotlib.patches import Polygon

        view, (middle, scale) = self.view, self._enlarged(k)
        if scale > 1.0:
            reach = 0.5 * np.ptp(view.first) / scale
            view = self.cut_plane.view_between(middle - reach, middle + reach, self.resolution)
        self.cut_plane.draw(left, view, bar=False)
        border = Polygon(view.polygon, closed=True, transform=left.transData)
        s = np.stack(np.meshgrid(view.first, view.second), axis=-1)
        rises = [s @ a - b for a, b in self.tangents[: k + 1]]
        newest, before = rises[-1], np.max([np.full_like(rises[0], -1.0), *rises[:-1]], axis=0)
        for values, color in ((newest, CUT_NOW), (before, CUT_BEFORE)):
            if values.max() > 0.0:
                shaded = left.contourf(
                    view.first, view.second, values, [0.0, np.inf], colors=[color], zorder=2
                )
                shaded.set_clip_path(border)
        edge = left.contour(
            view.first, view.second, newest, [0.0], colors=[style.VERMILLION], linewidths=1.8,
            zorder=3,
        )  # fmt: skip
        edge.set_clip_path(border)
        left.plot(
            *self.places[:k].T, "o", color="white", markeredgecolor=style.INK, markersize=4.0,
            zorder=4,
        )  # fmt: skip
        left.plot(
            *self.places[k], "o", color=style.VERMILLION, markeredgecolor=style.INK, markersize=9.0,
            label="centre", zorder=5, clip_on=False,
        )  # fmt: skip
        left.fill([], [], color=CUT_NOW, label="cut off now")
        left.fill([], [], color=CUT_BEFORE, label="cut off before")
        style.legend_above(left, self.title)
        count = np.arange(1, k + 2)
        right.plot(np.arange(1, self.count + 1), self.best, color="#DDDDDD", linewidth=1.2)
        right.plot(np.arange(1, self.count + 1), self.bound, color="#DDDDDD", linewidth=1.2)
        right.plot(count, self.best[: k + 1], ".-", color=style.BLUE, label="best centre")
        right.plot(count, self.bound[: k + 1], ".-", color=style.VERMILLION, label="bound")
        right.set(xlabel="cuts", ylabel="objective")
        right.grid(True)
        style.legend_above(right)


class _Tree(_Frames):
    """Boxes by their bounds: the tree, and the boxes or both ends of the bracket."""

    def __init__(self, boxes: Boxes, plane: Any) -> None:
        self.boxes, self.count, self.title = boxes, len(boxes.tree), boxes.title
        self.plane = _asked_plane(boxes.program, plane)
        if self.plane is not None:
            places = self.plane.place(np.array([boxes.program.start()]))
            if plane is not None:
                places = self.plane.place(np.array([vector_of(boxes.program, x) for x in plane]))
            self.view = self.plane.view(places, RESOLUTION)

    def caption(self, k: int) -> str:
        boxes, now = self.boxes, self.boxes.order[k]
        box, (end, waiting) = boxes.tree[now], boxes.ends(k + 1)
        became = boxes.kinds[now].partition(":")[0]
        if box.variable >= 0 and box.variable < boxes.program.n:
            became += f" along {symbol_text(f'{boxes.program.variable}{box.variable + 1}')}"
        lower, upper = sorted((end, boxes.best))
        waits = f"{waiting} box{'es' * (waiting != 1)} wait{'s' * (waiting == 1)}"
        return (
            f"Box {k + 1}: bound {boxes.bounds[now]:.6g}, {became}; {waits}; "
            f"{lower:.6g} ≤ optimal value ≤ {upper:.6g}"
        )

    def draw(self, left: Axes, right: Axes, k: int) -> None:
        boxes, now = self.boxes, self.boxes.order[k]
        boxes.draw(left, boxes.order[: k + 1], now)
        style.legend_above(left, self.title, columns=2)
        if self.plane is None:
            self._draw_ends(right, k)
        else:
            self._draw_boxes(right, self.plane, k)

    def _draw_ends(self, ax: Axes, k: int) -> None:
        """The bound after each box, and the objective of the best point."""
        ends = [self.boxes.ends(done)[0] for done in range(1, self.count + 1)]
        count = np.arange(1, self.count + 1)
        ax.plot(count, ends, color="#DDDDDD", linewidth=1.2)
        ax.plot(count[: k + 1], ends[: k + 1], ".-", color=style.VERMILLION, label="proved bound")
        ax.axhline(self.boxes.best, color=CLAIM_COLORS["GLOBAL"], label="best point")
        ax.set(xlabel="boxes", ylabel="objective")
        ax.grid(True)
        style.legend_above(ax)

    def _draw_boxes(self, ax: Axes, plane: Plane, k: int) -> None:
        """The boxes on the landscape: those that are closed are shaded."""
        from matplotlib.patches import Polygon

        boxes, order = self.boxes, self.boxes.order
        plane.draw(ax, self.view, bar=False)
        bounded = set(order[: k + 1])
        for j in order:
            box = boxes.tree[j]
            if j not in bounded and box.parent not in bounded:
                continue
            corners = plane.polygon(box.lower, box.upper)
            if len(corners) < 3:
                continue
            done = j in bounded and not boxes.children[j]
            ax.add_patch(Polygon(
                corners, facecolor=(0.4, 0.4, 0.4, 0.72) if done else "none",
                edgecolor=style.INK, linewidth=0.9, zorder=3,
            ))  # fmt: skip
        now = boxes.tree[order[k]]
        corners = plane.polygon(now.lower, now.upper)
        if len(corners) >= 3:  # else the plane passes it
            ax.add_patch(Polygon(
                corners, fill=False, edgecolor=style.VERMILLION, linewidth=2.4, zorder=4
            ))  # fmt: skip
        ax.plot([], [], color=style.VERMILLION, linewidth=2.4, label="box in work")
        ax.fill([], [], color=(0.4, 0.4, 0.4, 0.72), label="closed or excluded")
        style.legend_above(ax)
