"""How training judges itself: at points apart, by rounding, by noise, and in which words."""
