"""
What clip, flip, shift and square make of a spectrum
====================================================

The classical ways to a positive semidefinite kernel change the eigenvalues and leave the
eigenvectors alone. A shift changes every eigenvalue; a flip keeps what the negative part knows; a
square does so, too, and lets the large ones grow.
"""

from matplotlib.figure import Figure

import indefinite_opt as iopt

data = iopt.datasets.load("words")
K = iopt.KernelProblem.from_dataset(data, form="linear")
figure = Figure(figsize=(7, 4), layout="constrained")
ax = figure.subplots()
ax.plot(K.spectrum.values[::-1], color="black", linewidth=3, label="K")
for transform, style in (("clip", "--"), ("flip", ":"), ("shift", "-."), ("square", "-")):
    ax.plot(K.transformed(transform).spectrum.values[::-1], style, label=transform)
ax.axhline(0.0, color="grey", linewidth=0.8)
ax.set(xlabel="rank", ylabel="eigenvalue", yscale="symlog")
ax.legend()
alt = "Five falling curves of eigenvalues; only that of K itself falls below zero."
