"""
Which corner is the best?
=========================

A concave function over a polygon has its minimum at a corner. Descents end at several of them; the
bracket proves which one is the best.
"""

import numpy as np

import indefinite_opt as iopt
from indefinite_opt.figures import landscape

P, q = np.array([[-2.0, 0.6], [0.6, -1.4]]), np.array([0.1, 0.2])
G, h = np.array([[1.0, 1.0], [-1.0, 1.5], [0.5, -1.0]]), np.array([1.5, 1.8, 1.2])
qp = iopt.QuadraticProgram(P, q, G, h, lb=-1.0, ub=1.2)
figure = landscape(qp, None, iopt.solve(qp, record=True, prove=10))

# %%
# Contours of a hill over a polygon: the darker, the better. The white dot is a corner at which
# descents have ended although another one is better. The green one is proved to be the best, by a
# bracket that has closed.
