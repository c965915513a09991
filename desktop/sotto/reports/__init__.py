"""Logs, and reports of errors, without what people write, where they live and what they keep secret."""
