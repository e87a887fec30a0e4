"""
A dual in three weights
=======================

Three weights with yᵀα = 0 have two degrees of freedom, so that one picture shows the whole dual.
"""

import indefinite_opt as iopt
from indefinite_opt.figures import landscape

K = [[0.5, 2.0, -0.5], [2.0, 0.2, 0.1], [-0.5, 0.1, 0.3]]
problem = iopt.KernelProblem(K, [1, 1, -1])
result = iopt.solve(problem, iopt.SVMDual(C=2.0), record=True, prove=10)
figure = landscape(problem, iopt.SVMDual(C=2.0), result)

# %%
# Contours of a dual over a triangle of weights, with the steps of the first descent from zero. It
# ends at the white dot, a local optimum, and another descent has found a better one. Shape and
# colour of that mark say what is proved of it.
