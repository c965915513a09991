"""The `sotto` command run as a user runs it, in a child process with an empty home folder."""

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from commands import SOTTO, sotto
from material import material
from thinking_models import HERMES, write_family
from thoroughness import some
from tiny_random import write_model

pytestmark = pytest.mark.slow

FIELDS = {
    "name", "digest", "size", "format", "architecture", "parameters", "quantization", "context_length", "source",
    "path", "runnable", "reason", "builtin",
}  # fmt: skip


def test_list_shows_the_built_in_model(env: dict[str, str]) -> None:
    done = sotto(env, "list", "--json")
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)
    assert [row["name"] for row in rows] == ["sotto:latest"]
    assert set(rows[0]) >= FIELDS
    assert rows[0]["builtin"] is True
    assert rows[0]["runnable"] is True
    assert re.fullmatch("[0-9a-f]{64}", rows[0]["digest"])
    assert "sotto:latest" in sotto(env, "list").stdout


def test_list_reads_the_configured_store(env: dict[str, str]) -> None:
    store = material("ollama-store")
    rows = json.loads(sotto(env | {"OLLAMA_MODELS": str(store)}, "list", "--json").stdout)
    by_name = {row["name"]: row for row in rows}
    assert by_name["stories260k-mlx:int4"]["quantization"] == "int4"
    assert by_name["stories260k-mlx:int4"]["source"] == "ollama"
    gguf = by_name["stories260k:latest"]
    assert (gguf["format"], gguf["runnable"]) == ("gguf", True)


def test_list_includes_folders_added_in_the_app(env: dict[str, str], tmp_path: Path) -> None:
    write_model(tmp_path / "mine" / "tiny", "plain")
    where = "import sotto.paths; print(sotto.paths.preferences_file())"
    found = subprocess.run([sys.executable, "-c", where], env=env, capture_output=True, text=True, check=True)
    file = Path(found.stdout.strip())
    file.parent.mkdir(parents=True)
    for content, names in (
        (json.dumps({"folders": [str(tmp_path / "mine"), 3]}), {"sotto:latest", "tiny"}),
        ('{"folders": "x"}', {"sotto:latest"}),
        ("{", {"sotto:latest"}),
    ):
        file.write_text(content)
        done = sotto(env, "list", "--json")
        assert {row["name"] for row in json.loads(done.stdout)} == names
        assert done.returncode == 0


def test_a_missing_store_is_reported_and_the_rest_is_listed(env: dict[str, str], tmp_path: Path) -> None:
    done = sotto(env | {"OLLAMA_MODELS": str(tmp_path / "gone")}, "list", "--json")
    assert done.returncode == 0
    assert "gone" in done.stderr
    assert [row["builtin"] for row in json.loads(done.stdout)] == [True]


@pytest.mark.parametrize("as_json", [False, True])
def test_show(env: dict[str, str], as_json: bool) -> None:
    done = sotto(env, "show", "sotto", *(["--json"] if as_json else []))
    assert done.returncode == 0, done.stderr
    if as_json:
        assert json.loads(done.stdout)["architecture"] == "llama"
    else:
        assert "llama" in done.stdout


def test_run_prints_only_the_answer_to_stdout(env: dict[str, str]) -> None:
    done = sotto(env, "run", "sotto", "who are you?")
    assert done.returncode == 0, done.stderr
    assert "Sotto" in done.stdout
    assert done.stderr == ""
    assert done.stdout.endswith("\n")
    assert not done.stdout.endswith("\n\n")


def test_the_prompt_may_come_through_a_pipe(env: dict[str, str]) -> None:
    assert "Sotto" in sotto(env, "run", "sotto", stdin="who are you?\n").stdout


def test_the_users_template_makes_the_prompt(env: dict[str, str], tmp_path: Path) -> None:
    file = tmp_path / "template"
    counted = []
    for text in ("{{ range .Messages }}{{ .Content }}{{ end }}", "{% for m in messages %}{{ m.content }} {% endfor %}"):
        file.write_text(text)
        arguments = ("who are you?", "--template", str(file), "--json", "--num-predict", "2")
        done = sotto(env, "run", "sotto", *arguments)
        assert done.stderr == "sotto: Its prompts are made by the template that you gave it.\n"
        counted.append(json.loads(done.stdout)["prompt_eval_count"])
    default = json.loads(sotto(env, "run", "sotto", "who are you?", "--json", "--num-predict", "2").stdout)
    assert max(counted) < default["prompt_eval_count"]
    file.write_text("a\n{{ .Messages ")
    done = sotto(env, "run", "sotto", "hi", "--template", str(file))
    assert done.returncode == 1
    assert done.stderr == "sotto: The template you gave cannot be read: line 2: an action has no }}.\n"
    file.write_text("You are a poet.")
    done = sotto(env, "run", "sotto", "hi", "--template", str(file))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("sotto: The template you gave makes the same prompt whatever is asked")


