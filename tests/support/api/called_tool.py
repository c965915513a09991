"""The chunks of an answer with a thought, some text and a tool call."""

import json

PARAMETERS = {"type": "object", "properties": {"what": {"type": "string"}}}
FUNCTION = {"name": "find", "description": "Finds.", "parameters": PARAMETERS}
ARGUMENTS = {"what": "é", "n": 1}
CALL = json.dumps({"name": "find", "arguments": ARGUMENTS, "id": "call1"}, ensure_ascii=False)
CHUNKS = ["<think>\nFirst ", "this.\n</think>\n\n", "I ", "look.\n", "<tool_call>\n", CALL, "\n</tool_call>"]
