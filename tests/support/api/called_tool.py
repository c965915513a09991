"""An answer that thinks, says something and calls a tool, as it comes from a model."""

import json

PARAMETERS = {"type": "object", "properties": {"what": {"type": "string"}}}
FUNCTION = {"name": "find", "description": "Finds.", "parameters": PARAMETERS}
ARGUMENTS = {"what": "é", "n": 1}
CALL = json.dumps({"name": "find", "arguments": ARGUMENTS, "id": "call1"}, ensure_ascii=False)
CHUNKS = ["<think>\nFirst ", "this.\n</think>\n\n", "I ", "look.\n", "<tool_call>\n", CALL, "\n</tool_call>"]
