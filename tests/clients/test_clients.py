"""Published programs as clients of `sotto serve`: each has a conversation of two turns and uses its tools.

They are large and are downloaded from package registries, so these tests run on demand; see `tests/README.md`.
"""

import json
import os
import subprocess

import pytest
from PIL import Image, ImageOps

from written_model import call

if not os.environ.get("SOTTO_CLIENTS"):
    pytest.skip("needs SOTTO_CLIENTS=1, and then downloads clients of several hundred MB", allow_module_level=True)

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1500)]

MADE, THERE = "It is made.", "It is there."
MAKE, LOOK = "echo made > made.txt; cat made.txt", "cp made.txt again.txt"

# A PNG image of one pixel.
_DOT = (
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d4944415478da6364f8cf500f0003860180"
    "5a347d6b0000000049454e44ae426082"
)


def _draw(path):
    """Write a picture with a few colours."""
    picture = Image.linear_gradient("L").resize((60, 40))
    ImageOps.colorize(picture, "red", "blue").save(path)


class TestCodex:
    """Codex, from the package @openai/codex."""

    FLAGS = ("--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox")

    @staticmethod
    def configured(desk):
        desk.env = {"CODEX_HOME": str(desk.home), "CODEX_OSS_BASE_URL": f"{desk.recorder.url}/v1"}
        return desk

    @pytest.mark.parametrize("provider", ["ollama", "lmstudio", "custom"])
    def test_two_turns(self, desk, provider):
        answers = [call("exec_command", cmd=MAKE), MADE, call("exec_command", cmd=LOOK), THERE]
        codex = self.configured(desk("codex", answers))
        ask = ["exec", *self.FLAGS, "-m", "written"]
        if provider == "custom":
            settings = {"name": "Sotto", "base_url": f"{codex.recorder.url}/v1", "wire_api": "responses"}
            for name, value in settings.items():
                ask += ["-c", f"model_providers.sotto.{name}={json.dumps(value)}"]
            ask += ["-c", 'model_provider="sotto"']
        else:
            ask += ["--oss", "--local-provider", provider]
        assert MADE in codex.run(*ask, "Make it.")
        assert (codex.work / "made.txt").read_text() == "made\n"
        assert THERE in codex.run(*ask, "resume", "--last", "And again.")
        assert (codex.work / "again.txt").read_text() == "made\n"
        turns = [exchange for exchange in codex.recorder.to("/v1/responses") if exchange.body["input"]]
        assert len(turns) == 4
        for turn in turns:
            left_out = [tool["type"] for tool in turn.body["tools"] if tool["type"] != "function"]
            assert left_out
            warnings = turn.events[-1]["response"]["warnings"]
            assert [kind in warning for kind, warning in zip(left_out, warnings, strict=True)] == [True] * len(left_out)
        outputs = [item["output"] for item in turns[-1].body["input"] if item["type"] == "function_call_output"]
        assert len(outputs) == 2
        assert "made" in outputs[0]
        if provider == "ollama":
            assert codex.recorder.to("/api/version")

    def test_unsupported_tools(self, desk):
        """Check that Codex can send unsupported kinds of tools, as it does to OpenAI's models, and view an image."""
        answers = [call("exec_command", cmd=MAKE), call("view_image", path="dot.png"), MADE]
        codex = self.configured(desk("codex", answers, model="gpt-5.5"))
        (codex.work / "dot.png").write_bytes(bytes.fromhex(_DOT))
        named = ["--oss", "--local-provider", "ollama", "-m", "gpt-5.5", "-c", 'model_reasoning_effort="none"']
        assert MADE in codex.run("exec", *self.FLAGS, *named, "Look.")
        last = codex.recorder.to("/v1/responses")[-1]
        assert {"custom", "tool_search", "web_search"} <= {tool["type"] for tool in last.body["tools"]}
        warnings = last.events[-1]["response"]["warnings"]
        assert warnings[-1].startswith('"gpt-5.5" does not support image input')

    def test_images(self, desk):
        """Check that a model is shown the image of a question, and the one that it asks to view."""
        codex = self.configured(desk("codex", [call("view_image", path="drawing.png"), MADE], sees=True))
        _draw(codex.work / "drawing.png")
        ask = ["exec", *self.FLAGS, "-m", "written", "--oss", "--local-provider", "ollama"]
        assert MADE in codex.run(*ask, "-i", "drawing.png", "--", "Look.")
        first, last = [exchange for exchange in codex.recorder.to("/v1/responses") if exchange.body["input"]]
        assert first.sent.count(b'"input_image"') == 1
        assert last.sent.count(b'"input_image"') == 2
        assert "image" not in str(last.events[-1]["response"].get("warnings"))


