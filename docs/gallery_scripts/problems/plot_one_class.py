"""
One class, three formulations
=============================

Half a ring without labels, and a kernel that is not positive semidefinite. A machine for one class
says which points belong to it: :math:`\\nu` = 0.1 bounds the share of the outliers among the
training points.
"""

import numpy as np

import indefinite_opt as iopt
from indefinite_opt.figures import regions_figure

generator = np.random.default_rng(0)
angles = generator.uniform(0.0, np.pi, 80)
ring = np.column_stack([np.cos(angles), np.sin(angles)])
X = ring + 0.12 * generator.standard_normal((80, 2))

problem = iopt.KernelProblem.from_data(X, kernel="epanechnikov(gamma=2)")
print(f"{100 * problem.negative_share:.0f} % of the spectrum is negative")

formulations = [iopt.OneClassSVM(nu=0.1), iopt.SVDD(C=0.125), iopt.OneClassLP(nu=0.1)]
figure = regions_figure(problem, [iopt.solve(problem, each, seed=0) for each in formulations])

# %%
# Points inside the curve are accepted. The regions of the two machines with inner products agree;
# that of the linear program is narrower. Rings round points mark support vectors.
