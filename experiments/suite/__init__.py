"""How accurate trained solutions are: 24 problems with a goal each, over several seeds."""
