"""What is proved of a point, and how."""
