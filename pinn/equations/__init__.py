"""What an equation means, and its values at points: names resolved, derivatives by two routes."""
