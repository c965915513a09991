"""How models mark thoughts and calls of tools, and which of that a model does.

A model is told by its chat template how to call tools, so the markers in the template count. Where it has none, those
that are tokens of the vocabulary do: a model that was taught a format mostly got tokens for it. Names of models say
nothing here. Facts are from the chat templates and tokenizers that the models were published with.
"""

from collections.abc import Collection
from dataclasses import dataclass

from sotto.engine.parsing import calls, tagged_calls
from sotto.engine.parsing.calls import CallReader
from sotto.engine.parsing.harmony import ANALYSIS, CLOSING, FINAL


@dataclass(frozen=True, slots=True)
class Thoughts:
    """A pair of tags around a thought.

    Attributes:
        opens: What stands in front of it.
        closes: What stands behind it.
        lines: Whether the tags stand on lines of their own, as templates write them.
    """

    opens: str
    closes: str
    lines: bool = True

    @property
    def begin(self) -> str:
        """What is written to begin a thought."""
        return f"{self.opens}\n" if self.lines else self.opens

    @property
    def end(self) -> str:
        """What is written to end a thought that is under way."""
        return f"\n{self.closes}\n\n" if self.lines else self.closes

    @property
    def nothing(self) -> str:
        """A thought that is none, after which the answer itself begins."""
        return self.begin + self.end


@dataclass(frozen=True, slots=True)
class Calls:
    """A way of calling tools.

    Attributes:
        opens: What the calls begin with.
        read: Reads what stands behind that.
        signs: What shows in a template that a model calls so; usually what opens the calls.
        marks: Other texts of this way that are special tokens in some vocabularies.
        anywhere: Whether it is recognised in the middle of code too, being no text that anybody would write there.
        first: Whether it is recognised at the beginning of the answer only, and only where tools were given.
    """

    opens: str
    read: CallReader
    signs: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    anywhere: bool = False
    first: bool = False


@dataclass(frozen=True, slots=True)
class Family:
    """How a model marks what it writes.

    Attributes:
        thoughts: Tags around thoughts, the model's own first.
        thinks: Whether template or vocabulary show that the model thinks.
        calls: Ways of calling tools.
        dropped: Texts that mean nothing to a reader.
        harmony: Whether an answer is a list of messages, each with a channel; there are no calls to look for then.
    """

    thoughts: tuple[Thoughts, ...] = ()
    calls: tuple[Calls, ...] = ()
    dropped: tuple[str, ...] = ()
    thinks: bool = False
    harmony: bool = False

    @property
    def marks(self) -> frozenset[str]:
        """All texts that must be seen even where they are special tokens."""
        if self.harmony:
            return frozenset(_HARMONY_MARKS)
        tags = (tag for pair in self.thoughts for tag in (pair.opens, pair.closes))
        return frozenset((*tags, *self.dropped, *(mark for way in self.calls for mark in (way.opens, *way.marks))))

    def opened_by(self, prompt: str) -> Thoughts | None:
        """Return the thought that a prompt ends inside of, because that is how it asks for an answer."""
        end = prompt[-64:].rstrip()
        return next((pair for pair in self.thoughts if end.endswith(pair.opens)), None)

    def at_once(self, prompt: str) -> str:
        """Return what goes behind a prompt so that the model answers at once; nothing where it could do so anyway."""
        if self.harmony and prompt.endswith("<|start|>assistant"):
            return FINAL
        opened = self.opened_by(prompt)
        return opened.end if opened is not None else ""


_HARMONY_MARKS = ("<|start|>", "<|channel|>", "<|message|>", "<|constrain|>", "<|end|>", "<|call|>", "<|return|>")

