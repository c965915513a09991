"""Answers by a schema or grammar: checks, translation, and the masks of tokens."""