class TestClaudeCode:
    """Claude Code, from the package @anthropic-ai/claude-code."""

    @staticmethod
    def configured(desk):
        desk.env = {
            "ANTHROPIC_API_KEY": "none",
            "ANTHROPIC_BASE_URL": desk.recorder.url,
            "ANTHROPIC_MODEL": "written",
            "ANTHROPIC_DEFAULT_HAIKU_MODEL": "written",
            "CLAUDE_CONFIG_DIR": str(desk.home),
        }
        return desk

    def test_two_turns(self, desk):
        first = call("Bash", command=MAKE, description="Makes it")
        claude = self.configured(desk("claude", [first, MADE, call("Bash", command=LOOK, description="Looks"), THERE]))
        ask = ["-p", "--allowedTools", "Bash"]
        assert claude.run(*ask, "--", "Make it.").strip() == MADE
        assert (claude.work / "made.txt").read_text() == "made\n"
        assert claude.run(*ask, "--continue", "--", "And again.").strip() == THERE
        assert (claude.work / "again.txt").read_text() == "made\n"
        last = claude.recorder.to("/v1/messages")[-1].body
        contents = [message["content"] for message in last["messages"] if message["role"] == "user"]
        blocks = [block for content in contents if isinstance(content, list) for block in content]
        assert next(block["content"] for block in blocks if block["type"] == "tool_result") == "made"

    def test_unsupported_tools(self, desk):
        """Check that searching for tools, searching the web and reading an image do not end the conversation."""
        answers = [
            call("ToolSearch", query="select:WebSearch", max_results=5),
            call("WebSearch", query="sotto"),
            call("Read", file_path="dot.png"),
            MADE,
        ]
        claude = self.configured(desk("claude", answers, "Nothing found."))
        (claude.work / "dot.png").write_bytes(bytes.fromhex(_DOT))
        assert claude.run("-p", "--allowedTools", "ToolSearch,WebSearch,Read", "--", "Look.").strip() == MADE
        exchanges = claude.recorder.to("/v1/messages")
        assert any(
            tool.get("type") == "web_search_20250305" for exchange in exchanges for tool in exchange.body["tools"]
        )
        assert any("tool_reference" in exchange.sent.decode() for exchange in exchanges)
        begun = exchanges[-1].events[0]["message"]
        assert begun["warnings"][0].startswith('"written" does not support image input')

    def test_an_image(self, desk):
        """Check that a model is shown an image that it asks to read."""
        claude = self.configured(desk("claude", [call("Read", file_path="drawing.png"), MADE], sees=True))
        _draw(claude.work / "drawing.png")
        assert claude.run("-p", "--allowedTools", "Read", "--", "Look.").strip() == MADE
        last = claude.recorder.to("/v1/messages")[-1]
        blocks = [block for message in last.body["messages"] for block in message["content"]]
        (result,) = [block for block in blocks if isinstance(block, dict) and block["type"] == "tool_result"]
        assert [part["type"] for part in result["content"]] == ["image"]
        assert "warnings" not in last.events[0]["message"]


class TestOpencode:
    """opencode, from the package opencode-ai, with its built-in provider for OpenAI-compatible servers."""

    def test_two_turns(self, desk):
        first = call("bash", command=MAKE, description="Makes it")
        opencode = desk("opencode", [first, MADE, call("bash", command=LOOK, description="Looks"), THERE], "A title")
        provider = {
            "npm": "@ai-sdk/openai-compatible",
            "options": {"baseURL": f"{opencode.recorder.url}/v1", "apiKey": "none"},
            "models": {"written": {"name": "written"}},
        }
        chosen = {"model": "sotto/written", "small_model": "sotto/written", "provider": {"sotto": provider}}
        (opencode.work / "opencode.json").write_text(
            json.dumps({**chosen, "autoupdate": False, "share": "disabled", "permission": {"*": "allow"}})
        )
        assert MADE in opencode.run("run", "Make it.")
        assert (opencode.work / "made.txt").read_text() == "made\n"
        assert THERE in opencode.run("run", "--continue", "And again.")
        assert (opencode.work / "again.txt").read_text() == "made\n"
        last = opencode.recorder.to("/v1/chat/completions")[-1].body
        assert next(message["content"] for message in last["messages"] if message["role"] == "tool") == "made\n"


class TestAider:
    """aider, from the package aider-chat; it has no tools, and edits the files that answers name."""

    @pytest.mark.parametrize("dialect", ["openai", "ollama_chat", "anthropic"])
    def test_two_turns(self, desk, dialect):
        aider = desk("aider", ["Unused."], "I make it.\n\nmade.txt\n```\nmade\n```\n")
        url = aider.recorder.url
        aider.env = {
            "openai": {"OPENAI_API_BASE": f"{url}/v1", "OPENAI_API_KEY": "none"},
            "ollama_chat": {"OLLAMA_API_BASE": url},
            "anthropic": {"ANTHROPIC_API_BASE": url, "ANTHROPIC_API_KEY": "none"},
        }[dialect]
        for command in (["init", "-q"], ["config", "user.email", "a@b"], ["config", "user.name", "a"]):
            subprocess.run(["git", *command], cwd=aider.work, check=True)
        quiet = ["--no-check-update", "--no-show-release-notes", "--no-show-model-warnings", "--no-analytics"]
        ask = ["--model", f"{dialect}/written", "--edit-format", "whole", "--yes-always", "--no-pretty", *quiet]
        for message in ("Make it.", "And again."):
            (aider.work / "made.txt").unlink(missing_ok=True)
            aider.run(*ask, "--restore-chat-history", "--message", message, "made.txt")
            assert (aider.work / "made.txt").read_text() == "made\n"
        paths = {"openai": "/v1/chat/completions", "ollama_chat": "/api/chat", "anthropic": "/v1/messages"}
        assert len(aider.recorder.to(paths[dialect])) >= 2
