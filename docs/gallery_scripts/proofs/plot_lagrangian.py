"""
The duality gap of a nonconvex program
======================================

How much does a convex dual lose? The largest cut of a cycle of five nodes has four edges, and the
Lagrangian dual of its quadratic program proves no more than that it has at most 4.52.
"""

import numpy as np

import indefinite_opt as iopt
from indefinite_opt import figures

edges = 0.5 * (np.roll(np.eye(5), 1, axis=1) + np.roll(np.eye(5), -1, axis=1))
cut = iopt.QuadraticProgram(
    -edges, np.zeros(5), lb=-1, ub=1, constant=2.5, sense=-1, name="the largest cut of a cycle"
)
figure = figures.lagrangian(cut)
figure

# %%
# On the left each point of the curve is a valid bound, and the right end is the best one. On the
# right the Lagrangian is concave and above the objective everywhere in the box. The star is the
# best cut. At the maximiser of the Lagrangian, which is no cut, the objective is far below it.
