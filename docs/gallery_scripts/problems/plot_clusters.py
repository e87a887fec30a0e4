"""
Clusters, with a bracket
========================

Kernel k-means asks for the partition of the least loss. A semidefinite relaxation bounds the loss
of every partition, and a partition near its solution is the other end of the bracket. The kernel
need not be positive semidefinite.
"""

import numpy as np

import indefinite_opt as iopt
from indefinite_opt.figures import clusters_figure

generator = np.random.default_rng(0)
centers = np.repeat([[0.0, 0.0], [3.0, 0.0], [1.0, 3.0]], 12, axis=0)
X = centers + generator.standard_normal(centers.shape)
problem = iopt.KernelProblem.from_data(X, kernel="epanechnikov(gamma=0.15)")
print(f"{100 * problem.negative_share:.0f} % of the spectrum is negative")

found = iopt.theory.kernel_k_means(problem, 3, rounds=2)
print(found)
figure = clusters_figure(problem, found.clusters)

# %%
# A dominant set is a single cluster, a maximum of :math:`x^\top A x` on the simplex. The next one
# is that of the other points.

result = iopt.solve(problem, iopt.DominantSet(), prove=20)
print(result.certificate.claim)

left, sizes = np.arange(problem.n), []
while len(sizes) < 3:
    part = iopt.KernelProblem(problem.K[np.ix_(left, left)])
    members = iopt.solve(part, iopt.DominantSet(), prove=20).clusters == 0
    sizes.append(int(members.sum()))
    left = left[~members]
print(f"sizes of the first three dominant sets: {sizes}")
figure = result.plot()

# %%
# Frames mark the clusters. ``gap`` is the share of the loss by which another partition may be
# better at most; without the two rounds of triangle inequalities it is 4 %. ``spectral`` is the
# weaker bound by eigenvalues. GLOBAL says that no dominant set has a larger :math:`x^\top A x`.