def test_a_model_template_that_ignores_the_question_gives_a_warning(env: dict[str, str], tmp_path: Path) -> None:
    model = write_model(tmp_path / "poet", "plain", "You are a poet.")
    done = sotto(env, "run", str(model), "hi", "--num-predict", "1")
    assert done.returncode == 0
    assert done.stderr.startswith(
        "sotto: The model's chat template makes the same prompt whatever is asked, so that no question reaches the "
        "model; give it another template.\n"
    )


def test_run_json_prints_one_object(env: dict[str, str]) -> None:
    done = sotto(env, "run", "sotto", "hello", "--json", "--temperature", "0", "--num-predict", "3")
    report = json.loads(done.stdout)
    assert report["done_reason"] in ("stop", "length")
    assert report["eval_count"] == len(report["token_ids"]) <= 3
    assert report["prompt_eval_count"] > 0
    for name in ("load_duration", "prompt_eval_duration", "eval_duration", "total_duration"):
        assert isinstance(report[name], int)
        assert report[name] > 0


@pytest.mark.parametrize("model", ["folder", "manifest", "name"])
def test_raw_greedy_gives_the_reference_text(env: dict[str, str], model: str) -> None:
    folder = material("stories260k")
    store = material("ollama-store")
    target = {
        "folder": str(folder),
        "manifest": str(store / "manifests/registry.ollama.ai/library/stories260k-mlx/latest"),
        "name": "stories260k-mlx",
    }[model]
    for case in json.loads((folder / "expected.json").read_text()):
        done = sotto(
            env | {"OLLAMA_MODELS": str(store)},
            "run", target, case["prompt"], "--raw", "--temperature", "0", "--num-predict", str(case["steps"]), "--json",
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        text = case["prompt"] + json.loads(done.stdout)["text"]
        assert text.startswith(case["text"]) or case["text"].startswith(text)
        assert abs(len(text) - len(case["text"])) < 30


def test_overflow_chooses_what_happens_when_the_context_is_full(env: dict[str, str]) -> None:
    question = "Who are you? " * 40
    line = ("run", "sotto", question, "--num-ctx", "96", "--num-predict", "4")
    refused = sotto(env, *line)
    assert refused.returncode == 1
    assert re.search(r"input length \(\d+ tokens\) exceeds the context length asked for", refused.stderr)
    done = sotto(env, *line, "--overflow", "truncate", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["prompt_eval_count"] <= 92
    assert sotto(env, *line, "--overflow", "ignore").returncode == 2


def test_the_same_seed_gives_the_same_answer(env: dict[str, str]) -> None:
    line = ("run", "sotto", "tell me a story", "--temperature", "1.5", "--num-predict", "24", "--seed")
    assert sotto(env, *line, "7").stdout == sotto(env, *line, "7").stdout
    assert len({sotto(env, *line, str(seed)).stdout for seed in (1, 2, 3)}) > 1


def test_any_option_can_be_set_and_a_repetitive_answer_is_ended(env: dict[str, str]) -> None:
    # Only one token can be sampled.
    loop = ("run", "sotto", "hi", "--temperature", "0", "--option", 'logit_bias={"70": 100}', "--num-predict")
    done = sotto(env, *loop, "3000", "--json")
    report = json.loads(done.stdout)
    assert report["done_reason"] == "loop"
    assert len(set(report["token_ids"])) == 1
    assert "kept repeating itself" in done.stderr
    done = sotto(env, *loop, "2200", "--option", "loop_guard=false", "--json")
    disabled = json.loads(done.stdout)
    assert (disabled["done_reason"], disabled["eval_count"]) == ("length", 2200)
    # Reaching the requested number of tokens is not reported.
    assert done.stderr == ""


def test_an_answer_truncated_without_request_is_reported(env: dict[str, str]) -> None:
    endless = ("run", "sotto", "hi", "--temperature", "0", "--option", 'logit_bias={"70": 100}')
    limited = "sotto: The answer was cut short at 256 tokens; --num-predict N sets the limit.\n"
    assert sotto(env, *endless).stderr == limited
    full = "sotto: The answer was cut short because the context is full; --num-ctx N sets its length.\n"
    assert sotto(env, *endless, "--num-ctx", "40").stderr == full


def test_logprobs_are_in_the_json(env: dict[str, str]) -> None:
    line = ("run", "sotto", "hi", "--temperature", "0", "--num-predict", "4", "--json")
    report = json.loads(sotto(env, *line, "--logprobs", "2").stdout)
    assert [entry["token_id"] for entry in report["logprobs"]] == report["token_ids"]
    assert b"".join(bytes(entry["bytes"]) for entry in report["logprobs"]).decode() == report["text"]
    for entry in report["logprobs"]:
        assert entry["top_logprobs"][0]["token_id"] == entry["token_id"]
        assert len(entry["top_logprobs"]) == 2
    assert "logprobs" not in json.loads(sotto(env, *line).stdout)


def test_stop_ends_the_answer_before_the_text(env: dict[str, str]) -> None:
    whole = sotto(env, "run", "sotto", "who are you?", "--temperature", "0").stdout
    word = whole.split()[3]
    cut = sotto(env, "run", "sotto", "who are you?", "--temperature", "0", "--stop", word).stdout
    assert cut.rstrip() == whole[: whole.index(word)].rstrip()


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (("run", "no-such-model", "hi"), 1, ("no-such-model",)),
        (("run", "../../etc/passwd", "hi"), 1, ("passwd",)),
        (("show", "bad name!"), 1, ("bad name!",)),
        (("run", "sotto", ""), 1, ("empty",)),
        (("run", "sotto", "hi", "--temperature", "nan"), 1, ("temperature",)),
        (("run", "sotto", "hi", "--top-p", "7"), 1, ("top_p",)),
        (("run", "sotto", "hi", "--top-k", "-7"), 1, ("top_k",)),
        (("run", "sotto", "hi", "--option", "dry_bsae=2"), 1, ("dry_bsae", "dry_base")),
        (("run", "sotto", "hi", "--option", "mirostat=3"), 1, ("mirostat", "0", "1 or 2")),
        (("run", "sotto", "hi", "--option", "typical_p"), 1, ("typical_p", "NAME=VALUE")),
        (("run", "sotto", "hi", "--seed", str(2**64)), 1, ("seed", str(2**64 - 1))),
        (("run", "sotto", "hi", "--logprobs", "3"), 1, ("--logprobs", "--json")),
        (("run", "sotto", "hi", "--logprobs", "21", "--json"), 1, ("logprobs", "20")),
        (("run", "sotto", "hi " * 9000), 1, ("4096", "context")),
        (("run", "sotto", "hi", "--raw", "--system", "x"), 1, ("--system",)),
        (("run", "sotto", "hi", "--raw", "--template", "x"), 1, ("--template",)),
        (("run", "sotto", "hi", "--template", "no-such-file"), 1, ("no-such-file", "missing")),
        (("run", "sotto", "hi", "--raw", "--think"), 1, ("--think",)),
        (("run", "sotto", "hi", "--no-think", "--think-level", "low"), 1, ("--no-think", "--think-level")),
        (("run", "sotto", "hi", "--think"), 1, ("chat template", "thinking")),
        (("run", "sotto", "hi", "--think-budget", "-3"), 1, ("think_budget", "-3")),
        (("run", "sotto", "hi", "--tools", "/nowhere/tools.json"), 1, ("/nowhere/tools.json",)),
        (("run", "sotto", "hi", "--tool-choice", "required"), 1, ("--tool-choice", "--tools", "requires")),
        (("run", "sotto", "hi", "--temperature", "warm"), 2, ("--temperature",)),
        (("run",), 2, ("MODEL",)),
        (("lsit",), 2, ("lsit", "list")),
        (("--nonsense",), 2, ("--nonsense",)),
    ],
)
def test_errors_are_one_line_with_the_right_status(
    env: dict[str, str], arguments: tuple[str, ...], status: int, words: tuple[str, ...]
) -> None:
    done = sotto(env, *arguments)
    assert done.returncode == status, done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    for word in words:
        assert word in done.stderr
    if status == 1:
        assert len(done.stderr.strip().splitlines()) == 1


