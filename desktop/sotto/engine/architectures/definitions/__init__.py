"""Model definitions that replace mlx-lm's where these differ from the original models.

Each module has `Model` and `ModelArgs`, as the borrowed ones have, and builds on them; only encoders are not borrowed.
`sotto.engine.config.architecture_table` says what each computes.
"""
