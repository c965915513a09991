"""The quick prompt: a small panel that answers one question over other programs."""
