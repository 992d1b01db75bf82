"""Values on grids: transforms, convolutions, pools, resampling, differences, integrals."""

from . import convolution, fft, gradient, grid_sample, interpolate, pooling, trapezoid

__all__ = ["convolution", "fft", "gradient", "grid_sample", "interpolate", "pooling", "trapezoid"]
