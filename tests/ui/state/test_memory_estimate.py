"""Whether a model fits: exact sums, bands, and an unknown fit where values are missing."""

import math
from dataclasses import replace

import pytest

from planned import GB, NEEDS, machine_with, measured
from sotto.engine.contract.engine_settings import change_settings
from sotto.engine.memory.memory_figures import MemoryFigures
from sotto.engine.memory.memory_needs import CacheKind, CacheNeed
from sotto.ui.state.memory_estimate import (
    Fit,
    MachineMemory,
    MemorySample,
    Pressure,
    context_steps,
    machine_memory,
    pressure,
    project,
    sample_memory,
)


@pytest.mark.parametrize(
    ("context", "total", "available", "fit", "asks"),
    [
        (10_000, 16, 12, Fit.FITS, False),  # 4 GB in use and 5 GB needed: 56 %
        (40_000, 16, 12, Fit.TIGHT, False),  # 4 GB and 8 GB: 75 %
        (40_000, 16, 10, Fit.TIGHT, True),  # 6 GB and 8 GB: 87 %
        (40_000, 16, 7, Fit.NO, True),
        (10_000, 16, 4, Fit.NO, True),
        (40_000, 64, 60, Fit.FITS, False),
    ],
)
def test_bands(context, total, available, fit, asks):
    found = project(measured(), machine_with(total, available), context)
    assert (found.fit, found.needs_confirmation) == (fit, asks)
    assert found.plan.weights == NEEDS.weight_bytes
    assert found.plan.cache == 100_000 * context


@pytest.mark.parametrize(
    ("known", "memory"),
    [
        (None, machine_with(16, 12)),
        (measured(None, reason="config.json is missing."), machine_with(16, 12)),
        (measured(replace(NEEDS, weight_bytes=0)), machine_with(16, 12)),
        (measured(replace(NEEDS, weight_bytes=-5)), machine_with(16, 12)),
        (measured(replace(NEEDS, layers=None, unknown="its caches are of no known kind.")), machine_with(16, 12)),
        (measured(), MachineMemory()),
        (measured(), machine_with(0, 0)),
        (measured(), machine_with(16, -1)),
        (measured(), MachineMemory(MemorySample(math.nan, math.nan))),
    ],
)
def test_missing_values_make_the_fit_unknown(known, memory):
    found = project(known, memory, 10_000)
    assert (found.fit, found.needs_confirmation) == (Fit.UNKNOWN, False)
    assert found.reason
    assert "nan" not in found.reason.lower()


def test_choosing_another_context_changes_only_its_caches():
    short, long = (project(measured(), machine_with(64, 60), tokens).plan for tokens in (4096, 8192))
    assert (short.weights, short.loading) == (long.weights, long.loading)
    assert long.cache == 2 * short.cache


def test_the_default_context_is_as_long_as_fits_well():
    assert project(measured(), machine_with(64, 60)).plan.context == 40_000
    found = project(measured(), machine_with(16, 12))
    assert (found.fit, found.plan.context) == (Fit.FITS, 32_768)
    assert project(measured(usual_context=2048), machine_with(16, 12)).plan.context == 2048
    found = project(measured(), machine_with(8, 5))
    assert (found.fit, found.plan.context) == (Fit.TIGHT, 8192)
    assert project(measured(), machine_with(8, 3)).plan.context == 4096


def test_a_small_model_fits_however_full_memory_is():
    small = measured(replace(NEEDS, weight_bytes=1000, layers=(CacheNeed(CacheKind.FULL, 1),)))
    assert project(small, machine_with(16, 1)).fit is Fit.FITS


def test_memory_of_the_loaded_model_counts_as_available():
    figures = MemoryFigures(5 * GB, 2 * GB, 6 * GB, 2 * GB, 8 * GB)
    memory = machine_memory(MemorySample(16 * GB, 4 * GB), figures)
    assert (memory.held, memory.others) == (8 * GB, 4 * GB)
    assert project(measured(), memory, 10_000).fit is Fit.FITS


@pytest.mark.parametrize(("device", "budget"), [("metal", 10), ("cuda", 10), ("cpu", 12)])
def test_the_budget_of_a_gpu_is_limited_by_its_memory(device, budget):
    total = 0 if device == "cpu" else 10 * GB
    assert machine_with(16, 12).limits(measured(device=device, device_total=total)).budget == budget * GB


def test_the_plan_respects_the_limit_in_the_settings():
    memory = machine_with(16, 12)
    allowed = MachineMemory(replace(memory.sample, allowed=3 * GB), memory.held)
    limits = allowed.limits(measured())
    assert (limits.budget, limits.source) == (3 * GB, "the limit in Settings")
    assert project(measured(), memory, 10_000).fit is Fit.FITS
    found = project(measured(), allowed, 10_000)
    assert (found.fit, found.needs_confirmation) == (Fit.NO, True)
    assert "the limit in Settings" in found.plan.sentence


def test_the_sample_includes_the_chosen_limit():
    assert sample_memory().allowed is None
    change_settings({"memory_limit": 2 * 10**9})
    assert sample_memory().allowed == 2 * 10**9


def test_context_lengths_to_choose_from():
    assert context_steps(NEEDS)[:5] == (1024, 1536, 2048, 3072, 4096)
    assert context_steps(NEEDS)[-2:] == (32_768, 40_000)
    assert context_steps(replace(NEEDS, longest_context=512)) == (512,)


@pytest.mark.parametrize(
    ("available", "shortage", "found"),
    [(50, 0, Pressure.NONE), (20, 0, Pressure.TIGHT), (15, 0, Pressure.FULL), (50, 2, Pressure.CRITICAL)],
)
def test_pressure(available, shortage, found):
    assert pressure(MemorySample(100, available, shortage=shortage)) is found
