"""The answer options that are numbers: their ranges, their explanations, and the values that they inherit."""

from collections.abc import Mapping
from typing import Any

from sotto.engine.contract.options import DEFAULT_MAX_TOKENS
from sotto.engine.contract.requests import SamplingOptions
from sotto.ui.preferences.answer_options import is_format_option, is_think_option
from sotto.ui.toolkit.number import Inherited, Number, Origin, is_number
from sotto.ui.toolkit.translation import QT_TR_NOOP, tr

_DEFAULTS = SamplingOptions()
_MAX_INT = 2**31 - 1
# fmt: off
THINK_BUDGET = Number("think_budget", QT_TR_NOOP("Max thinking tokens"), 0, _MAX_INT, 256, 0,
                      QT_TR_NOOP("In tokens; then thinking ends"), QT_TR_NOOP("no limit"))
COMMON_NUMBERS = (
    Number("temperature", QT_TR_NOOP("Temperature"), 0, 5, 0.1, 2,
           QT_TR_NOOP("0 always picks the most likely token; higher is more varied")),
    Number("top_p", QT_TR_NOOP("Top-p"), 0, 1, 0.05, 2,
           QT_TR_NOOP("Samples from the most likely tokens up to this total probability")),
    Number("top_k", QT_TR_NOOP("Top-k"), 0, 1000, 5, 0,
           QT_TR_NOOP("Samples from this many of the most likely tokens; 0 from all")),
    Number("min_p", QT_TR_NOOP("Min-p"), 0, 1, 0.01, 2,
           QT_TR_NOOP("Excludes tokens below this fraction of the highest probability")),
    Number("typical_p", QT_TR_NOOP("Typical-p"), 0, 1, 0.05, 2,
           QT_TR_NOOP("Excludes tokens that are unusually likely or unlikely")),
    Number("xtc_probability", QT_TR_NOOP("XTC"), 0, 1, 0.1, 2,
           QT_TR_NOOP("How often the most likely tokens are excluded, for variety")),
    Number("repeat_penalty", QT_TR_NOOP("Repeat penalty"), 0, 5, 0.05, 2, QT_TR_NOOP("Above 1 repeats less")),
    Number("dry_multiplier", QT_TR_NOOP("DRY"), 0, 5, 0.1, 2, QT_TR_NOOP("Above 0 avoids repeating whole passages")),
    Number("seed", QT_TR_NOOP("Seed"), 0, _MAX_INT, 1, 0,
           QT_TR_NOOP("The same seed gives the same answer"), QT_TR_NOOP("random"), grouped=False),
    Number("num_predict", QT_TR_NOOP("Max response tokens"), 1, _MAX_INT, 64, 0,
           QT_TR_NOOP("In tokens"), str(DEFAULT_MAX_TOKENS), QT_TR_NOOP("no limit")),
    THINK_BUDGET,
)
ADVANCED_NUMBERS = (
    Number("presence_penalty", QT_TR_NOOP("Presence penalty"), -100, 100, 0.1, 2,
           QT_TR_NOOP("Subtracted once from tokens that have occurred")),
    Number("frequency_penalty", QT_TR_NOOP("Frequency penalty"), -100, 100, 0.1, 2,
           QT_TR_NOOP("Subtracted for each time that a token has occurred")),
    Number("repeat_last_n", QT_TR_NOOP("Penalty window"), -1, _MAX_INT, 16, 0,
           QT_TR_NOOP("The penalties cover this many of the last tokens; -1 for the whole context, 0 for none")),
    Number("xtc_threshold", QT_TR_NOOP("XTC threshold"), 0, 1, 0.05, 2,
           QT_TR_NOOP("XTC excludes tokens at or above this probability")),
    Number("dry_base", QT_TR_NOOP("DRY base"), 1, 100, 0.25, 2,
           QT_TR_NOOP("How fast the DRY penalty grows with the repeated length")),
    Number("dry_allowed_length", QT_TR_NOOP("DRY length"), 1, _MAX_INT, 1, 0,
           QT_TR_NOOP("In tokens; shorter passages may repeat")),
    Number("dry_penalty_last_n", QT_TR_NOOP("DRY window"), -1, _MAX_INT, 64, 0,
           QT_TR_NOOP("DRY covers this many of the last tokens; -1 for the whole context, 0 for none")),
    Number("mirostat", QT_TR_NOOP("Mirostat"), 0, 2, 1, 0,
           QT_TR_NOOP("Version 1 or 2, which replaces the options that exclude tokens; 0 is off")),
    Number("mirostat_tau", QT_TR_NOOP("Mirostat tau"), 0, 100, 0.5, 2,
           QT_TR_NOOP("How surprising each token should be, in bits")),
    Number("mirostat_eta", QT_TR_NOOP("Mirostat eta"), 0, 1, 0.05, 2, QT_TR_NOOP("How fast mirostat adapts")),
)
"""Options that few people need."""
ALL_NUMBERS = (*COMMON_NUMBERS, *ADVANCED_NUMBERS)
CONTEXT_LENGTH = Number("num_ctx", QT_TR_NOOP("Context length"), 4, _MAX_INT, 1024, 0,
                        QT_TR_NOOP("In tokens"), QT_TR_NOOP("the model’s maximum"))
# fmt: on


def inherited_value(number: Number, chosen: Mapping[str, Any], model: Mapping[str, Any]) -> Inherited:
    """Return the value of an option that a chat does not set.

    Args:
        number: The option.
        chosen: The options that the user set for all chats, under Ollama's names.
        model: The options of the model's manifest, under the same names.
    """
    for options, origin in ((chosen, Origin.SETTINGS), (model, Origin.MODEL)):
        value = options.get(number.name)
        # A model's manifest may contain a value that the field does not accept; it still applies.
        if is_number(value):
            below = tr(number.below or number.unset) if value < number.least else ""
            return Inherited(None if below else value, origin, below or number.format(value))
    default = getattr(_DEFAULTS, number.name, None)
    return Inherited(default, Origin.DEFAULT, tr(number.unset) if default is None else number.format(default))


def valid_options(options: object) -> dict[str, Any]:
    """Return the known options that have valid values."""
    if not isinstance(options, Mapping):
        return {}
    checks = {number.name: number.fits for number in ALL_NUMBERS}
    checks |= {"think": is_think_option, "format": is_format_option}
    return {name: options[name] for name, is_valid in checks.items() if is_valid(options.get(name))}
