"""Advice for described machines: a folder holds what their `/proc`, `/sys` and `/dev` would say."""

from pathlib import Path

import pytest

from fake_proc import FakeProc
from sotto.engine.advice.graphics_advice import graphics_advice
from sotto.engine.advice.mac_advice import Mac, mac_advice
from sotto.engine.advice.machine import Machine
from sotto.engine.advice.memory_advice import memory_advice
from sotto.engine.advice.model_advice import model_advice
from sotto.engine.advice.processor_advice import processor_advice
from sotto.engine.gguf.kept import KEPT
from sotto.engine.kernels.device import DeviceInfo
from sotto.engine.kernels.native import NativeStatus
from sotto.store.records import Format, ModelRecord, Source

CPU = DeviceInfo("0.32.4", "cpu", "float32", "/lib/libopenblas.so", compile=False)
CUDA = DeviceInfo("0.32.4", "cuda", "", "", compile=True)
NATIVE = NativeStatus("AVX-512", 2, "", "AVX-512")
GIB = 2**30
CPUFREQ = "sys/devices/system/cpu/cpu0/cpufreq"
POWER = "sys/class/power_supply"
CARD = {
    "sys/bus/pci/devices/0000:01:00.0/vendor": "0x10de",
    "sys/bus/pci/devices/0000:01:00.0/class": "0x030200",
    "sys/bus/pci/devices/0000:01:00.0/device": "0x2330",
}
OLD_CARD = CARD | {"sys/bus/pci/devices/0000:01:00.0/device": "0x1b80"}
DRIVER = "NVRM version: NVIDIA UNIX {}Kernel Module {} {}.54.14  Thu Feb 22 01:44:30 UTC 2026\nGCC version: 12\n"


@pytest.fixture
def machine(tmp_path):
    """Return a function that describes a machine by what differs from a fast one with two cores."""

    def make(files=(), flags="sse2 avx2 avx512f", processors=(0, 1), **others):
        described = {
            "proc/cpuinfo": f"processor\t: 0\nflags\t\t: {flags}\n\nprocessor\t: 1\nflags\t\t: {flags}",
            "proc/meminfo": "MemTotal: 16777216 kB\nMemAvailable: 8388608 kB",
            "sys/devices/system/cpu/cpu0/topology/thread_siblings_list": "0,2",
            "sys/devices/system/cpu/cpu1/topology/thread_siblings_list": "1,3",
            "sys/devices/system/cpu/cpu2/topology/thread_siblings_list": "0,2",
            **dict(files),
        }
        for name, text in described.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{text}\n")
        known = {"environment": {}, "architecture": "x86_64", "system": "linux"} | others
        return Machine(tmp_path, usable=frozenset(processors), **known)

    return make


def only(found):
    """Return the only sentence, which ends with a full stop unless a command ends it, or an empty text for none."""
    sentences = list(found)
    assert len(sentences) <= 1, sentences
    return "".join(sentences)


def processor(there, device=CPU, native=NATIVE):
    return only(processor_advice(there, device, native))


