"""Answers by a schema or grammar: checks, translation and token masks."""
