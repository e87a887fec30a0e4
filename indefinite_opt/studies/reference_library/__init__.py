"""Problems with known optima."""
