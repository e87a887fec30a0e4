"""The verbs of the public interface, and what they hand back."""
