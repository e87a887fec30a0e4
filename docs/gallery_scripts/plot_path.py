"""
A path of the bound C
=====================

Fifty values of C, each solved from the solution of the one before: support vectors, weights at the
bound, and training error.
"""

import numpy as np
from matplotlib.figure import Figure

import indefinite_opt as iopt

data = iopt.datasets.load("checkerboard(n=200, cells=2)")
problem = iopt.KernelProblem.from_data(data.X, data.y, "l1-gaussian(gamma=4)", scaling="minmax")
bounds = np.logspace(-3, 3, 50)
path = iopt.solve_path(problem, [iopt.SVMDual(C=C) for C in bounds], solver="smo")
support = [result.classifier.support.size for result in path]
capped = [int((result.x >= C).sum()) for result, C in zip(path, bounds, strict=True)]
errors = [100 * result.training_error for result in path]
figure = Figure(figsize=(7, 4), layout="constrained")
ax = figure.subplots()
ax.plot(bounds, support, label="support vectors")
ax.plot(bounds, capped, label="weights at C")
ax.plot(bounds, errors, label="training error, %")
ax.set(xscale="log", xlabel="C")
ax.legend()
alt = "Three curves over C: support vectors fall, fewer weights are at the bound, the error falls."
