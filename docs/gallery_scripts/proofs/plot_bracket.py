"""
A bracket that closes
=====================

The best point found so far and the proved bound, over time. The optimum is between the two
whenever the search is stopped.
"""

# sphinx_gallery_thumbnail_number = 2
import indefinite_opt as iopt

[known] = iopt.depot("chebyshev-gaussian-060-c1")
problem, dual = iopt.KernelProblem(known.K, known.y, name=known.name), iopt.SVMDual(C=known.C)
iopt.bound(problem, dual)  # compiles loops, which is no search
bracket = iopt.bound(problem, dual, gap=1e-6)
print(bracket)
figure = bracket.plot()

# %%
# Two step functions over seconds, the best point and the proved bound, with the gap on the right.
# The best point is found at once, and the rest of the time is for the proof. The bracket is valid
# wherever the search is stopped.
