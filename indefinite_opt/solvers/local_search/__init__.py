"""Descents from many starts, repeated from perturbed ends, for programs of any curvature."""
