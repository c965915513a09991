"""The device that computes, and the native kernels for the CPU."""
