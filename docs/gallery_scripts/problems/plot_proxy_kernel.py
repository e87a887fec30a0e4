"""
A proxy for an indefinite kernel
================================

Luss & d'Aspremont learn a positive semidefinite kernel together with the machine. The penalty ρ
says how far it may be from K: at a high penalty it is K's own positive part.
"""

import numpy as np
from matplotlib.figure import Figure

import indefinite_opt as iopt

data = iopt.datasets.load("checkerboard(n=60, cells=2)")
order = np.argsort(data.y, kind="stable")
problem = iopt.KernelProblem.from_data(
    data.X[order], data.y[order], "sigmoid(a=1, r=-0.5)", scaling="minmax"
)
figure = Figure(figsize=(8.4, 2.6), layout="constrained")
axes = figure.subplots(1, 4)
limit = float(np.abs(problem.K).max())
pictures = [("K", problem.K)]
for rho in (0.002, 0.02, 1000.0):
    result = iopt.solve(problem, iopt.LussDual(C=1.0, rho=rho))
    pictures.append((f"K*, ρ = {rho:g}", result.classifier.change.kernel))
for ax, (title, K) in zip(axes, pictures, strict=True):
    drawn = ax.imshow(K, cmap="RdBu", vmin=-limit, vmax=limit)
    ax.set(title=title, xticks=[], yticks=[])
figure.colorbar(drawn, ax=axes, shrink=0.8, label="kernel value")

# %%
# The given kernel matrix on the left, and three learned ones beside it. At a small penalty the
# learned kernel shows the two classes as blocks. At a large penalty it is close to the given
# kernel.
