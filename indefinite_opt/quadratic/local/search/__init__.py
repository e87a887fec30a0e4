"""Local search by descents and perturbations."""
