"""Figures with a text for those who cannot see them, for notebooks that are stored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from indefinite_opt.errors import ParameterError
from indefinite_opt.figures import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class _Described:
    """A picture that a notebook shows, and elsewhere its text."""

    png: bytes
    alt: str

    def __repr__(self) -> str:
        return self.alt

    def _repr_png_(self) -> tuple[bytes, dict[str, Any]]:
        return self.png, {"alt": self.alt}


def show(figure: Figure, alt: str) -> None:
    """Show a figure in a notebook, with a text for those who cannot see it.

    The picture is a small PNG file. The text stays in the stored notebook, and is an alternative
    text on pages that are made from it. A figure of pyplot is closed, so that the notebook does not
    show it a second time.

    Parameters
    ----------
    figure : matplotlib Figure
        The figure.
    alt : str
        What the figure shows, in one or two sentences.

    Raises
    ------
    ParameterError
        If the text is empty, or if IPython, which every notebook has, is not installed.

    Examples
    --------
    Without a notebook only the text is printed.

    >>> from matplotlib.figure import Figure
    >>> figure = Figure()
    >>> _ = figure.subplots().plot([0, 1], [1, 0])
    >>> show(figure, "A falling line.")
    A falling line.
    """
    import matplotlib.pyplot as plt

    if not isinstance(alt, str) or not alt.strip():
        raise ParameterError("alt", "a text that says what the figure shows", repr(alt))
    try:
        from IPython.display import display
    except ImportError:
        raise ParameterError(
            "figure", "a notebook, with IPython, to show it in", "a Python without IPython",
            "Save the figure instead: figure.savefig('figure.png').",
        ) from None  # fmt: skip
    stored = style.png(figure)
    plt.close(figure)
    display(_Described(stored, alt))  # type: ignore[no-untyped-call]
