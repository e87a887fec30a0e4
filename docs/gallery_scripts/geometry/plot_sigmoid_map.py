"""
Where the sigmoid kernel is indefinite
======================================

The negative share of the spectrum of tanh(a⟨x, z⟩ + r) over its two parameters, on iris. For small
a and negative r the machine behaves as one with the Gaussian kernel (Lin & Lin 2003, section 5).
"""

import numpy as np
from matplotlib.figure import Figure

import indefinite_opt as iopt

data = iopt.datasets.load("iris-versicolor-virginica")
a, r = np.logspace(-3, 1, 33), np.linspace(-3, 3, 31)
share = np.array(
    [
        [
            iopt.KernelProblem.from_data(
                data.X, data.y, "sigmoid", a=one, r=other, scaling="minmax"
            ).negative_share
            for one in a
        ]
        for other in r
    ]
)
figure = Figure(figsize=(6, 4), layout="constrained")
ax = figure.subplots()
drawn = ax.pcolormesh(a, r, 100 * share, cmap="Oranges", shading="nearest")
ax.set(xscale="log", xlabel="a", ylabel="r")
figure.colorbar(drawn, label="negative part of the spectrum, %")

# %%
# The share of the negative eigenvalues over both parameters; the darker, the more indefinite. On
# the left, for small a, the kernel is nearly positive semidefinite. On the right it is not, and
# more so for positive r.
