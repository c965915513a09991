"""`sotto run --format` run as a user runs it, in a child process."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from commands import sotto


def run(env: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    return sotto(env, "run", "sotto", "Who are you?", "--temperature", "0", *arguments)


def test_a_schema_in_a_file(env: dict[str, str], tmp_path: Path) -> None:
    name = {"type": "string", "maxLength": 10}
    schema = {"type": "object", "properties": {"name": name}, "required": ["name"], "additionalProperties": False}
    file = tmp_path / "person.json"
    file.write_text(json.dumps(schema))
    done = run(env, "--format", str(file))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout).keys() == {"name"}
    report = json.loads(run(env, "--format", str(file), "--json").stdout)
    assert json.loads(report["text"]).keys() == {"name"}
    assert report["done_reason"] == "stop"


def test_some_object(env: dict[str, str]) -> None:
    done = run(env, "--format", "json", "--num-predict", "20")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("{")
    with pytest.raises(json.JSONDecodeError):
        json.loads(done.stdout)
    warning = "sotto: The answer was cut short at 20 tokens; --num-predict N sets the limit.\n"
    assert done.stderr == warning


def test_an_expression_and_a_grammar(env: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "date.regex").write_text(r"\d{2}:\d{2}" + "\r\n")
    assert re.fullmatch(r"\d{2}:\d{2}\n", run(env, "--format", str(tmp_path / "date.regex")).stdout)
    (tmp_path / "word.lark").write_text('start: "yes" | "no"\n')
    assert run(env, "--format", str(tmp_path / "word.lark")).stdout in ("yes\n", "no\n")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.json", b'{"not": {}}', "a.json cannot be guaranteed: not is not supported here."),
        ("a.json", b"{", "a.json is not JSON: expecting property name enclosed in double quotes at character 1."),
        ("a.regex", b"(", "a.regex cannot be guaranteed: the pattern ( has an unclosed group at character 1."),
        ("a.regex", b"\xff", "a.regex is not UTF-8 text (invalid start byte at 0)."),
        ("a.lark", b"", "a.lark has 0 bytes (0 B); from 1 to 16384 (16.4 kB) are allowed."),
        ("a.json", b" " * (2 << 20), "a.json is 2.1 MB, which is too much for a JSON schema; 1.05 MB is the most."),
        ("a.json", None, "a.json"),
        ("a.yaml", b"a: b", "--format must be json, or a file that ends in .json, .regex, .lark, not "),
    ],
)
def test_unsupported_formats(env: dict[str, str], tmp_path: Path, name: str, content: bytes, said: str) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    done = run(env, "--format", str(tmp_path / name))
    assert done.returncode == 1
    assert done.stdout == ""
    assert said in done.stderr
    assert done.stderr.startswith("sotto: ")
    assert done.stderr.count("\n") == 1


def test_a_stop_text_and_a_format_contradict_each_other(env: dict[str, str]) -> None:
    done = run(env, "--format", "json", "--stop", "x")
    assert done.returncode == 1
    assert done.stderr == ("sotto: --stop and --format cannot be combined; leave one of them out.\n")
