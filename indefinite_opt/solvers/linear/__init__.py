"""Generation of rows and columns for large linear programs."""
