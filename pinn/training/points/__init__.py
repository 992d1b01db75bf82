"""The points that training sees: drawn once, drawn anew, and in batches."""
