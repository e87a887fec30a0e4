"""The command indefinite-opt."""
