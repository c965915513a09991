"""The tags that models put around what they think before they answer."""

THOUGHT_TAGS = ("<think>", "<thinking>", "<thought>", "<reasoning>", "[THINK]")
# Where an answer has channels, thoughts have one of their own, and it is chosen first.
_CHANNEL_OPEN, _FINAL_CHANNEL = "<|start|>assistant", "<|channel|>final<|message|>"


def opened_by(prompt: str) -> str:
    """Return the tag that a prompt ends with, so that the answer to it begins inside a thought; empty for none."""
    end = prompt[-64:].rstrip()
    return next((tag for tag in THOUGHT_TAGS if end.endswith(tag)), "")


def without_thought(prompt: str) -> str:
    """Return what goes behind a prompt so that the model answers at once: nothing where it would do so anyway."""
    if prompt.endswith(_CHANNEL_OPEN):
        return _FINAL_CHANNEL
    tag = opened_by(prompt)
    return f"\n{tag[0]}/{tag[1:]}\n\n" if tag else ""
