"""Chat templates and conversations for them: real templates if the material exists, and a few of our own."""

import json
from typing import Any

from material import ROOT
from sotto.engine.contract.answer_parts import ToolCall
from sotto.engine.contract.requests import Message, Think
from sotto.engine.prompt.template_messages import PromptOptions

_OWN_JINJA = (
    "{% for message in messages %}[{{ message.role }}]{{ message.content }}</s>{% endfor %}"
    "{% if add_generation_prompt %}[assistant]{% endif %}",
    "{%- macro one(m, i=0) -%}{{ m['role'] | upper }}: {{ m.content | trim }}{%- endmacro -%}"
    "{%- set ns = namespace(n=0) -%}{%- for m in messages -%}{%- set ns.n = ns.n + 1 -%}"
    "{%- if loop.index0 % 2 == 0 and m.role == 'tool' -%}{{ raise_exception('no ' ~ m.role) }}{%- else -%}"
    "{{ one(m, ns.n) }}{{ m | tojson(indent=2) }}{%- endif -%}{%- endfor -%}{{ ns.n }}{{ bos_token }}",
    "{% if tools %}{{ tools | map(attribute='function') | list | tojson }}{% endif %}"
    "{% for m in messages[1:] if m.role != 'system' %}{{ loop.index }}. {{ '%s: %s' % (m.role, m.content) }}\n"
    "{{ m.content.split('</think>')[-1].lstrip('\\n') }}{% else %}none{% endfor %}{{ strftime_now('%Y') }}",
)
_OWN_GO = (
    "{{ if .System }}<|system|>{{ .System }}{{ end }}{{ range $i, $m := .Messages }}<|{{ $m.Role }}|>{{ .Content }}"
    "{{ range .ToolCalls }}{{ .Function.Name }}{{ json .Function.Arguments }}{{ end }}{{ end }}<|assistant|>",
    "{{ with .System }}S: {{ . }}\n{{ end }}{{ if .Prompt }}U: {{ .Prompt }}\n{{ end }}A: {{ .Response }}",
    '{{ define "turn" }}[{{ .Role | printf "%-5s|%q" }}]{{ slice .Content 0 (len "x") }}{{ end }}'
    '{{- range .Messages }}{{ template "turn" . }}{{ if and (eq .Role "user") (gt (len .Content) 3) }}+{{ break }}'
    "{{ else if not .Content }}-{{ else }}{{ continue }}{{ end }}{{ end -}}{{ index .Messages 0 }}{{ len .Tools }}",
)
_MAX_CHARACTERS = 12_000


def _material(*parts: str) -> Any:
    path = ROOT.joinpath(*parts)
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def _jinja() -> tuple[str, ...]:
    folder = ROOT / "chat-templates"
    texts = [path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.jinja"))] if folder.exists() else []
    return (*_OWN_JINJA, *(text for text in texts if len(text) < _MAX_CHARACTERS))


def _go() -> tuple[str, ...]:
    found = _material("go-templates", "automap.json") or []
    texts = [entry["ollama"]["template"] for entry in found if "template" in (entry.get("ollama") or {})]
    return (*_OWN_GO, *dict.fromkeys(texts))


JINJA, GO = _jinja(), _go()

TOOL = {
    "type": "function",
    "function": {
        "name": "add",
        "description": "Adds <two> numbers.",
        "parameters": {"type": "object", "properties": {"a": {"type": ["string", "null"]}, "b": {"type": "array"}}},
    },
}
CALL = ToolCall("add", {"b": [1, 2.5], "a": "é"}, "1")
TALKS = (
    ((Message("user", "What is 2 + 2?"),), PromptOptions()),
    (
        (
            Message("system", "Be brief."),
            Message("user", "héé {{ x }}"),
            Message("assistant", "<think>\nhm\n</think>\n4"),
            Message("user", ""),
        ),
        PromptOptions(think=Think.ON),
    ),
    (
        (
            Message("user", "Add."),
            Message("assistant", "", tool_calls=(CALL,)),
            Message("tool", "3", tool_name="add", tool_call_id="1"),
            Message("user", "a" * 5000),
        ),
        PromptOptions(tools=(TOOL,)),
    ),
    ((Message("user", "half \ud800 of it"),), PromptOptions()),
)
