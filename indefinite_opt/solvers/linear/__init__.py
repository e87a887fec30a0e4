"""Row and column generation for large dense linear programs."""
