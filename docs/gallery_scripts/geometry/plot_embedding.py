"""
Points of a pseudo-Euclidean space
==================================

The words once more, by their two largest real coordinates and by the largest real and the largest
imaginary one. Squared distances are differences of both kinds of squares (Haasdonk 2005,
Proposition 1).
"""

# sphinx_gallery_thumbnail_number = 2
from matplotlib.figure import Figure

import indefinite_opt as iopt

data = iopt.datasets.load("words")
problem = iopt.KernelProblem.from_dataset(data, form="linear")
embedding = iopt.theory.embed(problem)
p, q = embedding.signature
figure = Figure(figsize=(9, 4.2), layout="constrained")
for ax, (i, j) in zip(figure.subplots(1, 2), [(0, 1), (0, p)], strict=True):
    for label, marker in ((1, "o"), (-1, "^")):
        held = problem.y == label
        points = embedding.points[held]
        ax.scatter(points[:, i], points[:, j], marker=marker, label=data.classes[int(label > 0)])
    ax.set(xlabel="first real coordinate")
    ax.set_ylabel("second real coordinate" if j < p else "first imaginary coordinate")
ax.legend()

# %%
# Two pictures of the same eighty words, each by two of their coordinates. The two real coordinates
# separate English from Italian in part. The imaginary coordinate on the right varies with the
# words, too: it is a part of the data.
