"""
One data set, six kernels
=========================

The same machine with six kernels, of which the city-block Gaussian, the sigmoid and Epanechnikov's
are indefinite here. The share of the negative part is in the titles.
"""

from matplotlib.figure import Figure

import indefinite_opt as iopt
from indefinite_opt.figures import decision_regions

data = iopt.datasets.load("haasdonk-figure4a(n=100, seed=0)")
kernels = [
    "gaussian(gamma=2)", "l1-gaussian(gamma=2)", "epanechnikov(gamma=4)",
    "polynomial(degree=2)", "sigmoid(a=1, r=-1)", "laplacian(gamma=1)",
]  # fmt: skip
figure = Figure(figsize=(8.8, 6.0), layout="constrained")
for ax, kernel in zip(figure.subplots(2, 3).flat, kernels, strict=True):
    problem = iopt.KernelProblem.from_data(data.X, data.y, kernel)
    result = iopt.solve(problem, iopt.SVMDual(C=10.0))
    decision_regions(problem, result.classifier, ax=ax, resolution=80)
    ax.get_legend().remove()
    told = f"{100 * problem.negative_share:.2g} % negative, {result.certificate.claim.name}"
    ax.set_title(f"{kernel}\n{told}", fontsize=10)
    ax.set(xticks=[], yticks=[], xlabel="", ylabel="")

# %%
# Six maps of decision values for the same points, one for each kernel. The decision changes on the
# black curves, most of which are closed round the diamond. Above each map are the share of the
# negative eigenvalues and what is proved of the solution.
