"""What a regular expression of a tokenizer can cost, found out without running it.

The tokenizers library runs expressions by Oniguruma, which backtracks: a text of 40 characters can hold it for minutes,
and nothing can interrupt it. `characters` knows which characters a class has, `parser` takes an expression apart, and
`cost` bounds the ways in which it can be tried.
"""
