"""
Two local optima of one machine
===============================

Haasdonk's Figure 3: points in a plane with one imaginary coordinate. Both machines are certified
local optima of the same problem, and only one of them is the best.
"""

import matplotlib.pyplot as plt

import indefinite_opt as iopt
from indefinite_opt.figures import decision_regions

data = iopt.datasets.load("haasdonk-figure3")
problem = iopt.KernelProblem.from_dataset(data)
dual = iopt.SVMDual(C=data.optima["C"])
figure, axes = plt.subplots(1, 2, figsize=(8.4, 2.6), layout="constrained")
for ax, alpha in zip(axes, data.optima["alpha"], strict=True):
    certificate = iopt.verify(problem, dual, {"alpha": alpha})
    decision_regions(problem, dual.classifier(problem, {"alpha": alpha}), ax=ax)
    ax.set(xlabel="x₁ (real)", ylabel="x₂ (imaginary)")
    ax.set_title(f"{certificate.claim.name}, objective {certificate.objective:.4f}", pad=24)

# %%
# The same points of two classes twice, with decision regions that lean to opposite sides. Both are
# certified local optima of one problem. Their objectives, above the panels, say which is better.