def test_tools_need_a_template_that_supports_them(env: dict[str, str], tmp_path: Path) -> None:
    tools = tmp_path / "tools.json"
    tools.write_text('[{"type": "function", "function": {"name": "find"}}]', encoding="utf-8")
    failed = sotto(env, "run", "sotto", "hi", "--tools", str(tools))
    assert (failed.returncode, failed.stdout) == (1, "")
    assert failed.stderr == "sotto: The model's chat template knows nothing of tools: leave tools out.\n"
    template = "{{ tools[0].function.name if tools }} {{ messages[-1].content }}{{ '<think>' if enable_thinking }}"
    model = write_model(tmp_path / "tiny", "plain", template)
    done = sotto(
        env, "run", str(model), "hi", "--tools", str(tools), "--think", "--json", "--num-predict", "3", "--seed", "1"
    )
    assert done.returncode == 0, done.stderr
    row = json.loads(done.stdout)
    assert row["tool_calls"] == []
    assert row["text"] == ""
    assert row["thinking"].strip()
    # The prompt is the tool's name, a space, `hi` and the tag.
    assert row["prompt_eval_count"] == len("find hi<think>")


def test_a_required_call_is_the_whole_output(env: dict[str, str], tmp_path: Path) -> None:
    tools, model = tmp_path / "tools.json", write_family(tmp_path / "tiny", HERMES)
    parameters = {"type": "object", "properties": {"n": {"enum": [1, 2]}}, "required": ["n"]} | {
        "additionalProperties": False
    }
    tools.write_text(json.dumps([{"name": "find", "parameters": parameters}, {"name": "stop"}]), encoding="utf-8")
    line = ("run", str(model), "hi", "--tools", str(tools), "--temperature", "0", "--no-think")
    done = sotto(env, *line, "--tool-choice", "find")
    assert done.returncode == 0, done.stderr
    call = json.loads(done.stdout)
    assert call["name"] == "find"
    assert call["arguments"]["n"] in (1, 2)
    for more, word in (
        (("--tool-choice", "fly"), "--tool-choice asks for fly, and tools.json has only find, stop."),
        (("--tool-choice", "required", "--format", "json"), "--format and --tool-choice cannot be combined"),
    ):
        failed = sotto(env, *line, *more)
        assert (failed.returncode, failed.stdout) == (1, "")
        assert failed.stderr.startswith(f"sotto: {word}")