class TestProcessor:
    def test_a_fast_machine_needs_nothing(self, machine):
        there = machine({f"{CPUFREQ}/scaling_governor": "performance"})
        assert processor(there) == ""
        assert only(memory_advice(there)) == ""
        assert only(graphics_advice(there, CPU, None)) == ""

    def test_without_a_compiler(self, machine):
        reason = "there was no C++ compiler (g++, clang++, c++) when Sotto was installed"
        found = processor(machine(), native=NativeStatus("", 0, reason))
        assert reason in found
        assert found.endswith("install one (sudo apt-get install g++), then Sotto again.")

    def test_kernels_for_another_version(self, machine):
        reason = "built for MLX 0.32.2, but 0.32.4 is installed: install Sotto again"
        found = processor(machine(), native=NativeStatus("", 0, reason))
        assert found.endswith("built for MLX 0.32.2, but 0.32.4 is installed: install Sotto again.")

    def test_kernels_switched_off_or_limited(self, machine):
        off = NativeStatus("", 0, "switched off by SOTTO_NATIVE=0")
        assert "switched off by SOTTO_NATIVE=0" in processor(machine(), native=off)
        limited = NativeStatus("AVX2", 2, "", "AVX-512 VNNI")
        assert "limited to AVX2" in processor(machine(), native=limited)

    def test_a_machine_that_cannot_have_kernels_is_not_told_to_install_them(self, machine):
        for others in ({"architecture": "riscv64"}, {"system": "darwin"}):
            assert processor(machine(**others), native=NativeStatus("", 0, "there are none for it")) == ""

    def test_the_blas_of_mlx(self, machine):
        slow = DeviceInfo("0.32.4", "cpu", "float32", "", compile=False)
        assert "sudo apt-get install libopenblas0-pthread" in processor(machine(), slow)

    @pytest.mark.parametrize(
        ("flags", "chosen", "found"),
        [
            ("avx2 avx512f", "Haswell", True),
            ("avx2", "Haswell", False),
            ("avx2", "Sandybridge", True),
            ("avx2 avx512f", "SkylakeX", False),
            ("avx2 avx512f", "", False),
        ],
    )
    def test_slow_kernels_of_openblas(self, machine, flags, chosen, found):
        said = processor(machine(flags=flags, environment={"OPENBLAS_CORETYPE": chosen}))
        assert said.startswith(f"OPENBLAS_CORETYPE is set to {chosen}") if found else said == ""

    def test_an_old_processor_and_a_virtual_machine_that_hides_a_new_one(self, machine):
        old = NativeStatus("SSE2", 2, "", "SSE2")
        assert "smaller models" in processor(machine(flags="sse2"), native=old)
        assert "-cpu host" in processor(machine(flags="sse2 hypervisor"), native=old)
        assert processor(machine(flags="asimd", architecture="aarch64"), native=old) == ""

    def test_a_quota_below_the_cores(self, tmp_path, machine):
        proc = FakeProc(tmp_path)
        proc.set_groups("0::/app\n", "cgroup2 cgroup2 rw")
        proc.group("app", cpu__max="100000 100000")
        assert "only 1 of the 2 cores" in processor(machine(), native=NativeStatus("AVX2", 1, "", "AVX2"))
        proc.group("app", cpu__max="200000 100000")
        assert processor(machine()) == ""

    def test_processors_that_are_parts_of_one_core(self, machine):
        found = processor(machine(processors=(0, 2)))
        assert found.startswith("2 threads share 1 core, because the processors that Sotto may use (0, 2)")
        assert processor(machine(processors=(0, 2)), native=NativeStatus("AVX2", 1, "", "AVX2")) == ""

    @pytest.mark.parametrize(
        ("driver", "governor", "preference", "profile", "found"),
        [
            ("acpi-cpufreq", "powersave", "", "", "governor powersave"),
            ("intel_pstate", "powersave", "balance_performance", "", ""),
            ("amd-pstate-epp", "powersave", "power", "", "saves power"),
            ("acpi-cpufreq", "schedutil", "", "low-power", "saves power"),
            ("acpi-cpufreq", "schedutil", "", "balanced", ""),
        ],
    )
    def test_saving_power(self, machine, driver, governor, preference, profile, found):
        files = {
            f"{CPUFREQ}/scaling_driver": driver,
            f"{CPUFREQ}/scaling_governor": governor,
            f"{CPUFREQ}/energy_performance_preference": preference,
            "sys/firmware/acpi/platform_profile": profile,
        }
        said = processor(machine(files))
        assert found in said
        assert bool(found) == bool(said)

    def test_on_battery(self, machine):
        battery = {f"{POWER}/BAT0/type": "Battery", f"{POWER}/BAT0/status": "Discharging"}
        mouse = {
            f"{POWER}/hidpp/type": "Battery",
            f"{POWER}/hidpp/status": "Discharging",
            f"{POWER}/hidpp/scope": "Device",
        }
        assert processor(machine(mouse)) == ""
        assert "plug it in" in processor(machine(mouse | battery))
        assert processor(machine({f"{POWER}/AC/type": "Mains", f"{POWER}/AC/online": "1"})) == ""

    def test_nothing_is_said_where_a_graphics_processor_computes(self, machine):
        off = NativeStatus("", 0, "not needed: CUDA computes")
        assert processor(machine(flags="sse2"), CUDA, off) == ""


