"""Bounds the cost of a tokenizer's regular expressions without running them.

The tokenizers library runs expressions with Oniguruma, which backtracks: a text of 40 characters can keep it busy for
minutes, and nothing can interrupt it. `characters` knows which characters a class contains, `expression_parser` parses
an expression, and `cost` bounds the ways in which a match can be tried.
"""
