"""
Many points by factors
======================

An indefinite kernel of 2,000 points replaced by factors of growing rank: how far the matrix is from
its approximation, and how long the solve takes.
"""

import time

import numpy as np
from matplotlib.figure import Figure

import indefinite_opt as iopt

data = iopt.datasets.load("checkerboard(n=2000, cells=2)")
kernel, dual = "sigmoid(a=1, r=-1)", iopt.SVMDual(C=1.0)
whole = iopt.KernelProblem.from_data(data.X, data.y, kernel, scaling="minmax")
ranks, errors, seconds = [2, 4, 8, 16, 32, 64], [], []
iopt.solve(whole, dual, solver="smo", max_iter=3)  # loops are compiled now, not while time is taken
for rank in ranks:
    problem = iopt.KernelProblem.approximate(data.X, data.y, kernel, rank, scaling="minmax")
    began = time.perf_counter()
    iopt.solve(problem, dual, solver="smo")
    seconds.append(time.perf_counter() - began)
    F, signs = problem.factors.factors, problem.factors.signs
    errors.append(np.linalg.norm(whole.K - (F * signs) @ F.T) / np.linalg.norm(whole.K))
figure = Figure(figsize=(9, 3.8), layout="constrained")
left, right = figure.subplots(1, 2)
left.plot(ranks, errors, "o-")
left.set(yscale="log", xlabel="rank", ylabel="relative error of the matrix")
right.plot(ranks, seconds, "o-")
right.set(xlabel="rank", ylabel="seconds of the solve", ylim=(0, None))
for ax in (left, right):
    ax.set_xscale("log", base=2)
alt = "The error of the matrix falls with the rank by many powers of ten; the time grows slowly."