class TestGraphics:
    def test_a_card_without_its_driver(self, machine):
        assert "its driver is not loaded" in only(graphics_advice(machine(CARD), CPU, None))
        assert only(graphics_advice(machine(OLD_CARD), CPU, None)) == ""

    @pytest.mark.parametrize(
        ("driver", "installed", "found"),
        [
            (535, None, "its driver has version 535 and MLX needs 550"),
            (550, None, "install 'mlx[cuda12]==0.32.4'"),
            (580, None, "install 'mlx[cuda13]==0.32.4'"),
            (570, "mlx-cuda-13", "its driver has version 570 and MLX needs 580"),
            (570, "mlx-cuda-12", "CUDA does not find it"),
            (590, "mlx-cuda-13", "CUDA does not find it"),
        ],
    )
    @pytest.mark.parametrize(("kind", "architecture"), [("x86_64 ", ""), ("Open ", "for x86_64 ")])
    def test_a_card_that_does_not_compute(self, machine, driver, installed, found, kind, architecture):
        text = DRIVER.format(kind, architecture, driver)
        there = machine(CARD | {"proc/driver/nvidia/version": text})
        assert found in only(graphics_advice(there, CPU, installed))

    def test_a_card_that_windows_lends(self, machine):
        there = machine({"usr/lib/wsl/lib/libcuda.so.1": ""})
        assert "mlx[cuda13]" in only(graphics_advice(there, CPU, None))

    def test_a_card_that_is_switched_off(self, machine):
        there = machine(CARD, environment={"SOTTO_DEVICE": "cpu"})
        assert "because SOTTO_DEVICE is cpu: unset it." in only(graphics_advice(there, CPU, "mlx-cuda-13"))

    def test_a_card_that_computes(self, machine):
        assert only(graphics_advice(machine(CARD), CUDA, "mlx-cuda-13")) == ""


class TestMemory:
    def test_nearly_full(self, machine):
        there = machine({"proc/meminfo": "MemTotal: 16777216 kB\nMemAvailable: 1048576 kB"})
        assert "only 1.1 GB of 17.2 GB are free" in only(memory_advice(there))

    @pytest.mark.parametrize(("name", "found"), [("/dev/sda2", True), ("/swap.img", True), ("/dev/zram0", False)])
    def test_swapped_to_a_disk(self, machine, name, found):
        header = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"
        there = machine({"proc/swaps": f"{header}{name} partition 8388608 2097152 -2"})
        assert ("2.1 GB of what programs hold is swapped" in only(memory_advice(there))) == found

    def test_one_channel(self, machine):
        module = "sys/devices/system/edac/mc/mc0/dimm{}/{}"
        files = {module.format(0, "dimm_location"): "channel 0 slot 0", module.format(0, "size"): "16384"}
        empty = {module.format(1, "dimm_location"): "channel 1 slot 0", module.format(1, "size"): "0"}
        assert "one channel" in only(memory_advice(machine(files | empty)))
        assert only(memory_advice(machine(files | empty | {module.format(1, "size"): "16384"}))) == ""