# Tags that many models share; some use them though neither template nor vocabulary says so.
_COMMON_THOUGHTS = (
    Thoughts("<think>", "</think>"),
    Thoughts("<thinking>", "</thinking>"),
    Thoughts("<thought>", "</thought>"),
    Thoughts("<reasoning>", "</reasoning>"),
    Thoughts("[THINK]", "[/THINK]", lines=False),
)
_OTHER_THOUGHTS = (
    Thoughts("<seed:think>", "</seed:think>", lines=False),
    Thoughts("<mm:think>", "</mm:think>", lines=False),
    Thoughts("<|channel>thought", "<channel|>"),  # Gemma 4
    Thoughts("<|START_THINKING|>", "<|END_THINKING|>", lines=False),  # Command R
    Thoughts("Here are my reasoning steps:", "[BEGIN FINAL RESPONSE]"),  # Apriel
)
_DROPPED = (
    "<response>",  # Granite 3
    "</response>",
    "[END FINAL RESPONSE]",
    "<|START_RESPONSE|>",
    "<|END_RESPONSE|>",
)
# Hermes, Qwen, Granite 4 and many more in JSON, Qwen3-Coder, Nemotron 3 and StepFun as functions, GLM in pairs.
_COMMON_CALLS = (
    Calls("<tool_call>", tagged_calls.in_tool_call("</tool_call>")),
    Calls("<function_call>", calls.in_json("</function_call>")),
)
_OTHER_CALLS = (
    # Llama 3.1 for tools of one's own; Functionary 3.1, Qwen3-Coder.
    Calls("<function=", tagged_calls.functions),
    Calls("<|python_tag|>", calls.llama, anywhere=True),
    Calls("{", calls.bare, signs=('"parameters": dictionary of argument name',), first=True),
    Calls("[TOOL_CALLS]", calls.mistral, marks=("[CALL_ID]", "[ARGS]"), anywhere=True),
    # Gemma 4, FunctionGemma, Gemma 3 as its makers tell to prompt it.
    Calls("<|tool_call>", calls.gemma("<tool_call|>"), marks=("<tool_call|>", '<|"|>'), anywhere=True),
    Calls(
        "<start_function_call>",
        calls.gemma("<end_function_call>"),
        marks=("<end_function_call>", "<escape>"),
        anywhere=True,
    ),
    Calls("```tool_code", calls.python("```", listed=False), signs=("<start_of_turn>",)),
    Calls(
        "<｜tool▁calls▁begin｜>",
        calls.deepseek,
        marks=("<｜tool▁calls▁end｜>", "<｜tool▁call▁begin｜>", "<｜tool▁call▁end｜>", "<｜tool▁sep｜>"),
        anywhere=True,
    ),
    *(
        Calls(f"<｜DSML｜{name}>", tagged_calls.invocations("｜DSML｜", f"</｜DSML｜{name}>"), signs=("｜DSML｜",))
        for name in ("function_calls", "tool_calls")
    ),
    # Granite 3, Phi 4 mini.
    Calls("<|tool_call|>", calls.in_json("<|/tool_call|>", optional=True), marks=("<|/tool_call|>",), anywhere=True),
    Calls("functools", calls.in_json(), signs=("functools[",)),  # Phi 4, FireFunction
    Calls(
        "<|tool_calls_section_begin|>",
        calls.kimi,
        marks=(
            "<|tool_calls_section_end|>",
            "<|tool_call_begin|>",
            "<|tool_call_argument_begin|>",
            "<|tool_call_end|>",
        ),
        anywhere=True,
    ),
    Calls("<minimax:tool_call>", tagged_calls.invocations("", "</minimax:tool_call>")),
    Calls("<tool_calls>", calls.in_json("</tool_calls>")),  # MiniMax M1, Apriel
    Calls("<seed:tool_call>", tagged_calls.in_tool_call("</seed:tool_call>")),
    Calls("<TOOLCALL>", calls.in_json("</TOOLCALL>")),  # Nemotron 2
    Calls("<|tools_prefix|>", calls.by_name("<|tools_suffix|>"), marks=("<|tools_suffix|>",), anywhere=True),  # Apertus
    Calls("<|START_ACTION|>", calls.in_json("<|END_ACTION|>"), marks=("<|END_ACTION|>",), anywhere=True),  # Command R
    Calls("<|function_call|>", calls.in_json(), anywhere=True),  # GigaChat
    Calls("<|tool_call_start|>", calls.python("<|tool_call_end|>", listed=True), marks=("<|tool_call_end|>",)),  # LFM 2
)

HARMONY = Family((Thoughts(ANALYSIS, CLOSING, lines=False),), thinks=True, harmony=True)
"""What gpt-oss writes."""

PLAIN = Family()
"""Nothing but text: what completes a raw prompt."""

KEPT = Family(_COMMON_THOUGHTS, _COMMON_CALLS)
"""The form in which answers are kept, see `pieces.markup`; answers from before that look nearly so."""


def family_of(template: str, tokens: Collection[str] = ()) -> Family:
    """Return how a model marks what it writes.

    Args:
        template: Its chat template; may be empty.
        tokens: Added tokens of its vocabulary.
    """
    if all(mark in (template or tokens) for mark in ("<|channel|>", "<|message|>")):
        return HARMONY
    in_template, by_tokens = (_shown_in(shown) for shown in (template, tokens))
    # A vocabulary may hold more than a model uses: what the template says goes first.
    own = in_template if in_template.thoughts else by_tokens
    others = tuple(pair for pair in _COMMON_THOUGHTS if pair not in own.thoughts)
    return Family(
        (*own.thoughts, *others),
        (*_COMMON_CALLS, *(in_template.calls or by_tokens.calls)),
        in_template.dropped or by_tokens.dropped,
        thinks=own.thinks,
    )


def _shown_in(shown: str | Collection[str]) -> Family:
    """Return what of all there is can be seen in a template, or among tokens."""
    thoughts = tuple(pair for pair in (*_OTHER_THOUGHTS, *_COMMON_THOUGHTS) if pair.opens in shown)
    return Family(
        thoughts,
        tuple(way for way in _OTHER_CALLS if any(sign in shown for sign in way.signs or (way.opens,))),
        tuple(text for text in _DROPPED if text in shown),
        thinks=bool(thoughts),
    )
