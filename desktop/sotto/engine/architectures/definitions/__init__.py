"""Model definitions that replace mlx-lm's where those differ from the original models, and encoders.

Each module has `Model` and `ModelArgs`, like mlx-lm's, which all but the encoders extend.
`sotto.engine.config.architecture_table` says which models each of them is used for.
"""
