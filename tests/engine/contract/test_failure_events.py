import pytest

from sotto.engine.contract.events import Failed
from sotto.engine.contract.failure_events import OUT_OF_MEMORY, failure_of
from sotto.errors import EngineError


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        EngineError(OUT_OF_MEMORY),
        RuntimeError("[malloc_or_wait] Unable to allocate 5 bytes."),
        RuntimeError(
            "[METAL] Command buffer execution failed: Insufficient Memory "
            "(00000008:kIOGPUCommandBufferCallbackErrorOutOfMemory)"
        ),
        RuntimeError("cudaGraphLaunch(graph, stream) failed: out of memory"),
        RuntimeError("cudaMallocAsync(&data, size, stream) failed: out of memory."),
    ],
    ids=["python", "engine", "cpu", "metal", "cuda", "cuda's allocation"],
)
def test_a_lack_of_memory_is_no_bug(error):
    assert failure_of("r", error) == Failed("r", OUT_OF_MEMORY)


@pytest.mark.parametrize("error", [RuntimeError("[rms_norm] no such kernel"), ValueError("allocate")])
def test_what_is_not_known_is_a_bug(error):
    found = failure_of("r", error)
    assert found.bug
    assert str(error) in found.message
