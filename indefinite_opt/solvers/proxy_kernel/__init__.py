"""Solvers of the Luss duals, in which the kernel matrix is a variable, too."""

from indefinite_opt.solvers.proxy_kernel.search import MIN_INNER_TOL, svm_bound
