"""`sotto pull` with names of Hugging Face, as a user runs it."""

import json

import pytest

from builtin_repository import builtin_files
from commands import environment, sotto
from hub_server import hub_serving
from stores import gguf, gguf_text

NAME = "mlx-community/sotto-8bit"


@pytest.fixture
def hub():
    with hub_serving() as (hub, _):
        yield hub


@pytest.fixture
def env(hub, tmp_path):
    return environment(tmp_path / "home") | {"HF_ENDPOINT": hub.endpoint}


def test_a_model_is_downloaded_by_its_name_and_answers(env, hub):
    hub.add(NAME, builtin_files(), card={"license": "mit"})
    done = sotto(env, "pull", NAME, "--insecure")
    assert (done.returncode, done.stdout) == (0, f"hf.co/{NAME}:latest downloaded, 4.6 MB.\n"), done.stderr
    assert "The licence is mit." in done.stderr.splitlines()
    (row,) = (row for row in json.loads(sotto(env, "list", "--json").stdout) if row["source"] == "sotto")
    assert (row["name"], row["runnable"], row["quantization"]) == (f"hf.co/{NAME}:latest", True, "int8")
    assert "all digests match" in sotto(env, "verify", NAME).stdout
    assert "int8" in sotto(env, "show", NAME).stdout
    answer = sotto(env, "run", NAME, "Who are you?")
    assert answer.returncode == 0
    assert "Sotto" in answer.stdout
    again = sotto(env, "pull", f"https://huggingface.co/{NAME}", "--insecure")
    assert again.stdout == f"hf.co/{NAME}:latest is up to date, 4.6 MB.\n"


def test_the_answer_says_which_quantizations_there_were(env, hub):
    content = gguf([("general.architecture", 8, gguf_text("llama"))])
    hub.add("Org/Tiny-GGUF", {f"Tiny-{label}.gguf": content + bytes(size) for label, size in SIZES.items()})
    done = sotto(env, "pull", "Org/Tiny-GGUF", "--insecure")
    assert done.returncode == 0
    assert (
        "Q8_0 was chosen of Q2_K, Q4_K_M, Q8_0 and F16, as the best that fits this machine." in done.stderr.splitlines()
    )
    refused = sotto(env, "pull", "Org/Tiny-GGUF:Q3_K", "--insecure")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr.splitlines()[-1].endswith("has no Q3_K; it has Q2_K, Q4_K_M, Q8_0 and F16.")


SIZES = {"Q2_K": 100, "Q4_K_M": 200, "Q8_0": 300, "F16": 600}


def test_a_name_that_the_registry_does_not_know(env, hub):
    refused = sotto(env, "pull", "hf.co/nobody", "--insecure")
    assert refused.returncode == 1
    assert refused.stderr == "sotto: 'hf.co/nobody' is not a name of Hugging Face's; it should be hf.co/ORG/NAME.\n"
    assert hub.requests == []
