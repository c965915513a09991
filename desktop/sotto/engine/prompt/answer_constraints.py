"""Constraints of answers: a grammar, or tool calls that a request demands, enforced token by token.

Where the model thinks first, the constrained part follows the thought.
"""

from dataclasses import dataclass, replace

from sotto.engine.contract.requests import GenerateRequest, Grammar, Think
from sotto.engine.grammar.grammars import Rules
from sotto.engine.grammar.guides import Guide, Vocabulary
from sotto.engine.grammar.lark_texts import split_marks
from sotto.engine.grammar.lead import Lead
from sotto.engine.parsing.families import Family, Thoughts
from sotto.engine.parsing.forcing import calls_rules
from sotto.engine.parsing.lead_reader import lead_of
from sotto.engine.prompt.forced_calls import wanted_tools
from sotto.engine.prompt.templates import ChatTemplate
from sotto.engine.tokens.tokenizer import Tokenizer
from sotto.errors import InvalidRequestError


@dataclass(frozen=True, slots=True)
class Constraint:
    """The constraint of one answer.

    Attributes:
        guide: Says which tokens it may begin with.
        lead: What may come before the constrained part; None for nothing.
    """

    guide: Guide
    lead: Lead | None


@dataclass(frozen=True, slots=True)
class PromptEnd:
    """What constraints need to know about the end of a prompt.

    Attributes:
        text: The rendered conversation, up to the answer.
        opened: The thought inside which the prompt ends; None where it ends outside of thoughts.
        begun: Whether the prompt ends with the beginning of the answer, thoughts included.
        answer: The beginning of the answer, without thoughts.
    """

    text: str
    opened: Thoughts | None
    begun: bool
    answer: str


class Constraints:
    """Constrains the answers of one model."""

    def __init__(self, family: Family, template: ChatTemplate, tokenizer: Tokenizer, rows: int) -> None:
        """Take what the constraints of a model depend on.

        Args:
            family: How the model marks thoughts and tool calls.
            template: The model's chat template.
            tokenizer: The model's tokenizer.
            rows: How many tokens the model has logits for.
        """
        self._family, self._template, self._tokenizer = family, template, tokenizer
        self._vocabulary = Vocabulary(tokenizer, rows)

    def of(self, request: GenerateRequest, prompt: PromptEnd) -> Constraint | None:
        """Return the constraint of the answer to a request; None where it may be anything.

        Raises:
            InvalidRequestError: It cannot be guaranteed, or the answer's beginning in the prompt violates it.
            UnsupportedModelError: The model's vocabulary does not say how its tokens are spelled.
        """
        wanted = request.grammar or self._calls(request)
        if wanted is None:
            return None
        lead = None if request.prompt is not None else self._lead(request, prompt, wanted)
        if lead is None:
            return Constraint(self._vocabulary.guide(wanted, prompt.answer), None)
        return Constraint(self._vocabulary.guide(wanted, lead=lead), lead)

    def encode(self, text: str) -> list[int]:
        """Return tokens that spell a text exactly, as grammar rules demand of text that replaces sampled tokens.

        A plain encoding may add a space before the text, or after a special token.
        """
        tokens = self._tokenizer.encode(text, add_bos=False)
        if b"".join(map(self._tokenizer.token_bytes, tokens)) == text.encode():
            return tokens
        special, found = self._tokenizer.special, list[int]()
        for part in split_marks(text, special):
            found += [special[part]] if part in special else self._vocabulary.spelling(part)
        return found

    def _calls(self, request: GenerateRequest) -> Rules | None:
        """Return the grammar rules for the tool calls that the answer must consist of; None where it need not."""
        choice = request.tool_choice
        if choice is None or not choice.required:
            return None
        tools = wanted_tools(request.tools, choice)
        shown, tokens = self._template.text or self._tokenizer.added, self._tokenizer.special
        rules = calls_rules(self._family, shown, tools, tokens, choice.name, single=choice.single)
        if rules is None:
            raise InvalidRequestError(
                f"{choice.name}: a call cannot be guaranteed in the way in which this model makes calls; "
                "leave the choice to the model."
            )
        return rules

    def _lead(self, request: GenerateRequest, prompt: PromptEnd, wanted: Grammar | Rules) -> Lead | None:
        """Return what may come before the constrained part of an answer; None where it comes at once."""
        over = prompt.text.rstrip().endswith(tuple(pair.closes for pair in self._family.thoughts))
        if over or request.think is Think.OFF or not self._family.thinks or (prompt.begun and prompt.opened is None):
            return None
        lead = lead_of(self._family, prompt.opened, calls=isinstance(wanted, Rules))
        # An answer that may begin like a thought could be mistaken for one, so the thought is required.
        if request.think is None and not (lead.opened or self._vocabulary.allows(wanted, lead.opens)):
            return lead
        return replace(lead, needed=True)


def check_conflicts(request: GenerateRequest) -> None:
    """Refuse a request whose other fields conflict with the constraint of its answer.

    Raises:
        InvalidRequestError: Another field says what the answer is or where it ends.
    """
    choice = request.tool_choice if request.must_call else None
    names = [constraint.name for constraint in (request.grammar, choice) if constraint is not None]
    if not names:
        return
    if len(names) > 1:
        raise InvalidRequestError(
            f"An answer cannot be what both {' and '.join(names)} ask for: leave one of them out."
        )
    if request.prompt is not None and choice is not None:
        raise InvalidRequestError(f"{names[0]} cannot be combined with a raw prompt, which has no tools: leave it out.")
    if request.sampling is None and request.options.get("stop"):
        raise InvalidRequestError(
            f"stop would cut an answer short that {names[0]} asks for whole: leave one of them out."
        )
    if request.ignore_eos:
        raise InvalidRequestError(f"ignore_eos cannot be combined with {names[0]}: leave one of them out.")
