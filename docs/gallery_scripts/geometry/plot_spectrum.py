"""
The spectrum of an indefinite kernel
====================================

All eigenvalues of K on the left, those of the centred matrix PKP on the right.
"""

import indefinite_opt as iopt
from indefinite_opt.figures import spectrum_figure

data = iopt.datasets.load("haasdonk-figure4a(n=100, seed=0)")
problem = iopt.KernelProblem.from_data(data.X, data.y, "l1-gaussian(gamma=2)")
figure = spectrum_figure(problem)

# %%
# Positive eigenvalues above zero and negative ones below, each over their rank. More than half of
# the eigenvalues are negative, but the largest positive one is far larger than any of them.
# Centring takes away most of that one.
