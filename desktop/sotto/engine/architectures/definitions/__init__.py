"""Model definitions of our own, in place of borrowed ones that compute something else than the model's makers do.

Each module has `Model` and `ModelArgs`, as the borrowed ones have, and builds on them; only encoders are not borrowed.
`sotto.engine.config.architecture_table` says what each computes.
"""
