"""A long run, watched: its memory, the time of its steps, and every file that it writes."""
