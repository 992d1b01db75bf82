"""Problems solved by DeepXDE with its own settings and by us: error against wall time."""
