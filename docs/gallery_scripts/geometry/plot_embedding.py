"""
Points of a pseudo-Euclidean space
==================================

The words once more, by their two largest real coordinates and by the largest real and the largest
imaginary one. Squared distances are differences of both kinds of squares (Haasdonk 2005,
Proposition 1).
"""

from dataclasses import replace

from matplotlib.figure import Figure

import indefinite_opt as iopt
from indefinite_opt.figures import points_figure

data = iopt.datasets.load("words")
problem = iopt.KernelProblem.from_dataset(data, form="linear")
embedding = iopt.theory.embed(problem)
p, q = embedding.signature
figure = Figure(figsize=(8.2, 3.9), layout="constrained")
axes = figure.subplots(1, 2, sharex=True, sharey=True)
for ax, k, name in zip(axes, (1, p), ("second real", "first imaginary"), strict=True):
    points = replace(data, D=None, X=embedding.points[:, [0, k]])
    points_figure(iopt.KernelProblem.from_dataset(points, "linear"), ax=ax)
    ax.set(xlabel="first real coordinate", ylabel=f"{name} coordinate")

# %%
# Two pictures of the same eighty words, each by two of their coordinates. The two real coordinates
# separate English from Italian in part. The imaginary coordinate on the right varies with the
# words, too: it is a part of the data.
