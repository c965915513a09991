"""How answers are drawn: the numbers that a person can choose, and where each choice comes from."""

from collections.abc import Mapping
from typing import Any

from sotto.engine.contract.options import USUAL_LENGTH
from sotto.engine.contract.requests import SamplingOptions
from sotto.ui.preferences.answer_options import is_format, is_thinking
from sotto.ui.toolkit.number import Inherited, Number, Origin, is_number

_USUAL = SamplingOptions()
_WHOLE = 2**31 - 1
BUDGET = Number(
    "think_budget", "Longest thought", 0, _WHOLE, 256, 0, "In tokens; then the thought is ended", "no limit"
)
NUMBERS = (
    Number("temperature", "Temperature", 0, 5, 0.1, 2, "0 always takes the likeliest word; more is more varied"),
    Number("top_p", "Top-p", 0, 1, 0.05, 2, "Leaves out unlikely words beyond this share"),
    Number("top_k", "Top-k", 0, 1000, 5, 0, "Draws from so many of the likeliest words; 0 from all"),
    Number("min_p", "Min-p", 0, 1, 0.01, 2, "Leaves out words that are so much less likely than the likeliest"),
    Number("typical_p", "Typical-p", 0, 1, 0.05, 2, "Leaves out words far more or less likely than usual ones"),
    Number("xtc_probability", "XTC", 0, 1, 0.1, 2, "How often the likeliest words are left out, for other ones"),
    Number("repeat_penalty", "Repeat penalty", 0, 5, 0.05, 2, "More than 1 repeats less"),
    Number("dry_multiplier", "DRY", 0, 5, 0.1, 2, "More than 0 keeps from writing whole passages again"),
    Number("seed", "Seed", 0, _WHOLE, 1, 0, "The same seed gives the same answer", "random"),
    Number("num_predict", "Longest answer", 1, _WHOLE, 64, 0, "In tokens", str(USUAL_LENGTH), "no limit"),
    BUDGET,
)
_TAKES = "so many of the last tokens; -1 for the whole context, 0 for none"
MORE_NUMBERS = (
    Number("presence_penalty", "Presence penalty", -100, 100, 0.1, 2, "Taken once from words that have come already"),
    Number("frequency_penalty", "Frequency penalty", -100, 100, 0.1, 2, "Taken each time that a word has come already"),
    Number("repeat_last_n", "Penalty window", -1, _WHOLE, 16, 0, f"The penalties look at {_TAKES}"),
    Number("xtc_threshold", "XTC threshold", 0, 1, 0.05, 2, "From this probability on, XTC leaves words out"),
    Number("dry_base", "DRY base", 1, 100, 0.25, 2, "How fast DRY grows with the length of what is repeated"),
    Number("dry_allowed_length", "DRY length", 1, _WHOLE, 1, 0, "Shorter passages may be repeated, in tokens"),
    Number("dry_penalty_last_n", "DRY window", -1, _WHOLE, 64, 0, f"DRY looks at {_TAKES}"),
    Number("mirostat", "Mirostat", 0, 2, 1, 0, "1 or 2 draws by that version, in place of all that leaves words out"),
    Number("mirostat_tau", "Mirostat tau", 0, 100, 0.5, 2, "How surprising each word is to be, in bits"),
    Number("mirostat_eta", "Mirostat eta", 0, 1, 0.05, 2, "How fast mirostat corrects itself"),
)
"""What few people need."""
ALL_NUMBERS = (*NUMBERS, *MORE_NUMBERS)
CONTEXT = Number("num_ctx", "Context length", 4, _WHOLE, 1024, 0, "In tokens", "as the model has it")


def inherited(number: Number, chosen: Mapping[str, Any], model: Mapping[str, Any]) -> Inherited:
    """Return what holds for `number` where it is not set.

    Args:
        number: Which one.
        chosen: What a person chose for every chat, by Ollama's names.
        model: What the model's manifest says, by the same names.
    """
    for options, origin in ((chosen, Origin.SETTINGS), (model, Origin.MODEL)):
        value = options.get(number.name)
        # A model may ask for what no field takes; it holds all the same.
        if is_number(value):
            below = (number.below or number.unset) if value < number.least else ""
            return Inherited(None if below else value, origin, below or number.shown(value))
    usual = getattr(_USUAL, number.name, None)
    return Inherited(usual, Origin.USUAL, number.unset if usual is None else number.shown(usual))


def sensible(options: object) -> dict[str, Any]:
    """Return those of `options` that can have been chosen."""
    if not isinstance(options, Mapping):
        return {}
    fits = {one.name: one.fits for one in ALL_NUMBERS} | {"think": is_thinking, "format": is_format}
    return {name: options[name] for name, good in fits.items() if good(options.get(name))}
