"""The command line's entry."""


def main(argv: list[str] | None = None) -> int:
    """Run one command; return its exit status."""
    raise NotImplementedError(argv)
