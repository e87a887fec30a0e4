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
formulations = [iopt.EpsilonSVR(C=0.1, epsilon=0.15), iopt.NuSVR(C=10.0, nu=0.3)]
figure, axes = plt.subplots(1, 2, figsize=(8.0, 3.2), sharey=True, layout="constrained")
for ax, formulation in zip(axes, formulations, strict=True):
    result = iopt.solve(problem, formulation, seed=0)
    f = result.classifier.decision_function(problem.kernel_with(grid[:, None]))
    # The half width of NuSVR's tube is the multiplier of the bound of the norm.
    width = getattr(formulation, "epsilon", result.multipliers.get("norm"))
    ax.fill_between(grid, f - width, f + width, color="tab:blue", alpha=0.2)
    ax.plot(grid, f)
    ax.plot(x, t, "k.")
    ax.set(title=f"{formulation}: {result.certificate.claim}", xlabel="x")

# %%
# Points inside the tube have no weight. ``EpsilonSVR`` needs a small C here: with an indefinite
# kernel large weights can pay off without a better fit. At C = 1 its curve swings between the
# points.
