"""
The tree of a bracket
=====================

Branch and bound divides a box until no part of it can hold a better point. Which corner of a
heptagon is the farthest from the origin, but for a small linear term?
"""

import numpy as np

import indefinite_opt as iopt
from indefinite_opt.figures import step_by_step

angles = 2.0 * np.pi * np.arange(7) / 7.0
G = np.column_stack([np.cos(angles), np.sin(angles)])
qp = iopt.QuadraticProgram(-2.0 * np.eye(2), [0.05, 0.02], G, np.ones(7), lb=-1.5, ub=1.5)
figure = step_by_step(iopt.bound(qp, gap=1e-6))
figure

# %%
# On the left each box of the search at the height of its bound, on the right the same boxes in the
# plane. A box is closed where its bound meets the green line of the best point, and divided where
# it does not. The slider shows the boxes in the order of their bounds.
