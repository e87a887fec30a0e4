"""
A program without an optimum
============================

An infeasible program has no points. Which of its rows are to blame, and how can one be sure?
"""

import numpy as np

import indefinite_opt as iopt
from indefinite_opt import figures

qp = iopt.QuadraticProgram(np.eye(2), [0.0, 0.0], [[1.0, 1.0]], [1.0], lb=[0.8, 0.6])
conflict = iopt.verify(qp, {"conflict": {"inequalities": [1.0], "lower": [1.0, 1.0]}})
figure = figures.no_optimum_figure(conflict)
figure

# %%
# Every point of the plane is excluded by a row or a bound. The weights prove it without a picture,
# in any number of variables: one times each inequality adds up to 0 ≤ -0.4 (Farkas's lemma). For an
# unbounded program the same call draws the ray along which its objective falls.
