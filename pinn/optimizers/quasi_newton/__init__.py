"""Solvers that build up curvature from gradients: their searches, vectors and matrices."""
