"""
One picture for each claim
==========================

Five points of one dual in two weights, each with the strongest claim that `verify` can prove of it.
"""

# sphinx_gallery_thumbnail_number = 2
import numpy as np
from matplotlib.figure import Figure

import indefinite_opt as iopt
from indefinite_opt.figures import landscape

problem = iopt.KernelProblem([[1.0, -1.6], [-1.6, 1.4]], [1, -1])
dual = iopt.SVMDual(C=1.0, bias=False)
Q = problem.K * np.outer(problem.y, problem.y)
points = {
    "outside of the box": [1.15, 0.6],
    "anywhere inside": [0.6, 0.7],
    "gradient zero: a saddle": np.linalg.solve(Q, [1.0, 1.0]),
    "no better point nearby": [0.0, 1.0 / 1.4],
    "no better point at all": [1.0, 0.0],
}
figure = Figure(figsize=(9.0, 5.8), layout="constrained")
*axes, empty = figure.subplots(2, 3, sharex=True, sharey=True).flat
empty.set_axis_off()
for ax, (words, alpha) in zip(axes, points.items(), strict=True):
    certificate = iopt.verify(problem, dual, {"alpha": alpha}, bound=True)
    landscape(problem, dual, certificate, ax=ax)
    ax.get_legend().remove()
    ax.set(xlim=(-0.06, 1.26), ylim=(-0.06, 1.06))
    ax.set_title(f"{certificate.claim.name}\n{words}", fontsize=10)

# %%
# The same saddle five times, each with one point and its claim. A point outside of the box has no
# claim, one inside is feasible, and at the saddle the first-order conditions hold. The last two
# points are both better than all their neighbours, but only the right one is the best of all, which
# takes a bound to prove.
