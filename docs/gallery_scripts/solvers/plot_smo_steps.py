"""
SMO, one step at a time
=======================

Sequential minimal optimization as Lin & Lin (2003) print it: each step moves two weights so that
yᵀα = 0 still holds.
"""

import indefinite_opt as iopt
from indefinite_opt.figures import step_by_step

data = iopt.datasets.load("checkerboard(n=40, cells=2)")
problem = iopt.KernelProblem.from_data(data.X, data.y, "sigmoid(a=1, r=-1)", scaling="minmax")
result = iopt.solve(problem, iopt.SVMDual(C=1.0), solver="smo-lin-lin", record=True)
figure = step_by_step(result, most=25)
figure

# %%
# Bars are weights, the red ones those that a step has moved, beside the objective so far. Most
# steps end at a bound, 0 or C, where the bars stay. Move the slider to see all steps.
