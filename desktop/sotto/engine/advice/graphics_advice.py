"""Whether an NVIDIA graphics processor lies idle, and what it needs to compute; nothing about Apple's, see mac_advice.

MLX needs a processor of the generation Turing or newer, and a driver that knows its CUDA:
https://ml-explore.github.io/mlx/build/html/install.html
"""

import re
import sys
from collections.abc import Iterator

from sotto.engine.advice.machine import Machine
from sotto.engine.kernels.device import SWITCH, DeviceInfo

# The oldest driver for each package of MLX, the best package first.
_DRIVERS = {"mlx-cuda-13": 580, "mlx-cuda-12": 550}
_OLDEST = min(_DRIVERS.values())
_NVIDIA, _DISPLAY = "0x10de", "0x03"
# The lowest number of a Turing on the PCI bus; all that are older have lower ones.
_TURING = 0x1E00
_VERSION = re.compile(r"Kernel Module(?: for \S+)?\s+(\d+)[.\d]*")
# The driver as Windows lends it to Linux.
_WSL = "usr/lib/wsl/lib/libcuda.so.1"
_DRIVER_PAGE = "https://www.nvidia.com/drivers"


def graphics_advice(machine: Machine, device: DeviceInfo, distribution: str | None) -> Iterator[str]:
    """Yield why a graphics processor does not compute, and how that is mended.

    Args:
        machine: The machine.
        device: What MLX computes with.
        distribution: The package with MLX for CUDA; None if it is not installed.
    """
    if device.device != "cpu" or machine.system != "linux" or not _is_fit(machine):
        return
    idle = "The NVIDIA graphics processor is not used, because"
    driver, needed = _driver(machine), _DRIVERS.get(distribution or "", _OLDEST)
    if machine.environment.get(SWITCH) == "cpu":
        yield f"{idle} {SWITCH} is cpu: unset it."
    elif not _has_driver(machine):
        yield f"{idle} its driver is not loaded: install the newest from {_DRIVER_PAGE}."
    elif driver is not None and driver < needed:
        yield f"{idle} its driver has version {driver} and MLX needs {needed}: install the newest from {_DRIVER_PAGE}."
    elif distribution is None:
        yield f"{idle} MLX is installed for the CPU alone: {_install(driver, device)}"
    else:
        yield f"{idle} CUDA does not find it: see what nvidia-smi says (in Docker, start with --gpus all)."


def _is_fit(machine: Machine) -> bool:
    """Return whether there is an NVIDIA graphics processor that MLX supports, as far as can be seen."""
    if machine.exists(_WSL):
        return True
    return any(
        machine.text(f"{folder}/vendor") == _NVIDIA
        and machine.text(f"{folder}/class").startswith(_DISPLAY)
        and int(machine.text(f"{folder}/device") or "0", 16) >= _TURING
        for folder in machine.glob("sys/bus/pci/devices/*")
    )


def _has_driver(machine: Machine) -> bool:
    return machine.exists(_WSL) or machine.exists("proc/driver/nvidia/version")


def _driver(machine: Machine) -> int | None:
    """Return the main version of the driver; None if unknown."""
    found = _VERSION.search(machine.text("proc/driver/nvidia/version"))
    return int(found[1]) if found else None


def _install(driver: int | None, device: DeviceInfo) -> str:
    """Return the step that installs MLX for CUDA."""
    if getattr(sys, "frozen", False):
        return "install Sotto from its source instead, as its help says under 'Where it runs'."
    extra = "cuda13" if driver is None or driver >= _DRIVERS["mlx-cuda-13"] else "cuda12"
    return f"python3 -m pip --python {sys.prefix} install 'mlx[{extra}]=={device.mlx_version}'"
