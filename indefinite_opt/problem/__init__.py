"""From raw data to a kernel matrix with labels, and its spectrum."""
