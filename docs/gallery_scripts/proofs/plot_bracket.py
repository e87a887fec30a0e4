"""
A bracket that closes
=====================

The best point found so far and the proved bound, over time. The optimum is between the two
whenever the search is stopped.
"""

import indefinite_opt as iopt

[known] = iopt.depot("sigmoid-060-c10")
problem, dual = iopt.KernelProblem(known.K, known.y, name=known.name), iopt.SVMDual(C=known.C)
iopt.bound(problem, dual, gap=1.0)  # loads libraries, which is no part of the search below
bracket = iopt.bound(problem, dual, gap=1e-6)
print(bracket)
figure = bracket.plot()

# %%
# Two step functions over seconds, the best point and the proved bound, with the gap on the right.
# The line of the best point is level: most of the time is for the proof. A gap of one percent takes
# a small part of the time, and the bracket is valid wherever the search is stopped.