class TestModels:
    def record(self, path, quantization="Q4_K_M", **others):
        known = {"format": Format.GGUF, "source": Source.FOLDER} | others
        return ModelRecord(
            "jane", "0" * 64, 1, known["format"], "llama", 1, quantization, 1, known["source"], path, True
        )

    def said(self, there, *records, kept=()):
        return only(model_advice(there, records, on_cpu=True, kept=kept))

    @pytest.mark.parametrize(
        ("kind", "found"),
        [
            *((kind, True) for kind in ("Q3_K_S", "Q5_K_M", "IQ2_XXS", "IQ4_XS")),
            *((kind, False) for kind in ("Q4_K_M", "Q4_0", "Q8_0", "F16", "MXFP4", "", "unheard of")),
        ],
    )
    def test_types_that_are_held_in_more_bits(self, machine, tmp_path, kind, found):
        assert (f"Models in {kind} are held in more bits" in self.said(machine(), self.record(tmp_path, kind))) == found
        packed = self.record(tmp_path, kind, format=Format.SAFETENSORS)
        assert self.said(machine(), packed) == ""

    @pytest.mark.parametrize(
        ("kind", "found"),
        [
            *((kind, True) for kind in ("int5", "int6", "6-bit g64", "5-bit g32")),
            *((kind, False) for kind in ("int3", "int4", "3-bit g64", "gptq 5-bit", "mxfp4", "")),
        ],
    )
    def test_types_of_mlx_that_are_held_in_more_bits(self, machine, tmp_path, kind, found):
        record = self.record(tmp_path, kind, format=Format.SAFETENSORS)
        assert (f"Models in {kind} are held in more bits" in self.said(machine(), record)) == found
        assert only(model_advice(machine(), [record], on_cpu=False)) == ""

    @pytest.mark.parametrize("kind", ["Q3_K_S", "Q5_K_M", "Q6_K", "IQ4_XS", "IQ4_NL"])
    def test_types_that_keep_their_bits(self, machine, tmp_path, kind):
        assert self.said(machine(), self.record(tmp_path, kind), kept=KEPT) == ""

    def mount(self, path, kind, source):
        number = path.stat().st_dev
        place = f"{number >> 8 & 0xFFF}:{number & 0xFF}"
        return place, {"proc/self/mountinfo": f"31 23 {place} / /mnt rw,relatime shared:9 - {kind} {source} rw"}

    def test_a_network(self, machine, tmp_path):
        _, files = self.mount(tmp_path, "nfs4", "server:/models")
        said = self.said(machine(files), self.record(tmp_path), self.record(tmp_path / "removed"))
        assert (
            said == "Some models lie on another machine (nfs4), so they load slowly: copy them to a disk of this one."
        )

    def test_a_spinning_disk(self, machine, tmp_path):
        place, files = self.mount(tmp_path, "ext4", "/dev/sda1")
        spins = files | {f"sys/dev/block/{place}/queue/rotational": "1"}
        assert "spinning disk" in self.said(machine(spins), self.record(tmp_path))
        assert self.said(machine(spins, flags="avx2 hypervisor"), self.record(tmp_path)) == ""
        assert self.said(machine(spins | {f"sys/dev/block/{place}/queue/rotational": "0"}), self.record(tmp_path)) == ""

    def test_a_part_of_a_spinning_disk_whose_file_system_has_a_number_of_its_own(self, machine, tmp_path):
        _, files = self.mount(tmp_path, "btrfs", "/dev/sda1")
        there = machine(files | {"sys/devices/sda/queue/rotational": "1", "sys/devices/sda/sda1/partition": "1"})
        (tmp_path / "sys/class/block").mkdir(parents=True)
        (tmp_path / "sys/class/block/sda1").symlink_to(tmp_path / "sys/devices/sda/sda1")
        assert "spinning disk" in self.said(there, self.record(tmp_path))

    def test_names_of_people_are_not_told(self, machine, tmp_path):
        _, files = self.mount(tmp_path, "cifs", "//server/jane")
        assert "jane" not in self.said(machine(files), self.record(Path(tmp_path)))


class TestMac:
    QUIET = Mac(64 * GIB, 48 * GIB, saves_power=False, on_battery=False, translated=False)

    def test_a_fast_mac_needs_nothing(self):
        assert only(mac_advice(self.QUIET, [40 * GIB, 90 * GIB])) == ""

    @pytest.mark.parametrize(
        ("others", "found"),
        [
            ({"saves_power": True, "on_battery": True}, "low power mode"),
            ({"on_battery": True}, "battery"),
            ({"translated": True, "working_set": 0}, "arm64"),
        ],
    )
    def test_what_a_mac_may_suffer_from(self, others, found):
        fields = {name: getattr(self.QUIET, name) for name in Mac.__slots__}
        assert found in only(mac_advice(Mac(**fields | others), []))

    def test_a_model_that_memory_has_room_for_but_metal_may_not_hold(self):
        said = only(mac_advice(self.QUIET, [20 * GIB, 50 * GIB, 90 * GIB]))
        assert "takes 53.7 GB: sudo sysctl iogpu.wired_limit_mb=61440" in said
