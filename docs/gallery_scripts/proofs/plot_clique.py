"""
A clique by a quadratic program
===============================

The maximum of xᵀ(A + I/2)x over the simplex is 1 - 1/(2ω), with ω the size of the largest clique of
the graph (Motzkin & Straus 1965, Bomze 1997). The support of a solution is such a clique, and the
bracket proves that no larger one exists.
"""

import numpy as np
from matplotlib.figure import Figure

import indefinite_opt as iopt

n = 13
A = np.array([[float((i - j) % n in {1, 3, 4, 9, 10, 12}) for j in range(n)] for i in range(n)])
qp = iopt.QuadraticProgram(
    2 * A + np.eye(n),
    A=np.ones((1, n)),
    b=[1.0],
    lb=0.0,
    sense=-1,
    name="Paley graph of 13 vertices",
)
bracket = iopt.bound(qp, gap=1e-6)
clique = bracket.values["x"] > 1e-4
angles = 2 * np.pi * np.arange(n) / n
place = np.column_stack([np.cos(angles), np.sin(angles)])
figure = Figure(figsize=(4.8, 4.8), layout="constrained")
ax = figure.subplots()
for i, j in zip(*np.nonzero(np.triu(A)), strict=True):
    inside = clique[i] and clique[j]
    ax.plot(
        *place[[i, j]].T,
        color="C3" if inside else "0.8",
        linewidth=3 if inside else 1,
        zorder=inside,
    )
ax.scatter(*place.T, s=160, c=np.where(clique, "C3", "C0"), zorder=2)
ax.set(
    title=f"1 - 1/(2ω) ≤ {bracket.upper:.6f}: ω = {round(0.5 / (1 - bracket.upper))}",
    aspect="equal",
)
ax.axis("off")

# %%
# Thirteen vertices on a circle with their edges; those of the clique are red. The red triangle is
# the support of the best point. The bound in the title is below that of four vertices, so no larger
# clique exists.
