"""
Few labels, many points
=======================

Two half moons, and one label in each of them. The Laplacian support vector machine also asks that
neighbours have similar values, whether they have labels or not.
"""

import numpy as np
from sklearn.datasets import make_moons

import indefinite_opt as iopt
from indefinite_opt.figures import regions_figure

X, y = make_moons(80, noise=0.06, random_state=0)
problem = iopt.KernelProblem.from_data(X, y, "gaussian(gamma=10)")
labelled = np.zeros(80)
labelled[[np.argmin(X[:, 0]), np.argmax(X[:, 0])]] = 1.0
prices = {"without the graph": 0.0, "with the graph": 10.0}
formulations = [
    iopt.LaplacianSVM(gamma_A=0.001, gamma_I=price, labelled=labelled) for price in prices.values()
]
figure = regions_figure(problem, [iopt.solve(problem, each) for each in formulations])
for ax, title in zip(figure.axes, prices, strict=False):
    ax.set_title(title, loc="left")

# %%
# The leftmost and the rightmost point have labels. Without the graph, on the left, the border is
# half-way between these two points, and cuts both moons. With it, on the right, the border follows
# the gap between the moons.
