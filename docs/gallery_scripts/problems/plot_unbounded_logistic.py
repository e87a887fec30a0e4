"""
Why (33) has the penalty ‖α‖²
=============================

Kernel logistic regression with the usual penalty ½αᵀKα is unbounded below for every kernel with a
negative eigenvalue. Along its eigenvector v the penalty falls with the square of the step t, and
the losses grow linearly. With ½‖α‖², as in (33) of Lin & Lin, the problem is convex.
"""

import numpy as np
from matplotlib.figure import Figure

import indefinite_opt as iopt

data = iopt.datasets.load("checkerboard(n=40)")
problem = iopt.KernelProblem.from_data(data.X, data.y, "sigmoid(a=1, r=-1)")
values, vectors = np.linalg.eigh(problem.K)
v, C = vectors[:, 0], 1.0
t = np.linspace(0.0, 12.0, 241)
losses = C * np.logaddexp(0.0, -problem.y * values[0] * t[:, None] * v).sum(axis=1)

figure = Figure(figsize=(7, 4), layout="constrained")
ax = figure.subplots()
ax.plot(t, 0.5 * values[0] * t**2 + losses, label="½αᵀKα + losses")
ax.plot(t, 0.5 * t**2 + losses, label="½‖α‖² + losses, (33)")
ax.set(xlabel="t, with α = tv", ylabel="objective", ylim=(-150, 250))
ax.axhline(0.0, color="grey", linewidth=0.8)
ax.legend()

# %%
# Two objectives along one eigenvector of a negative eigenvalue. The one with the usual penalty
# falls without end. The one with the penalty of (33) rises, so that it has a minimum.
