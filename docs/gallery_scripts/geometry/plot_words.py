"""
Edit distances of words
=======================

Twenty of the eighty words of the data set `words`, English and Italian, and the spectrum of the
kernel -d²/2 of all of them: a fifth of it is negative.
"""

import numpy as np
from matplotlib.figure import Figure

import indefinite_opt as iopt
from indefinite_opt.figures import SIGN_COLORS

data = iopt.datasets.load("words")
problem = iopt.KernelProblem.from_dataset(data, form="linear")
chosen = np.r_[0:10, 40:50]
figure = Figure(figsize=(8.4, 4.0), layout="constrained")
left, right = figure.subplots(1, 2)
drawn = left.imshow(data.D[np.ix_(chosen, chosen)], cmap="viridis")
figure.colorbar(drawn, ax=left, shrink=0.8, label="edit distance")
names = [problem.objects[k] for k in chosen]
left.set_xticks(range(20), names, rotation=90)
left.set_yticks(range(20), names)
values = problem.centered_spectrum.values
colors = np.where(values[::-1] < 0, SIGN_COLORS[-1], SIGN_COLORS[1])
right.bar(range(1, len(values) + 1), values[::-1], width=1.0, color=colors)
right.set(
    title=f"{100 * problem.negative_share:.3g} % of the spectrum is negative",
    xlabel="rank",
    ylabel="eigenvalue",
)

# %%
# Edit distances between twenty words as a square of cells, and the eigenvalues of the kernel of all
# eighty. The darker a cell, the more similar are two words. The negative eigenvalues show that
# these are not distances of points in a Euclidean space.
