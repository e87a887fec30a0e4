"""What several test files share: known optima, brute force, random problems."""
