"""
The nearest kernel with weights
===============================

Clipping the spectrum gives the positive semidefinite kernel that is nearest if all entries count
the same. If some entries are known better than others, weights keep them.
"""

import numpy as np
from matplotlib.figure import Figure

import indefinite_opt as iopt

words = iopt.datasets.load("words")
chosen = np.r_[0:12, 40:52]
D = words.D[np.ix_(chosen, chosen)]
problem = iopt.KernelProblem.from_distances(D, words.y[chosen], "linear")
trusted = np.ones((24, 24))
trusted[12:, :12] = trusted[:12, 12:] = 10.0  # a tenth of the error between the languages
pictures = {"K": problem.K}
for title, W in (("all entries alike", None), ("between languages trusted", trusted)):
    pictures[title] = iopt.solve(problem, iopt.NearestKernel(W=W)).values["K"]
figure = Figure(figsize=(8.4, 2.9), layout="constrained")
axes = figure.subplots(1, 3)
limit = float(np.abs(problem.K).max())
for ax, (title, K) in zip(axes, pictures.items(), strict=True):
    drawn = ax.imshow(K, cmap="RdBu", vmin=-limit, vmax=limit)
    moved = np.abs(K - problem.K)[12:, :12].max()
    ax.set(title=title, xticks=[], yticks=[])
    ax.set_xlabel(f"between languages moved by {moved:.2g}", fontsize=8)
figure.colorbar(drawn, ax=axes, shrink=0.8, label="kernel value")

# %%
# Edit distances of 24 words, as similarities, and the nearest kernel without and with weights.
# Without weights little but the diagonal is left. With weights the entries between the languages
# stay where they were; those within a language and the diagonal move instead.
