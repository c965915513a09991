"""What slows the processor down: kernels that are missing or limited, too few cores, and saving power."""

from collections.abc import Iterator

from sotto.engine.advice.machine import Machine
from sotto.engine.kernels.device import DeviceInfo
from sotto.engine.kernels.native import LEVEL_SWITCH, SWITCH, NativeStatus
from sotto.engine.memory.control_groups import cpu_quota

_CORETYPE = "OPENBLAS_CORETYPE"
# OpenBLAS's names of kernels that are slower than the processor allows, by an ability of it that they do not use.
_SLOW_CORETYPES = {
    "avx2": frozenset(
        """
        ATHLON ATOM BARCELONA BOBCAT BULLDOZER CORE2 DUNNINGTON EXCAVATOR GENERIC KATMAI NANO NEHALEM NORTHWOOD OPTERON
        PENRYN PILEDRIVER PRESCOTT SANDYBRIDGE STEAMROLLER
        """.split()
    ),
    "avx512f": frozenset(("HASWELL", "ZEN")),
}
# With these drivers, the governor `powersave` is the usual one and does not hold the clock down.
_DRIVERS_THAT_ADAPT = ("intel_pstate", "amd-pstate-epp", "amd_pstate_epp")
_GOVERNOR = "sys/devices/system/cpu/cpu0/cpufreq"


def processor_advice(machine: Machine, device: DeviceInfo, native: NativeStatus) -> Iterator[str]:
    """Yield what slows computing on the processor down, and how that is mended; nothing where it does not compute."""
    if device.device != "cpu":
        return
    if native.level:
        yield from _instructions(machine, native)
        yield from _cores(machine, native)
    elif machine.has_kernels:
        yield _missing_kernels(native)
    if not device.blas and machine.has_kernels:
        yield (
            "Matrix products use MLX's own BLAS, which is 20 to 50 times slower than OpenBLAS: install the Python "
            "package scipy-openblas32, or the system's OpenBLAS (on Debian: sudo apt-get install libopenblas0-pthread)."
        )
    yield from _openblas(machine)
    yield from _power(machine)


def _missing_kernels(native: NativeStatus) -> str:
    if SWITCH in native.reason:
        return f"The native kernels are {native.reason}, which makes answers many times slower: unset it."
    compiler = "compiler" in native.reason
    step = "install one (sudo apt-get install g++), then Sotto again" if compiler else "install Sotto again"
    return f"Without native kernels answers are many times slower, and {native.reason.partition(': ')[0]}: {step}."


def _openblas(machine: Machine) -> Iterator[str]:
    chosen = machine.environment.get(_CORETYPE, "")
    if any(has in machine.instructions and chosen.upper() in slow for has, slow in _SLOW_CORETYPES.items()):
        yield (
            f"{_CORETYPE} is set to {chosen}, so matrix products do not use the widest instructions of this processor: "
            "unset it."
        )


def _instructions(machine: Machine, native: NativeStatus) -> Iterator[str]:
    if native.level != native.best:
        yield (
            f"The native kernels are limited to {native.level}, and this processor has {native.best}: unset "
            f"{LEVEL_SWITCH}."
        )
    elif machine.architecture == "x86_64" and machine.instructions and "avx2" not in machine.instructions:
        yield "The processor has no AVX2, so prompts are read several times more slowly than with it: " + (
            "let the virtual machine show the real processor (with QEMU: -cpu host)."
            if machine.is_virtual
            else "no setting changes that, only smaller models do."
        )


def _cores(machine: Machine, native: NativeStatus) -> Iterator[str]:
    quota, cores = cpu_quota(machine.root / "proc"), machine.cores()
    able = min(len(machine.usable), cores or len(machine.usable))
    if quota is not None and quota < able:
        yield (
            f"A container or service may use only {quota} of the {able} cores: give it more (for Docker: --cpus, for "
            "systemd: CPUQuota)."
        )
    if cores is not None and native.threads > cores:
        numbers = ", ".join(map(str, sorted(machine.usable)))
        yield (
            f"{native.threads} threads share {_count(cores, 'core')}, because the processors that Sotto may use "
            f"({numbers}) are parts of the same ones: give it some of other cores (with taskset or --cpuset-cpus)."
        )


def _power(machine: Machine) -> Iterator[str]:
    driver, governor = (machine.text(f"{_GOVERNOR}/{name}") for name in ("scaling_driver", "scaling_governor"))
    preference = machine.text(f"{_GOVERNOR}/energy_performance_preference")
    profile = machine.text("sys/firmware/acpi/platform_profile")
    if on_battery(machine):
        yield "The machine runs on its battery, which makes most processors slower: plug it in."
    if governor == "powersave" and driver not in _DRIVERS_THAT_ADAPT:
        yield (
            "The processor is kept at its lowest clock (governor powersave): sudo cpupower frequency-set -g schedutil."
        )
    elif preference == "power" or profile in ("low-power", "quiet"):
        yield "The system saves power at the cost of speed: choose another mode (powerprofilesctl set balanced)."


def on_battery(machine: Machine) -> bool:
    """Return whether the machine itself is fed by a battery; mice and keyboards with batteries do not count."""
    supplies = list(machine.glob("sys/class/power_supply/*"))
    kinds = {supply: machine.text(f"{supply}/type") for supply in supplies}
    if any(kind != "Battery" and machine.text(f"{supply}/online") == "1" for supply, kind in kinds.items()):
        return False
    return any(
        kind == "Battery"
        and machine.text(f"{supply}/scope") != "Device"
        and machine.text(f"{supply}/status") == "Discharging"
        for supply, kind in kinds.items()
    )


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
