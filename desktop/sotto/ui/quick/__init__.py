"""The quick prompt: a small panel for short questions, shown in front of other programs."""
