"""Linear least squares of Jacobians, on the host and on a device."""
