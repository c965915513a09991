"""Splits what a model writes into the answer, thoughts and tool calls while it streams.

`pieces` says what comes out. `families` knows how models mark thoughts and calls, and chooses by a model's chat
template and vocabulary. `parser` reads an answer with that, however it is cut: as a text with tags in it (`tagged`), or
as a list of messages (`messages`, in one of several `dialects`). Both read from a `source` and put what they find into
an `output`; `calls`, `tagged_calls`, `nested_calls` and `loose_values` are the syntaxes of calls.
"""
