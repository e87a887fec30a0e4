"""
Cutting planes that close in on an optimum
==========================================

The dual of Luss & d'Aspremont (2007) is convex. `accpm` makes one cut after another, each at a
centre of what the cuts before have left.
"""

import indefinite_opt as iopt
from indefinite_opt.figures import step_by_step

K = [[1.0, 0.5, -1.0], [0.5, -1.0, 0.2], [-1.0, 0.2, 0.3]]
problem = iopt.KernelProblem(K, [1, 1, -1])
result = iopt.solve(problem, iopt.LussDual(C=1.0, rho=0.05), solver="accpm", record=True)
figure = step_by_step(result, most=16)
figure

# %%
# A triangle of weights, of which each cut removes a part; move the slider to see them. The tangent
# at a centre proves that no point on its shaded side is better than the centre. What this cut
# removes is orange, and what earlier cuts have removed is grey. On the right the objective of the
# best centre and the bound of all cuts meet; later frames are enlarged.
