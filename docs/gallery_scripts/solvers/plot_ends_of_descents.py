"""
Where a thousand descents end
=============================

A program of the BoxQP kind has many local optima. A thousand descents start at random points, and
branch and bound proves which end is the best.
"""

import indefinite_opt as iopt

qp = iopt.QuadraticProgram.read("boxqp-50-40-1")
descents = "multistart(starts=1000, perturbations=0, budget=inf)"
figure = iopt.solve(qp, solver=descents, seed=0, prove=20).plot()

# %%
# Bars over the objectives at which descents have ended; the smaller the better. Many descents come
# to the best point on the left, and the others end at dozens of worse ones. The line of the bound
# shows how much better a point could be, and the claim in the legend whether the best point is
# proved to be the optimum. A single descent may leave you at any of the ends.
