"""What an answer must be, from a request to what says so token by token: a grammar's text, or calls of tools.

Either stands behind a thought where the model thinks first.
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
    """What holds one answer to what it must be.

    Attributes:
        guide: Says which tokens it may begin with.
        lead: What may stand in front of it; None for nothing.
    """

    guide: Guide
    lead: Lead | None


@dataclass(frozen=True, slots=True)
class Prompted:
    """A prompt, as far as it matters here.

    Attributes:
        text: What asks for the answer.
        opened: The thought that it ends inside of; None for none.
        begun: Whether it ends with some of the answer, thoughts included.
        said: What there is of the answer itself.
    """

    text: str
    opened: Thoughts | None
    begun: bool
    said: str


class Constraints:
    """Holds answers of one model to what they must be."""

    def __init__(self, family: Family, template: ChatTemplate, tokenizer: Tokenizer, rows: int) -> None:
        """Start without anything read.

        Args:
            family: How the model marks thoughts and calls.
            template: The model's.
            tokenizer: The model's.
            rows: How many tokens the model has scores for.
        """
        self._family, self._template, self._tokenizer = family, template, tokenizer
        self._vocabulary = Vocabulary(tokenizer, rows)

    def of(self, request: GenerateRequest, prompt: Prompted) -> Constraint | None:
        """Return what holds an answer; None where it may be anything.

        Raises:
            InvalidRequestError: What it must be cannot be guaranteed, or what there is does not begin so.
            UnsupportedModelError: The model's vocabulary does not say what each token is.
        """
        wanted = request.grammar or self._calls(request)
        if wanted is None:
            return None
        lead = None if request.prompt is not None else self._lead(request, prompt, wanted)
        if lead is None:
            return Constraint(self._vocabulary.guide(wanted, prompt.said), None)
        return Constraint(self._vocabulary.guide(wanted, lead=lead), lead)

    def encode(self, text: str) -> list[int]:
        """Return tokens that spell a text exactly, for what is written in a model's place: rules take nothing else.

        Tokenizers may put a space in front of a text, or behind a special token.
        """
        tokens = self._tokenizer.encode(text, add_bos=False)
        if b"".join(map(self._tokenizer.spelled, tokens)) == text.encode():
            return tokens
        special, found = self._tokenizer.special, list[int]()
        for part in split_marks(text, special):
            found += [special[part]] if part in special else self._vocabulary.spelling(part)
        return found

    def _calls(self, request: GenerateRequest) -> Rules | None:
        """Return the rules of the calls that an answer must be, if it must be calls."""
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

    def _lead(self, request: GenerateRequest, prompt: Prompted, wanted: Grammar | Rules) -> Lead | None:
        """Return what may stand in front of what an answer must be; None where it begins with that at once."""
        over = prompt.text.rstrip().endswith(tuple(pair.closes for pair in self._family.thoughts))
        if over or request.think is Think.OFF or not self._family.thinks or (prompt.begun and prompt.opened is None):
            return None
        lead = lead_of(self._family, prompt.opened, calls=isinstance(wanted, Rules))
        # What begins like a thought could be taken for one.
        if request.think is None and not (lead.opened or self._vocabulary.allows(wanted, lead.opens)):
            return lead
        return replace(lead, needed=True)


def check_alone(request: GenerateRequest) -> None:
    """Refuse what an answer that must be something cannot be had with.

    Raises:
        InvalidRequestError: Something else is to say what the answer is or where it ends.
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
        raise InvalidRequestError(f"{names[0]} cannot be had with a raw prompt, which tells of no tools: leave it out.")
    if request.sampling is None and request.options.get("stop"):
        raise InvalidRequestError(
            f"stop would cut an answer short that {names[0]} asks for whole: leave one of them out."
        )
    if request.ignore_eos:
        raise InvalidRequestError(f"ignore_eos cannot be had with {names[0]}: leave one of them out.")
