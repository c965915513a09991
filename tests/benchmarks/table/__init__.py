"""The comparison with llama.cpp on the models that people use: the table, the start, long contexts, many clients."""
