"""Optimization problems of learning with indefinite kernels."""
