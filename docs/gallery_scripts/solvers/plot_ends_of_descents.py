"""
Where a thousand descents end
=============================

A program of the BoxQP kind has many local optima. A thousand descents start at random points, and
branch and bound proves how much better than the best end a point could be.
"""

import indefinite_opt as iopt

qp = iopt.QuadraticProgram.read("boxqp-50-40-1")
descents = "multistart(starts=1000, perturbations=0, budget=inf)"
figure = iopt.solve(qp, solver=descents, seed=0, prove=20).plot()

# %%
# Bars over the objectives at which descents have ended; the smaller the better. The dashed line is
# the best end, and the wide line the proved bound: no point has an objective to the left of it.
# Where both lines meet, the best end is proved to be the optimum, and the legend says GLOBAL. A
# single descent may leave you at any of the ends.
