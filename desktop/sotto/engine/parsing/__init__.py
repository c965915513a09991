"""Streaming parsers that split a model's output into text, thoughts and tool calls.

`families` holds how models mark thoughts and calls, and chooses by a model's chat template and vocabulary.
`answer_parser` parses an answer accordingly: as text with tags (`tagged_format`) or as a list of messages
(`message_format`, in one of the `message_dialects`). Both read from a `source` and write to an `output`. `calls`,
`tagged_calls`, `nested_calls` and `loose_values` parse the syntaxes of calls; `forcing` turns them into grammars.
"""
