"""Sets the process up for MLX before any test of the engine imports it."""

from sotto.engine.kernels import device

device.prepare()
