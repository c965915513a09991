"""A fuzzer that knows what it mutates: see `tests/fuzz/README.md`."""
