"""The requests and answers of each API dialect."""
