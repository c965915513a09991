"""The device that computes, and native kernels for the CPU."""
