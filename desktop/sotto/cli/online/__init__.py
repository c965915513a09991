"""Commands that ask other machines what there is."""
