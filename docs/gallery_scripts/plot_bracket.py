"""
A bracket that closes
=====================

The best point found so far and the proved bound, over time. The optimum is between the two
whenever the search is stopped.
"""

import indefinite_opt as iopt

reference = iopt.reference_library.load("chebyshev-gaussian-060-c1")
bracket = iopt.bound(reference.problem(), reference.formulation, gap=1e-6)
print(bracket)
figure = bracket.plot()
alt = "Two step functions over seconds, an upper and a lower bound, meet; their gap falls."
