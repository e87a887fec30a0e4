"""Problems as solvers read them: arrays, products and residuals."""
