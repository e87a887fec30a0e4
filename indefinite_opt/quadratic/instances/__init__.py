"""Quadratic programs by name, on every machine the same, and what is proved about them.

All of them are made by `depot`, a module that needs nothing of this package, and can be copied
out of it with its table.
"""

from indefinite_opt.quadratic.instances import depot
from indefinite_opt.quadratic.instances.named import named_arrays
