"""The tags that models put around what they think before they answer."""

THOUGHT_TAGS = ("<think>", "<thinking>", "<thought>", "<reasoning>", "[THINK]")


def opened_by(prompt: str) -> str:
    """Return the tag that a prompt ends with, so that the answer to it begins inside a thought; empty for none."""
    end = prompt[-64:].rstrip()
    return next((tag for tag in THOUGHT_TAGS if end.endswith(tag)), "")
