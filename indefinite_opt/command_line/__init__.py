"""The command `indefinite-opt`: it calls the public functions, and prints what they return."""
