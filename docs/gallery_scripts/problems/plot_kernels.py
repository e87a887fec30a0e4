"""
One data set, six kernels
=========================

The same machine with six kernels, of which the city-block Gaussian, the sigmoid and Epanechnikov's
are indefinite here. The share of the negative part is in the titles.
"""

# sphinx_gallery_thumbnail_number = 2
import numpy as np
from matplotlib.figure import Figure

import indefinite_opt as iopt

data = iopt.datasets.load("haasdonk-figure4a(n=100, seed=0)")
kernels = [
    "gaussian(gamma=2)", "l1-gaussian(gamma=2)", "epanechnikov(gamma=4)",
    "polynomial(degree=2)", "sigmoid(a=1, r=-1)", "laplacian(gamma=1)",
]  # fmt: skip
u, v = np.meshgrid(np.linspace(-0.05, 1.05, 111), np.linspace(-0.05, 1.05, 111))
figure = Figure(figsize=(9, 6.4), layout="constrained")
for ax, kernel in zip(figure.subplots(2, 3).flat, kernels, strict=True):
    problem = iopt.KernelProblem.from_data(data.X, data.y, kernel)
    result = iopt.solve(problem, iopt.SVMDual(C=10.0))
    f = result.decision_function(np.column_stack([u.ravel(), v.ravel()])).reshape(u.shape)
    limit = float(np.abs(f).max())
    ax.contourf(u, v, f, np.linspace(-limit, limit, 21), cmap="PuOr")
    ax.contour(u, v, f, [0.0], colors="black")
    ax.scatter(*data.X.T, c=data.y, cmap="PuOr", edgecolors="black", linewidths=0.5, s=16)
    told = f"{100 * problem.negative_share:.2g} % negative, {result.certificate.claim.name}"
    ax.set_title(f"{kernel}\n{told}", fontsize=10)
    ax.set(xticks=[], yticks=[], aspect="equal")

# %%
# Six maps of decision values for the same points, one for each kernel. The decision changes on the
# black curves, most of which are closed round the diamond. Above each map are the share of the
# negative eigenvalues and what is proved of the solution.
