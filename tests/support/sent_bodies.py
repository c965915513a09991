"""Request bodies as clients send them, by path."""

_PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
_FUNCTION = {"name": "weather", "description": "Tells the weather in a city.", "parameters": _PARAMETERS}
_TOOL = {"type": "function", "function": _FUNCTION}
_HELLO = {"role": "user", "content": "Hello!"}
_DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="  # a PNG image
_PICTURE = f"data:image/png;base64,{_DOT}"
_NOTES = "data:text/plain;base64,Tm90ZXMu"
_ANTHROPIC_TOOL = {"name": "weather", "description": "Tells the weather.", "input_schema": _PARAMETERS}
_ANTHROPIC_CALLED = [
    {"role": "user", "content": [{"type": "text", "text": "Hello!"}]},
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "I look."},
            {"type": "tool_use", "id": "1", "name": "weather", "input": {"city": "Oslo"}},
        ],
    },
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "Rain."}]},
]
_ANTHROPIC_IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": _DOT}}
_ANTHROPIC_SHOWN = {
    "role": "user",
    "content": [
        _ANTHROPIC_IMAGE,
        {
            "type": "document",
            "source": {"type": "text", "media_type": "text/plain", "data": "Notes."},
            "title": "notes.txt",
            "context": "Mine.",
        },
        {
            "type": "document",
            "source": {"type": "content", "content": [{"type": "text", "text": "A"}, _ANTHROPIC_IMAGE]},
        },
        {"type": "text", "text": "What is it?"},
    ],
}
_OPTIONS = {
    "num_ctx": 4096,
    "num_predict": 128,
    "temperature": 0.7,
    "top_k": 40,
    "top_p": 0.9,
    "min_p": 0.05,
    "repeat_penalty": 1.1,
    "seed": 42,
    "stop": ["\n\n"],
}
_COMMON = {"stream": True, "keep_alive": "10m", "truncate": True, "shift": False}
_OLLAMA = {**_COMMON, "think": False, "options": _OPTIONS, "logprobs": True, "top_logprobs": 3}
# Sampling options that every dialect accepts in addition to its own fields.
_SAMPLING = {
    "temperature": 0.7,
    "top_p": 0.9,
    "top_k": 40,
    "min_p": 0.05,
    "typical_p": 0.9,
    "repeat_penalty": 1.1,
    "repeat_last_n": 64,
    "frequency_penalty": 0.1,
    "presence_penalty": 0.1,
    "xtc_probability": 0.1,
    "xtc_threshold": 0.1,
    "dry_multiplier": 0.8,
    "dry_base": 1.75,
    "dry_allowed_length": 2,
    "dry_penalty_last_n": -1,
    "dry_sequence_breakers": ["\n"],
    "mirostat": 2,
    "mirostat_tau": 5.0,
    "mirostat_eta": 0.1,
    "loop_guard": True,
    "logit_bias": {"42": -100},
    "seed": 42,
}
_OPENAI = {
    "stream": True,
    "stream_options": {"include_usage": True},
    **_SAMPLING,
    "stop": ["\n\n"],
    "n": 1,
    "max_tokens": 128,
    "keep_alive": 600,
    "truncate": True,
    "shift": False,
}
BODIES = {
    "/api/push": (
        {"model": "registry.example.com/me/mine", "insecure": False, "stream": True},
        {"name": "registry.example.com/me/mine"},
    ),
    "/api/create": (
        {
            "model": "mine",
            "from": "sotto",
            "system": "Be brief.",
            "template": "{{ .Prompt }}",
            "parameters": {"temperature": 0.5, "stop": ["END"]},
            "messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}],
            "license": ["MIT"],
            "stream": True,
        },
        {"name": "mine", "files": {"m.gguf": "sha256:" + 64 * "0"}, "adapters": {"a.gguf": "sha256:" + 64 * "0"}},
        {"model": "mine", "from": "sotto", "quantize": "q4_K_M", "renderer": "", "parser": "", "requires": ""},
    ),
    "/api/generate": (
        {"model": "sotto", "prompt": "Why is the sky blue?", "system": "Be brief.", **_OLLAMA, "think": "high"},
        {"model": "sotto", "prompt": "List three colours.", "format": "json", "stream": False, "keep_alive": 600},
        {
            "model": "sotto",
            "prompt": "Who?",
            "format": _PARAMETERS,
            "raw": True,
            "options": {"stop": "."},
            "think": False,
        },
        {"model": "qwen2.5-coder", "prompt": "def add(a, b):\n    ", "suffix": "\n\nprint(add(1, 2))\n"},
        {"model": "sotto", "prompt": "What is it?", "images": [_DOT]},
    ),
    "/api/chat": (
        {"model": "sotto", "messages": [{"role": "user", "content": "What is it?", "images": [_DOT]}]},
        {"model": "sotto", "messages": [_HELLO], **_OLLAMA},
        {"model": "sotto", "messages": [_HELLO], "tools": [_TOOL], "format": "json", "think": "low", "keep_alive": -1},
        {
            "model": "sotto",
            "messages": [
                _HELLO,
                {
                    "role": "assistant",
                    "content": "",
                    "thinking": "I look.",
                    "tool_calls": [{"id": "1", "function": {"name": "weather", "arguments": {"city": "Oslo"}}}],
                },
                {"role": "tool", "content": "Rain.", "tool_name": "weather", "tool_call_id": "1"},
            ],
            "format": _PARAMETERS,
            "stream": False,
        },
    ),
    "/api/embed": (
        {
            "model": "all-minilm",
            "input": ["One text.", "Another."],
            "truncate": True,
            "dimensions": 128,
            "keep_alive": 600,
        },
        {"model": "all-minilm", "input": "One text.", "keep_alive": "10m", "options": {"num_ctx": 512}},
    ),
    "/api/embeddings": (
        {"model": "all-minilm", "prompt": "One text.", "keep_alive": 600},
        {"model": "all-minilm", "prompt": "One text.", "keep_alive": "10m"},
    ),
    "/api/show": ({"model": "sotto", "verbose": True}, {"name": "sotto"}),
    "/api/pull": ({"model": "qwen3:4b", "insecure": False, "stream": True}, {"name": "qwen3:4b", "stream": False}),
    "/api/copy": ({"source": "qwen3:4b", "destination": "mine"},),
    "/api/delete": ({"model": "qwen3:4b"}, {"name": "qwen3:4b"}),
    "/v1/chat/completions": (
        {"model": "sotto", "messages": [_HELLO], **_OPENAI, "max_completion_tokens": 128},
        {
            "model": "sotto",
            "messages": [
                {
                    "role": "user",
                    "content": [
                        {"type": "text", "text": "What is it?"},
                        {"type": "image_url", "image_url": {"url": _PICTURE, "detail": "auto"}},
                        {"type": "file", "file": {"filename": "notes.txt", "file_data": _NOTES}},
                    ],
                }
            ],
        },
        {
            "model": "sotto",
            "messages": [_HELLO],
            "stop": ".",
            "keep_alive": "10m",
            "tools": [_TOOL],
            "tool_choice": "auto",
            "parallel_tool_calls": False,
            "reasoning_effort": "low",
            "reasoning": {"effort": "low"},
            "logprobs": True,
            "top_logprobs": 3,
            "response_format": {"type": "json_schema", "json_schema": {"name": "city", "schema": _PARAMETERS}},
        },
        {
            "model": "sotto",
            "messages": [
                {"role": "user", "content": [{"type": "text", "text": "Hello!"}]},
                {
                    "role": "assistant",
                    "content": "",
                    "tool_calls": [{"id": "1", "function": {"name": "weather", "arguments": '{"city": "Oslo"}'}}],
                },
                {"role": "tool", "content": "Rain.", "tool_call_id": "1"},
            ],
            "response_format": {"type": "json_object"},
        },
    ),
    "/v1/completions": (
        {"model": "sotto", "prompt": "Once upon a time", **_OPENAI, "logprobs": 3},
        {"model": "sotto", "prompt": ["Once", "Twice"], "stop": ".", "echo": True, "keep_alive": "10m"},
        {"model": "qwen2.5-coder", "prompt": "def add(a, b):\n    ", "suffix": "\n\nprint(add(1, 2))\n"},
        {"model": "sotto", "prompt": "Who?", "response_format": {"type": "json_object"}},
        {"model": "sotto", "prompt": [42, 43, 44], "max_tokens": 16},
        {"model": "sotto", "prompt": [[42, 43], [44]], "max_tokens": 16},
    ),
    "/v1/responses": (
        {
            "model": "sotto",
            "input": "Hello!",
            "instructions": "Be brief.",
            "max_output_tokens": 128,
            **_SAMPLING,
            "stream": True,
            "store": False,
            "truncation": "auto",
            "metadata": {"from": "a test"},
            "top_logprobs": 3,
            "include": ["message.output_text.logprobs"],
            "keep_alive": "10m",
        },
        {
            "model": "sotto",
            "input": [
                {
                    "role": "user",
                    "content": [
                        {"type": "input_image", "image_url": _PICTURE, "detail": "low"},
                        {"type": "input_file", "filename": "notes.txt", "file_data": _NOTES},
                    ],
                },
            ],
        },
        {
            "model": "sotto",
            "input": [
                {"role": "user", "content": [{"type": "input_text", "text": "Hello!"}]},
                {"type": "reasoning", "summary": [{"type": "summary_text", "text": "I look."}]},
                {"type": "function_call", "call_id": "1", "name": "weather", "arguments": '{"city": "Oslo"}'},
                {"type": "function_call_output", "call_id": "1", "output": "Rain."},
                {"type": "custom_tool_call", "call_id": "2", "name": "note", "input": "Rain in Oslo."},
                {
                    "type": "custom_tool_call_output",
                    "call_id": "2",
                    "output": [{"type": "input_text", "text": "Done."}],
                },
                {"type": "local_shell_call", "call_id": "3", "action": {"type": "exec", "command": ["date"]}},
                {"type": "local_shell_call_output", "call_id": "3", "output": "Monday"},
            ],
            "tools": [{"type": "function", **_FUNCTION}, {"type": "web_search"}],
            "tool_choice": "auto",
            "parallel_tool_calls": False,
            "reasoning": {"effort": "low"},
            "keep_alive": 600,
            "text": {"format": {"type": "json_schema", "name": "city", "schema": _PARAMETERS}},
        },
    ),
    "/infill": (
        {
            "model": "qwen2.5-coder",
            "input_prefix": "def add(a, b):\n",
            "input_suffix": "\n\nprint(add(1, 2))\n",
            "input_extra": [{"filename": "one.py", "text": "x = 1\n"}],
            "prompt": "    ",
            "n_predict": 128,
            **_SAMPLING,
            "stop": ["\n\n"],
            "ignore_eos": False,
            "t_max_predict_ms": 1000,
            "response_fields": ["content", "timings/predicted_n"],
            "stream": True,
            "keep_alive": "10m",
        },
        {
            "model": "qwen2.5-coder",
            "input_prefix": "city = ",
            "input_suffix": "",
            "stop": "\n",
            "keep_alive": 600,
        },
        {"model": "qwen2.5-coder", "input_prefix": "city = ", "input_suffix": "", "json_schema": _PARAMETERS},
    ),
    "/v1/embeddings": (
        {"model": "all-minilm", "input": ["One text.", "Another."], "encoding_format": "float", "keep_alive": 600},
        {"model": "all-minilm", "input": "One text.", "dimensions": 128, "keep_alive": "10m"},
        {"model": "all-minilm", "input": [101, 7592, 102], "truncate": True},
        {"model": "all-minilm", "input": [[101, 7592, 102], [101, 102]], "encoding_format": "base64"},
    ),
    "/v1/messages/count_tokens": (
        {
            "model": "sotto",
            "messages": [_HELLO],
            "system": "Be brief.",
            "tools": [_ANTHROPIC_TOOL],
            "tool_choice": {"type": "tool", "name": "weather", "disable_parallel_tool_use": True},
            "thinking": {"type": "enabled", "budget_tokens": 1024},
            "keep_alive": "10m",
        },
        {"model": "sotto", "messages": _ANTHROPIC_CALLED, "keep_alive": 600},
        {"model": "sotto", "messages": [_ANTHROPIC_SHOWN]},
    ),
    "/v1/messages": (
        {"model": "sotto", "max_tokens": 128, "messages": [_ANTHROPIC_SHOWN]},
        {
            "model": "sotto",
            "max_tokens": 128,
            "messages": [_HELLO],
            "system": "Be brief.",
            "stream": True,
            **_SAMPLING,
            "stop_sequences": ["\n\n"],
            "thinking": {"type": "enabled", "budget_tokens": 1024},
            "keep_alive": "10m",
            "truncate": True,
            "shift": False,
        },
        {
            "model": "sotto",
            "max_tokens": 128,
            "messages": _ANTHROPIC_CALLED,
            "tools": [_ANTHROPIC_TOOL, {"type": "web_search_20250305", "name": "web_search"}],
            "tool_choice": {"type": "auto", "disable_parallel_tool_use": True},
            "keep_alive": 600,
            "output_config": {"format": {"type": "json_schema", "schema": _PARAMETERS}},
        },
    ),
}
