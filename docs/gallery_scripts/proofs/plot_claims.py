"""
A point for each claim
======================

Five points of one dual in two weights, each with the strongest claim that `verify` can prove of it.
"""

import numpy as np

import indefinite_opt as iopt
from indefinite_opt.figures import landscape

problem = iopt.KernelProblem([[1.0, -1.6], [-1.6, 1.4]], [1, -1])
dual = iopt.SVMDual(C=1.0, bias=False)
Q = problem.K * np.outer(problem.y, problem.y)
points = [
    [1.15, 0.6],  # outside of the box
    [0.6, 0.7],  # anywhere inside
    np.linalg.solve(Q, [1.0, 1.0]),  # the gradient is zero: a saddle
    [0.0, 1.0 / 1.4],  # no better point nearby
    [1.0, 0.0],  # no better point at all
]
certificates = [iopt.verify(problem, dual, {"alpha": alpha}, bound=True) for alpha in points]
figure = landscape(problem, dual, certificates)

# %%
# The objective of a dual over its box with five points, and beside each its objective. A point
# outside of the box has no claim, one inside is feasible, and at the saddle the first-order
# conditions hold. The points on the left border and in the corner are both better than all their
# neighbours, but only the corner is the best of all, which takes a bound to prove.
