"""Studies: what the project claims, measured."""
