"""Imports: what they result in, and the process that computes their tensors."""
