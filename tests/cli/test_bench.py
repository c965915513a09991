"""`sotto bench` run as a user runs it, and the computation of its figures."""

import json
import re
import signal
import subprocess
from pathlib import Path

import pytest

from commands import SOTTO, sotto
from sotto.cli.measuring.bench_runs import Timed, combined_rate
from sotto.engine.contract.events import DoneReason, Finished
from tiny_random import write_model


def leftovers(env: dict[str, str]) -> list[Path]:
    return list(Path(env["HOME"]).rglob("bench-*"))


def test_measurements_as_json(env: dict[str, str]) -> None:
    done = sotto(env, "bench", "sotto", "--quick", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    for name in ("prefill_tokens_per_second", "decode_tokens_per_second", "planned_bytes", "load_seconds"):
        assert report[name] > 0
    assert report["draft"] == ""
    assert report["peak_bytes"] > report["weight_bytes"] > 0
    assert 0.7 < report["planned_bytes"] / report["peak_bytes"] < 1.4
    assert report["prompt_tokens"] == pytest.approx(128, abs=8)
    first = report["first_token"]
    for place in ("memory", "disk"):
        assert first["tokens"] - 2 <= first[f"{place}_tokens"] <= first["tokens"] + 8
        assert first[f"{place}_seconds"] > 0
    assert report["streams"]["count"] == 4
    assert report["streams"]["tokens_per_second"] > 0
    drafts = report["speculation"]
    assert 0 <= drafts["accepted_tokens"] <= drafts["drafted_tokens"]
    assert "4 answers at once" in done.stderr
    assert leftovers(env) == []


def test_measurements_as_a_readable_page(env: dict[str, str], tmp_path: Path) -> None:
    folder = write_model(tmp_path / "model", "window", max_position_embeddings=96)
    done = sotto(env, "bench", "--quick", str(folder))
    assert done.returncode == 0, done.stderr
    for label in ("weights", "memory", "reading", "writing", "first token", "4 answers", "repetition"):
        assert re.search(f"^  {label} ", done.stdout, re.MULTILINE)
    assert re.search(r"\d+ cached on disk, after a restart, [\d.]+ times as fast", done.stdout)


def test_interrupt_ends_with_130_and_leaves_nothing(env: dict[str, str], tmp_path: Path) -> None:
    folder = write_model(tmp_path / "slow", "recurrent")
    with subprocess.Popen(
        [*SOTTO, "bench", str(folder)], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as child:
        assert child.stderr is not None
        assert child.stdout is not None
        while b"uncached and cached" not in child.stderr.readline():
            assert child.poll() is None
        child.send_signal(signal.SIGINT)
        out, complaints = child.communicate(timeout=60)
    assert child.returncode == 130, complaints
    assert out == b""
    assert b"Traceback" not in complaints
    assert leftovers(env) == []


def test_a_cache_folder_that_is_a_file_is_reported(env: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / ".cache").write_text("")
    (tmp_path / "Library").mkdir()
    (tmp_path / "Library" / "Caches").write_text("")
    done = sotto(env, "bench", "sotto", "--quick")
    assert done.returncode == 1
    assert done.stdout == ""
    assert re.fullmatch(r"sotto: \S+ cannot be written: .+\.\n", done.stderr)


def timings(read: tuple[tuple[float, int], ...], written: tuple[float, ...], cached: int = 0) -> Timed:
    prompt = read[-1][1] + 1
    done = Finished("0", "", (5,) * len(written), DoneReason.LENGTH, prompt, cached, 1, 1, 1)
    return Timed(read, written, done)


def test_rates_count_only_computed_tokens() -> None:
    timed = timings(((0.0, 100), (0.5, 164), (2.0, 300)), (2.5, 3.0, 3.0, 4.5), cached=100)
    assert timed.reading == pytest.approx((300 - 100) / 2)
    assert timed.writing == pytest.approx(3 / 2)
    assert timed.chunk == 136


def test_concurrent_answers_count_once_all_have_begun() -> None:
    first = timings(((0.0, 4),), (1.0, 2.0, 3.0, 4.0))
    second = timings(((0.0, 4),), (2.0, 3.0, 4.0, 6.0))
    assert combined_rate([first]) == pytest.approx(1)
    assert combined_rate([first, second]) == pytest.approx((2 + 3) / 4)
