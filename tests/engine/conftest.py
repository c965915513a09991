"""Sets the process up for MLX before any test of the engine imports it."""

from sotto.engine import device

device.prepare()
