"""`sotto search`: what is printed, what is sent, and what is said when nobody answers."""

import json

import pytest

from hub_search import gguf_model, mlx_model, serving
from sotto.cli.main import main
from sotto.store.finding.suggestions import suggestions


@pytest.fixture
def hub(monkeypatch):
    odd = mlx_model("someone/Qwen3-odd", config={"model_type": "strange"}, tags=["mlx", "license:\x1b[31m\nred"])
    with serving(gguf_model(downloads=900), mlx_model(downloads=50), odd) as made:
        monkeypatch.setenv("HF_ENDPOINT", made.address)
        yield made


def test_without_words_the_suggestions_are_printed_and_nothing_is_sent(hub, capsys):
    assert main(["search"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(suggestions())
    assert any(line.startswith(("qwen3:0.6b ", "hf.co/mlx-community/Qwen3-0.6B-")) for line in lines)
    assert hub.requests == []


def test_words_are_searched_for_on_hugging_face(hub, capsys):
    assert main(["search", "qwen3", "4b"]) == 0
    out = capsys.readouterr().out
    assert "hf.co/unsloth/Qwen3-4B-GGUF:Q4_K_M" in out
    assert "hf.co/mlx-community/Qwen3-4B-4bit" in out
    assert hub.searches() == ["qwen3 4b"] * 2


def test_json_has_everything(hub, capsys):
    assert main(["search", "qwen3", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    own = next(row for row in rows if row["title"] == "Qwen3 4B")
    assert (own["source"], own["licence"], own["parameters"]) == ("sotto", "Apache-2.0", 4_022_468_096)
    assert own["name"] in [version["name"] for version in own["versions"]]
    assert {version["fits"] for version in own["versions"]} <= {"fits", "tight", "will not fit"}
    gguf = next(row for row in rows if row["title"] == "Qwen3-4B-GGUF")
    assert (gguf["downloads"], gguf["refusal"]) == (900, "")
    assert [version["bits"] for version in gguf["versions"]] == ["UD-Q2_K_XL", "Q4_K_M", "Q8_0", "BF16"]


def test_what_cannot_run_says_so_and_no_control_character_is_printed(hub, capsys):
    assert main(["search", "odd"]) == 0
    out = capsys.readouterr().out
    assert "cannot run here" in out
    assert "\x1b" not in out
    assert len(out.splitlines()) == 1


def test_nothing_found_is_said(hub, capsys):
    assert main(["search", "no such thing"]) == 0
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == "sotto: nothing called 'no such thing' was found.\n"


def test_a_failure_comes_after_what_sotto_suggests(hub, capsys):
    hub.answers = [lambda handler: handler.reply(503, b"")] * 2
    assert main(["search", "qwen3"]) == 1
    said = capsys.readouterr()
    assert "qwen3:" in said.out
    assert said.err.startswith("sotto: 127.0.0.1 is busy or failing (status 503).")
