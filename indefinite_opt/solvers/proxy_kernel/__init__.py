"""Solvers of the Luss duals, whose kernel is a variable too."""

from indefinite_opt.solvers.proxy_kernel.search import FINEST, KernelBound, kernel_program

__all__ = ["FINEST", "KernelBound", "kernel_program"]
