"""
Which corner is the best?
=========================

A concave function over a polygon has its minimum at a corner. Descents end at several of them
(white); the bracket proves which one is the best (red).
"""

import numpy as np
from matplotlib.figure import Figure

import indefinite_opt as iopt

P, q = np.array([[-2.0, 0.6], [0.6, -1.4]]), np.array([0.1, 0.2])
G, h = np.array([[1.0, 1.0], [-1.0, 1.5], [0.5, -1.0]]), np.array([1.5, 1.8, 1.2])
qp = iopt.QuadraticProgram(P, q, G, h, lb=-1.0, ub=1.2)
u, v = np.meshgrid(np.linspace(-1.1, 1.3, 241), np.linspace(-1.1, 1.3, 241))
x = np.stack([u, v])
values = 0.5 * np.einsum("iab,ij,jab->ab", x, P, x) + np.einsum("i,iab->ab", q, x)
inside = (np.einsum("ki,iab->kab", G, x) <= h[:, None, None]).all(0) & (np.abs(x - 0.1) <= 1.1).all(
    0
)
figure = Figure(figsize=(5.4, 4.4), layout="constrained")
ax = figure.subplots()
ax.contourf(u, v, np.where(inside, values, np.nan), 24, cmap="viridis")
generator = np.random.default_rng(0)
for _ in range(30):
    start = {"x": generator.uniform(-1.0, 1.2, 2)}
    end = iopt.solve(qp, solver="multistart(starts=1, perturbations=0)", start=start).x
    ax.plot(*end, "o", color="white", markeredgecolor="black", markersize=9, clip_on=False)
best = iopt.bound(qp)
ax.plot(
    *best.values["x"],
    "*",
    color="red",
    markersize=16,
    clip_on=False,
    label=f"proved: {best.upper:.4f}",
)
ax.set(xlabel="x₁", ylabel="x₂", aspect="equal")
ax.legend(loc="lower left")
alt = "Colours of a hill over a polygon, white dots at some corners and a red star at one."
