"""
How good is another solver's answer?
====================================

LIBSVM on an indefinite kernel, for tolerances from 1 to 1e-8: the certificate says when its points
are stationary, and the gap to the proved optimum shows what is left.
"""

import numpy as np
from matplotlib.figure import Figure
from sklearn.svm import SVC

import indefinite_opt as iopt

data = iopt.datasets.load("checkerboard(n=60, cells=2)")
problem = iopt.KernelProblem.from_data(data.X, data.y, "sigmoid(a=2, r=-1)", scaling="minmax")
dual = iopt.SVMDual(C=10.0)
best = iopt.bound(problem, dual, gap=1e-6).upper
tolerances = 10.0 ** -np.arange(9)
gaps, residuals = [], []
for tol in tolerances:
    machine = SVC(kernel="precomputed", C=10.0, tol=tol, max_iter=100_000).fit(problem.K, problem.y)
    alpha = np.zeros(problem.n)
    alpha[machine.support_] = np.abs(machine.dual_coef_[0])
    certificate = iopt.verify(problem, dual, {"alpha": alpha})
    gaps.append((best - certificate.objective) / best)
    residuals.append(certificate.stationarity)
figure = Figure(figsize=(7, 4), layout="constrained")
ax = figure.subplots()
ax.plot(tolerances, residuals, "o-", label="stationarity")
ax.plot(tolerances, gaps, "s-", label="gap to the proved optimum")
ax.set(xscale="log", yscale="log", xlabel="tolerance of LIBSVM", ylabel="relative size")
ax.invert_xaxis()
ax.legend()

# %%
# Two curves over the tolerance of LIBSVM. The residual falls with the tolerance, so the points
# become stationary. The gap to the optimum stays at more than one half: a smaller tolerance does
# not lead to a better local optimum.