def test_verify(env: dict[str, str], tmp_path: Path) -> None:
    done = sotto(env, "verify", "sotto")
    assert done.returncode == 0, done.stderr
    assert "all digests match" in done.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux starts without a display")
def test_without_a_display_the_model_answers_in_the_terminal(env: dict[str, str]) -> None:
    done = sotto(env, stdin="how do i stop an answer\n\nbye\n")
    assert done.returncode == 0, done.stderr
    assert "no display" in done.stderr
    assert "Sotto" in done.stdout
    assert re.search("stop|esc", done.stdout, re.IGNORECASE)


def test_verify_reports_files_without_a_digest(env: dict[str, str], tmp_path: Path) -> None:
    done = sotto(env, "verify", str(write_model(tmp_path / "plain", "plain")))
    assert done.returncode == 0, done.stderr
    assert "no digests to check" in done.stdout
    assert "model.safetensors has no digest" in done.stderr


@pytest.mark.parametrize(
    "order",
    [
        ("sotto", "who are you", "--num-predict", "3", "--json"),
        ("--num-predict", "3", "--json", "sotto", "who are you"),
        ("sotto", "--num-predict", "3", "who are you", "--json"),
        ("--json", "--num-predict", "3", "--", "sotto", "who are you"),
    ],
)
def test_options_may_be_anywhere_on_the_line(env: dict[str, str], order: tuple[str, ...]) -> None:
    done = sotto(env, "run", *order)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["eval_count"] == 3


def test_an_interrupt_exits_with_130_and_keeps_the_output(env: dict[str, str], tmp_path: Path) -> None:
    folder = write_model(tmp_path / "endless", "plain", max_position_embeddings=1_000_000, eos_token_id=None)
    texts = json.loads((folder / "tokenizer_config.json").read_text())
    (folder / "tokenizer_config.json").write_text(json.dumps(texts | {"eos_token": None}))
    command = [*SOTTO, "run", str(folder), "--raw", "Once", "--temperature", "2", "--top-k", "0", "--top-p", "1"]
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        assert child.stdout is not None
        written = child.stdout.read(20)
        child.send_signal(signal.SIGINT)
        rest, complaints = child.communicate(timeout=30)
    assert child.returncode == 130, complaints
    assert len(written) == 20
    assert rest.endswith(b"\n")
    assert b"Traceback" not in complaints


