"""
Squared distances of both signs
===============================

In the plane of one real and one imaginary coordinate the squared distance from the origin is
u² - v². It vanishes on the light cone, and is negative beyond it.
"""

import numpy as np
from matplotlib.figure import Figure

u, v = np.meshgrid(np.linspace(-2, 2, 201), np.linspace(-2, 2, 201))
figure = Figure(figsize=(5, 4.2), layout="constrained")
ax = figure.subplots()
levels = [-3, -2, -1, -0.3, 0, 0.3, 1, 2, 3]
filled = ax.contourf(u, v, u**2 - v**2, levels, cmap="RdBu", extend="both")
ax.contour(u, v, u**2 - v**2, [0.0], colors="black")
figure.colorbar(filled, label="squared distance from the origin")
ax.set(xlabel="real coordinate u", ylabel="imaginary coordinate v", aspect="equal")

# %%
# Hyperbolas of equal squared distance from the origin, blue where it is positive and red where it
# is negative. On the black cross it is zero, for points far from the origin as well. Kernels with
# negative eigenvalues have such points.
