"""
Regression in a tube
====================

Errors of less than :math:`\\varepsilon` cost nothing. ``EpsilonSVR`` takes the width of the tube,
``NuSVR`` the share of points that may lie outside, and finds the width. The kernel is not positive
semidefinite.
"""

import matplotlib.pyplot as plt
import numpy as np

import indefinite_opt as iopt

generator = np.random.default_rng(0)
x = np.sort(generator.uniform(-3.0, 3.0, 60))
t = np.sinc(x) + 0.1 * generator.standard_normal(60)
kernel = "epanechnikov(gamma=0.7)"
problem = iopt.KernelProblem.from_data(x[:, None], t, kernel, task="regression")

grid = np.linspace(-3.0, 3.0, 400)
fixed = iopt.solve(problem, iopt.EpsilonSVR(C=0.1, epsilon=0.15), seed=0)
found = iopt.solve(problem, iopt.NuSVR(C=10.0, nu=0.3), seed=0)
# NuSVR has the half width of its tube as the multiplier of the bound of the norm.
widths = (fixed.formulation.epsilon, found.multipliers["norm"])
figure, axes = plt.subplots(1, 2, figsize=(8.2, 3.4), sharey=True, layout="constrained")
for ax, result, width in zip(axes, (fixed, found), widths, strict=True):
    f = result.decision_function(grid[:, None])
    ax.fill_between(grid, f - width, f + width, alpha=0.2, label=f"within {width:.3f}")
    ax.plot(grid, f, label="f(x)")
    ax.plot(x, t, "k.", label="training points")
    ax.set(title=f"{result.formulation}: {result.certificate.claim}", xlabel="x")
    ax.legend(fontsize=8, loc="upper left")

# %%
# Points inside the tube have no weight. ``EpsilonSVR`` needs a small C here: with an indefinite
# kernel large weights can pay off without a better fit. At C = 1 its curve swings between the
# points.
