"""
Quantiles of noisy targets
==========================

Where are a tenth, half and nine tenths of the targets below the curve? The noise grows with x, so
that the curves must spread. The kernel is not positive semidefinite.
"""

import matplotlib.pyplot as plt
import numpy as np

import indefinite_opt as iopt

generator = np.random.default_rng(1)
x = np.sort(generator.uniform(0.0, 3.0, 80))
t = np.sin(2.0 * x) + 0.25 * x * generator.standard_normal(80)
kernel = "epanechnikov(gamma=0.4)"
problem = iopt.KernelProblem.from_data(x[:, None], t, kernel, task="regression")

grid = np.linspace(0.0, 3.0, 300)
figure, axes = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
for tau in (0.9, 0.5, 0.1):
    result = iopt.solve(problem, iopt.QuantileRegression(C=0.3, tau=tau), seed=0)
    below = np.mean(t <= result.decision_function(x[:, None]) + 1e-6)
    label = f"τ = {tau:g}: {100 * below:.0f} % below"
    axes.plot(grid, result.decision_function(grid[:, None]), label=label)
axes.plot(x, t, "k.", label="targets")
axes.set(xlabel="x")
axes.legend(fontsize=8, loc="lower left")

# %%
# At a stationary point at most the share τ of the targets is strictly below the curve, and at least
# that share is on it or below. Points on a curve have weights between their bounds. Each curve is
# fitted by itself, so that curves of different τ may cross.
