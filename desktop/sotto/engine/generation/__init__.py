"""Generating answers: scheduling requests, computing their steps, and speculative decoding."""
