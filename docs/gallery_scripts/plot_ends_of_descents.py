"""
Where a thousand descents end
=============================

A program of the BoxQP kind has many local optima. Each bar counts descents from random starts that
end at one objective; the line is the optimum, which a bracket proves.
"""

from matplotlib.figure import Figure

import indefinite_opt as iopt

qp = iopt.QuadraticProgram.read("boxqp-50-40-1")
ends = iopt.solve(qp, solver="multistart(starts=1000, perturbations=0, budget=inf)", seed=0).optima
best = iopt.bound(qp, gap=1e-6).upper
values, counts = [end.objective for end in ends], [end.count for end in ends]
figure = Figure(figsize=(7, 4), layout="constrained")
ax = figure.subplots()
ax.hist(values, bins=40, weights=counts, color="C0")
ax.axvline(best, color="C3", label="optimum, proved")
ax.set(xlabel="objective (smaller is better)", ylabel="descents")
ax.legend()
alt = "A histogram of objectives, with a line at its left end for the optimum."
