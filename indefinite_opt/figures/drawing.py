"""A figure that shows itself in a notebook, and on the screen in a script or a REPL."""

from __future__ import annotations

import io

from matplotlib.figure import Figure


class Drawing(Figure):
    """A matplotlib figure that pyplot need not know of.

    pyplot manages it from the first call of `show` on, which is made by itself in an interactive
    session, so that scripts that draw many figures do not keep them all.
    """

    def show(self, warn: bool = True) -> None:
        """Open a window; in a script it stays until it is closed."""
        import matplotlib.pyplot as plt

        if self.canvas.manager is None:
            self._adopt()
        if plt.isinteractive():
            super().show(warn)
        else:
            plt.show()

    def show_if_possible(self) -> None:
        """Open a window without waiting for it, if there is a screen for one."""
        import matplotlib.pyplot as plt
        from matplotlib.backend_bases import FigureManagerBase

        if self.canvas.manager is None:
            self._adopt()
        manager = self.canvas.manager
        if type(manager) is FigureManagerBase:  # a backend that writes files only
            plt.close(self)
        else:
            super().show()

    def _adopt(self) -> None:
        """Take the place of a new figure of pyplot, and with it its window."""
        import matplotlib.pyplot as plt

        width, height = self.get_size_inches()
        manager = plt.figure(figsize=(width, height)).canvas.manager
        if manager is not None:
            manager.canvas.figure = self
            self.set_canvas(manager.canvas)

    def _repr_png_(self) -> bytes:
        stream = io.BytesIO()
        # Sharp on screens of two device pixels per CSS pixel, where figures fill a text column.
        self.savefig(stream, format="png", dpi=144)
        return stream.getvalue()
