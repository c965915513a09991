"""Bounds the cost of a tokenizer's regular expressions without running them.

The tokenizers library runs expressions by Oniguruma, which backtracks: a text of 40 characters can hold it for minutes,
and nothing can interrupt it. `characters` knows which characters a class has, `parser` takes an expression apart, and
`cost` bounds the ways in which it can be tried.
"""
