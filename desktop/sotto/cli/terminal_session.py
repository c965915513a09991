"""A model that a terminal command loads and asks on its main thread."""

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from sotto.cli.interrupts import until_interrupt
from sotto.cli.loading import clear_progress, show_notes, show_progress
from sotto.cli.model_opening import open_draft, open_target, settings_with
from sotto.cli.printing import LOOPED
from sotto.engine.contract.events import DoneReason, Finished, GenerateEvent, ModelInfo
from sotto.engine.contract.options import DEFAULT_MAX_TOKENS, RequestOptions, request_options
from sotto.engine.contract.requests import GenerateRequest, Grammar, Message, Overflow
from sotto.engine.kernels import device
from sotto.engine.prompt.template_messages import DEFAULT_PROMPT_OPTIONS, PromptOptions
from sotto.engine.prompt.templates import ChatTemplate
from sotto.store.records import ModelRecord, ModelSource
from sotto.store.user_templates import read_template_file


class Session:
    """A model and the options of its requests. Use it in a `with` statement."""

    def __init__(
        self,
        target: str,
        overrides: Mapping[str, Any],
        overflow: Overflow = Overflow.ERROR,
        draft: str | None = None,
        adapters: Sequence[str] | None = None,
        template: str | None = None,
        grammar: Grammar | None = None,
        prompt_options: PromptOptions = DEFAULT_PROMPT_OPTIONS,
    ) -> None:
        """Find and open `target`, without loading it yet.

        Args:
            target: A name, a manifest file or a folder.
            overrides: Options that take precedence over the model's own, named as in Ollama's API.
            overflow: What to do when the context is full.
            draft: A draft model, named like `target`, `own` or `none`; None for none.
            adapters: Adapters, as `open_target` takes them.
            template: A file with a chat template, Jinja or Go; None for the model's own.
            grammar: The grammar of answers; None for free text.
            prompt_options: The tools, and whether the model thinks first.

        Raises:
            SottoError: There is no such model, it cannot run, or an option is out of range.
        """
        self.source: ModelSource = open_target(target, adapters)
        if template is not None:
            text = read_template_file(Path(template))
            ChatTemplate.custom(text)
            self.source = replace(self.source, user_template=text)
        self.record: ModelRecord = self.source.record
        self._draft = open_draft(draft, self.source)
        self._settings = settings_with(draft)
        self.options: RequestOptions = request_options(self.source.params, overrides)
        self.interrupted = threading.Event()
        self._overflow, self._grammar, self._prompt_options = overflow, grammar, prompt_options
        # Without --num-ctx, the engine uses the context of the manifest, or less if memory is short.
        self._limited = "num_predict" in overrides
        self._num_ctx: int | None = self.options.num_ctx if "num_ctx" in overrides else None

    def __enter__(self) -> Self:
        device.prepare()
        from sotto.engine.engine import Engine

        self._engine = Engine(self._settings)
        return self

    def __exit__(self, *_: object) -> None:
        self._engine.close()

    def load(self, *, raw: bool = False) -> ModelInfo:
        """Load the model, with progress and notes on stderr.

        Args:
            raw: Whether prompts are fed as they are, so that notes about the template do not matter.

        Raises:
            SottoError: It cannot be loaded, or Ctrl-C was pressed.
        """
        with until_interrupt(self.interrupted):
            try:
                info = self._engine.load(
                    self.source,
                    num_ctx=self._num_ctx,
                    progress=show_progress,
                    cancelled=self.interrupted.is_set,
                    draft=self._draft,
                )
            finally:
                clear_progress()
        show_notes(info, raw=raw)
        return info

    def ask(
        self, messages: tuple[Message, ...] = (), prompt: str | None = None, logprobs: int | None = None
    ) -> Iterator[GenerateEvent]:
        """Generate from a conversation, or from a raw `prompt`; Ctrl-C ends the answer as cancelled.

        Args:
            messages: The conversation.
            prompt: A raw prompt to continue instead.
            logprobs: How many of the likeliest tokens to report with each token and its log-probability; None for none.

        Raises:
            InvalidRequestError: The prompt is empty or longer than the context.
        """
        request = GenerateRequest(
            id="terminal",
            messages=messages,
            prompt=prompt,
            sampling=self.options.sampling,
            num_predict=self.options.num_predict,
            stop=self.options.stop,
            overflow=self._overflow,
            loop_guard=self.options.loop_guard,
            logprobs=logprobs,
            grammar=self._grammar,
            tools=self._prompt_options.tools,
            tool_choice=self._prompt_options.choice,
            think=self._prompt_options.think,
            think_budget=self._prompt_options.budget,
        )
        with until_interrupt(self.interrupted):
            yield from self._engine.generate(self._engine.prepare(request), self.interrupted.is_set)

    def cut_short(self, end: Finished) -> str:
        """Return a sentence that says why an answer was cut short.

        Returns:
            An empty text if the answer is complete, or has the requested length and no grammar.
        """
        if end.done_reason is DoneReason.LOOP:
            return LOOPED
        if end.done_reason is not DoneReason.LENGTH or (self._limited and self._grammar is None):
            return ""
        count, most = len(end.token_ids), self.options.num_predict or DEFAULT_MAX_TOKENS
        if 0 < most <= count:
            return f"The answer was cut short at {count:,} tokens; --num-predict N sets the limit."
        return "The answer was cut short because the context is full; --num-ctx N sets its length."


def system_messages(system: str | None) -> tuple[Message, ...]:
    """Return the messages that begin a conversation: none for the model's own system prompt; `""` means no prompt."""
    return () if system is None else (Message("system", system),)