@pytest.mark.parametrize(
    "line",
    some(["show sotto", "plan sotto", "run sotto hi", "verify sotto", "doctor", "embed sotto hi", "cache"], 3),
)
def test_each_command_starts_in_a_fresh_python(env: dict[str, str], line: str) -> None:
    """Check each command in a fresh Python, because forked commands share modules that others have imported."""
    done = subprocess.run([*SOTTO, *line.split()], env=env, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout


def test_a_closed_pipe_is_not_a_traceback(env: dict[str, str]) -> None:
    line = f"{' '.join(SOTTO)} list --json | true; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", line], env=env, capture_output=True, text=True, timeout=60)
    assert "Traceback" not in done.stderr
    assert done.stdout.strip() in ("0", "141")


def test_a_conversation_in_a_terminal(env: dict[str, str]) -> None:
    """Ask two questions through a pseudo-terminal; the second one uses the cache of the first."""
    try:
        master, slave = pty.openpty()
    except OSError as error:
        pytest.skip(f"needs a pseudo-terminal, which this machine does not give: {error}")
    child = subprocess.Popen(
        [*SOTTO, "run", "sotto"], env=env | {"TERM": "dumb"}, stdin=slave, stdout=slave, stderr=slave
    )
    os.close(slave)
    seen = ""
    for question in ("who are you?", "thanks"):
        seen += _read_until(master, "> ")
        os.write(master, f"{question}\n".encode())
    seen += _read_until(master, "> ", skip=len("thanks"))
    os.write(master, b"\x04")
    assert child.wait(timeout=30) == 0
    os.close(master)
    assert "Sotto" in seen
    assert "Traceback" not in seen


def _read_until(master: int, wanted: str, skip: int = 0) -> str:
    text, deadline = "", time.monotonic() + 60
    while not (text[skip:].endswith(wanted)):
        assert time.monotonic() < deadline, text
        if select.select([master], [], [], 1)[0]:
            text += os.read(master, 4096).decode(errors="replace")
    return text


def test_options_of_the_app(env: dict[str, str]) -> None:
    both = sotto(env, "--quick", "--toggle")
    assert both.returncode == 2
    assert "--quick and --toggle cannot be combined" in both.stderr
    two = sotto(env, "sotto://model/a", "sotto://model/b")
    assert two.returncode == 2
    assert "only one address can be opened at a time" in two.stderr
    quick = sotto(env, "--quick", "sotto://model/a")
    assert quick.returncode == 2
    assert "--quick cannot be combined with an address" in quick.stderr
    strange = sotto(env, "file:///a%00b")
    assert strange.returncode == 2
    assert "has a null byte" in strange.stderr
    unknown = sotto(env, "--quik")
    assert unknown.returncode == 2
    assert "the options are --new, --quick, --toggle, --background" in unknown.stderr


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems always have a display")
@pytest.mark.parametrize("option", ["--quick", "--toggle", "--background", "--new", "sotto://ask?text=hi"])
def test_without_a_display_there_is_no_panel(env: dict[str, str], option: str) -> None:
    done = sotto(env, option)
    assert (done.returncode, done.stdout) == (1, "")
    assert "no display" in done.stderr


@pytest.mark.parametrize(("closed", "answers"), [("<&-", True), ("<&- >&-", False)])
def test_the_standard_streams_may_be_closed(env: dict[str, str], closed: str, answers: bool) -> None:
    """Check closed streams: the weight file could then get descriptor 0, which its reader takes for an error."""
    done = subprocess.run(
        ["sh", "-c", f'exec "$@" {closed}', "sh", *SOTTO, "run", "sotto", "hi", "--num-predict", "1"],
        env=env, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert bool(done.stdout) == answers


@pytest.mark.parametrize("arguments", [("run", "sotto"), ("embed", "sotto")])
def test_invalid_utf8_on_stdin_is_reported(env: dict[str, str], arguments: tuple[str, ...]) -> None:
    plain = {name: value for name, value in env.items() if name != "LANG"} | {"LC_ALL": "C"}
    done = subprocess.run([*SOTTO, *arguments], env=plain, input=b"a\xc9b\n", capture_output=True, timeout=120)
    assert (done.returncode, done.stdout) == (1, b"")
    assert re.fullmatch(rb"sotto: stdin is not UTF-8 text \([^\n]*\)\.\n", done.stderr), done.stderr


def test_an_invalid_option_prints_the_usage_of_its_command(env: dict[str, str]) -> None:
    done = sotto(env, "embed", "sotto", "hi", "--nope")
    assert done.returncode == 2
    assert done.stderr.startswith("usage: sotto embed [-h]")
    assert done.stderr.endswith("sotto embed: error: unrecognized arguments: --nope\n")
