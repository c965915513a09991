"""`sotto embed` run as a user runs it."""

import json

import numpy as np
import pytest
from safetensors.numpy import load_file

from commands import sotto
from embedding import minilm
from gguf_encoders import write_encoder
from material import material
from places import EMBEDDINGS
from sotto.cli.main import main

TEXTS = json.loads((EMBEDDINGS / "texts.json").read_text(encoding="utf-8"))


def vectors(done):
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_vectors_of_arguments_and_files_are_printed_one_per_line(env, tmp_path):
    file = tmp_path / "texts"
    file.write_text(f"{TEXTS[2]}\n\n{TEXTS[3]}\n", encoding="utf-8")
    rows = vectors(sotto(env, "embed", str(minilm()), TEXTS[0], "--file", str(file)))
    assert [row["text"] for row in rows] == [TEXTS[0], TEXTS[2], TEXTS[3]]
    wanted = load_file(EMBEDDINGS / "minilm.safetensors")["vectors"][[0, 2, 3]]
    assert np.abs(np.array([row["embedding"] for row in rows]) - wanted).max() < 1e-4


def test_texts_from_a_pipe_can_exceed_one_batch(env, tmp_path):
    lines = [f"line {index}" for index in range(70)]
    rows = vectors(sotto(env, "embed", "sotto", "--dimensions", "3", stdin="\n".join(lines)))
    assert [row["text"] for row in rows] == lines
    assert all(np.linalg.norm(row["embedding"]) == pytest.approx(1, abs=1e-5) for row in rows)


def test_there_are_no_notes_about_prompts_without_prompts(env, tmp_path):
    folder = material("stories260k")
    done = sotto(env, "embed", str(folder), "Once upon a time")
    assert len(vectors(done)[0]["embedding"]) == 64
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["a", "--dimensions", "0"], "dimensions is 0"),
        (["word " * 300, "--no-truncate"], "exceeds the context length"),
        (["--file", "/nothing/here"], "cannot be read"),
        ([], "There is no text"),
    ],
)
def test_errors_are_one_line(env, tmp_path, arguments, words):
    done = sotto(env, "embed", str(minilm()), *arguments)
    assert (done.returncode, done.stdout) == (1, "")
    assert words in done.stderr
    assert done.stderr.count("\n") == 1


def test_an_encoder_is_listed_as_such_and_does_not_chat(env, tmp_path):
    assert "embedding" in sotto(env, "show", str(minilm())).stdout
    done = sotto(env, "run", str(minilm()), "Hi")
    assert done.returncode == 1
    assert "makes embeddings only" in done.stderr


def test_a_gguf_encoder_is_planned_makes_vectors_and_does_not_chat(env, tmp_path):
    path = str(write_encoder(tmp_path / "nomic.gguf", EMBEDDINGS / "nomic-bert"))
    shown = sotto(env, "show", path)
    assert "nomic-bert" in shown.stdout
    assert "embedding" in shown.stdout
    assert "It fits: with 24 tokens" in sotto(env, "plan", path).stdout
    (row,) = vectors(sotto(env, "embed", path, "a b"))
    assert np.linalg.norm(row["embedding"]) == pytest.approx(1, abs=1e-5)
    done = sotto(env, "run", path, "Hi")
    assert done.returncode == 1
    assert "makes embeddings only" in done.stderr


def test_an_internal_error_is_reported_with_details_for_a_bug_report(monkeypatch, capsys):
    def fail():
        raise ValueError("odd")

    monkeypatch.setattr("sotto.cli.embed.read_settings", fail)
    assert main(["embed", "sotto", "a"]) == 1
    *details, last = capsys.readouterr().err.splitlines()
    assert details[0].startswith("Traceback")
    assert details[-1] == "ValueError: odd"
    assert last == "sotto: An internal error occurred (ValueError: odd)."
