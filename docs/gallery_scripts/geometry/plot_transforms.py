"""
What clip, flip, shift and square make of a spectrum
====================================================

The classical ways to a positive semidefinite kernel change the eigenvalues and leave the
eigenvectors alone.
"""

import indefinite_opt as iopt
from indefinite_opt.figures import spectrum_figure

problem = iopt.KernelProblem.from_dataset(iopt.datasets.load("words"), form="linear")
named = {name: problem.transformed(name) for name in ("clip", "flip", "shift", "square")}
figure = spectrum_figure({"K": problem, **named})

# %%
# Five falling curves of eigenvalues, of which only that of K itself is negative on the right. A
# clip sets the negative ones to zero, and a flip keeps their sizes. A shift adds the same number to
# all, which makes them almost equal here; a square lets the large ones grow.
