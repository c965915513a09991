"""A sandbox for Jinja templates that came with a downloaded model, with limits of time, memory and access.

Access: Jinja's own sandbox keeps a template from private attributes and from changing its variables. There is no
loader, so no file can be included, and only harmless methods of Python's types can be called.

Time and memory: a short template can use much of both, so there are limits (`template_bounds.py`). Values are weighed
when they are built, and iterators while they are read. Operations whose result can be far larger than their operands
are checked before they run (`template_checks.py`). The time is checked at every operation, call, output and iteration,
and at every token and node while a template is compiled.

The hooks are Jinja's own: operators and calls are methods of a sandboxed environment, filters are functions, and output
passes through `finalize`. Where there is no hook (literals, `~`, slices, loops), the parsed template is changed to call
one.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from functools import cached_property
from typing import Any, NoReturn

import jinja2
from jinja2 import meta, nodes
from jinja2.compiler import CodeGenerator
from jinja2.ext import Extension, loopcontrols
from jinja2.filters import FILTERS
from jinja2.lexer import Token
from jinja2.parser import Parser
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import Namespace
from jinja2.visitor import NodeTransformer

from sotto.engine.prompt.template_bounds import TemplateBoundsError, bounded, current
from sotto.engine.prompt.template_checks import (
    check_arguments,
    check_date,
    check_format,
    check_operation,
    wrap_filter,
)

# The longest template in use has 20,000 characters.
MAX_TEMPLATE_LENGTH = 2**17

# fmt: off
_STR_METHODS = frozenset(
    {
        "capitalize", "casefold", "center", "count", "endswith", "find", "format", "index", "isalnum",
        "isalpha", "isascii", "isdecimal", "isdigit", "islower", "isnumeric", "isprintable", "isspace",
        "istitle", "isupper", "join", "ljust", "lower", "lstrip", "partition", "removeprefix", "removesuffix",
        "replace", "rfind", "rindex", "rjust", "rpartition", "rsplit", "rstrip", "split", "splitlines",
        "startswith", "strip", "swapcase", "title", "upper", "zfill",
    }
)
# fmt: on
_CONTAINER_METHODS = frozenset({"copy", "count", "get", "index", "items", "keys", "values"})
# Slow, random, or useless in a prompt.
_LEFT_OUT = ("filesizeformat", "pprint", "random", "striptags", "urlize", "wordwrap", "xmlattr")


class TemplateRefusedError(Exception):
    """A template refuses a conversation by calling `raise_exception`."""


class SandboxedTemplate:
    """A compiled template."""

    def __init__(self, text: str) -> None:
        """Compile a template.

        Raises:
            jinja2.TemplateError: It is not a valid template.
            TemplateBoundsError: It is too long, nested too deeply, or takes too long to compile.
        """
        if len(text) > MAX_TEMPLATE_LENGTH:
            raise TemplateBoundsError(f"it is longer than {MAX_TEMPLATE_LENGTH} characters")
        self._text = text
        with bounded({}), _plain_errors():
            self._template = _ENVIRONMENT.from_string(text)

    @cached_property
    def variables(self) -> frozenset[str]:
        """Names that it looks up and does not set itself. Finding them takes a while, so it is done on first access.

        Raises:
            TemplateBoundsError: That computes too much.
        """
        with bounded({}), _plain_errors():
            names = _NameFinder(_ENVIRONMENT)
            names.visit(_ENVIRONMENT.parse(self._text))
            return frozenset(names.undeclared_identifiers)

    def render(self, variables: Mapping[str, Any]) -> str:
        """Return the text for `variables`, which are plain values as in JSON.

        Raises:
            TemplateRefusedError: The template calls `raise_exception`.
            TemplateBoundsError: It exceeds the limits of `template_bounds`.
            jinja2.TemplateError: It does something forbidden or impossible.
        """
        with bounded(variables), _plain_errors():
            return _join(self._template.root_render_func(self._template.new_context(dict(variables))))


@contextmanager
def _plain_errors() -> Iterator[None]:
    """Turn every error into one of those that this module documents."""
    try:
        yield
    except (TemplateRefusedError, TemplateBoundsError, jinja2.TemplateError):
        raise
    except (RecursionError, MemoryError, SyntaxError) as error:
        # Python's compiler reports its own limits of nesting as syntax errors.
        raise TemplateBoundsError("it is nested too deeply") from error
    except Exception as error:
        # Errors of an expression, like adding a text to a number or indexing an empty list.
        raise jinja2.TemplateRuntimeError(f"{type(error).__name__}: {error}") from error


class _CodeGenerator(CodeGenerator):
    """Jinja's compiler, which stops when the time is up."""

    def get_visitor(self, node: nodes.Node) -> Callable[..., Any] | None:
        """Check the time at each node."""
        current.get().check_time()
        return super().get_visitor(node)


class _NameFinder(_CodeGenerator, meta.TrackingCodeGenerator):
    """Jinja's finder of names that a template looks up, which stops when the time is up."""


class _Environment(ImmutableSandboxedEnvironment):
    """Hugging Face's dialect of Jinja, with limits on everything that can grow."""

    intercepted_binops = frozenset({"+", "-", "*", "/", "//", "%", "**"})
    code_generator_class = _CodeGenerator

    def __init__(self) -> None:
        super().__init__(
            trim_blocks=True,
            lstrip_blocks=True,
            extensions=[_TimedTokens, _Generation, loopcontrols],
            finalize=_finalize,
            optimized=False,
        )
        filters = {**FILTERS, "tojson": _tojson}
        self.filters = {name: wrap_filter(name, call) for name, call in filters.items() if name not in _LEFT_OUT}
        del self.globals["lipsum"]
        self.globals.update(
            dict=_make_dict, namespace=_PublicNamespace, raise_exception=_refuse, strftime_now=_strftime_now
        )
        # `call` accounts for the results of calls, so these functions need not.
        self.take = _same
        self.iterate = iter
        self.concatenate = _concatenate

    @staticmethod
    def concat(parts: Iterable[str]) -> str:
        """Join the output of a template, macro or block."""
        return _join(parts)

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        """Return whether a template may see an attribute."""
        if isinstance(obj, str):
            return attr in _STR_METHODS
        if isinstance(obj, Mapping | list | tuple | set | frozenset):
            return attr in _CONTAINER_METHODS
        if isinstance(obj, int | float | complex | bytes | type):
            return False
        return bool(super().is_safe_attribute(obj, attr, value))

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Compute `left operator right`."""
        check_operation(operator, left, right)
        return current.get().take(super().call_binop(context, operator, left, right))

    def call(__self, __context: Context, __obj: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N805
        """Call a function for a template. Parameters have Jinja's mangled names, which no keyword argument can take."""
        bounds = current.get()
        bounds.check_time()
        owner = getattr(__obj, "__self__", None)
        if isinstance(owner, str):
            args = check_arguments(__obj.__name__, owner, args)
        return bounds.take(super().call(__context, __obj, *args, **kwargs))

    def wrap_str_format(self, value: Any) -> Callable[..., str] | None:
        """Return a safe replacement for a string's `format` method, or None if `value` is something else."""
        wrapped = super().wrap_str_format(value)
        if wrapped is not None:
            check_format(value.__self__)
        return wrapped

    def _generate(self, source: nodes.Template, *args: Any, **kwargs: Any) -> str:
        return super()._generate(_HookCalls().visit(source), *args, **kwargs)


class _HookCalls(NodeTransformer):
    """Wraps nodes for which Jinja has no hook in calls of the environment's functions."""

    def visit_For(self, node: nodes.For) -> nodes.Node:
        """Check the time at each iteration of a loop."""
        self.generic_visit(node)
        node.iter = _environment_call("iterate", node.iter)
        return node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:
        """Compute `~`."""
        self.generic_visit(node)
        return _environment_call("concatenate", *node.nodes)

    def visit_Getitem(self, node: nodes.Getitem) -> nodes.Node:
        """Account for slices."""
        self.generic_visit(node)
        return _environment_call("take", node) if isinstance(node.arg, nodes.Slice) else node

    def visit_Tuple(self, node: nodes.Tuple) -> nodes.Node:
        """Account for tuples, except those that are targets of assignments."""
        self.generic_visit(node)
        return _environment_call("take", node) if node.ctx == "load" else node

    def visit_List(self, node: nodes.List | nodes.Dict) -> nodes.Node:
        """Account for lists and dictionaries."""
        self.generic_visit(node)
        return _environment_call("take", node)

    visit_Dict = visit_List  # noqa: N815 - Jinja's name for it


class _TimedTokens(Extension):
    """Checks the time at each token that is parsed."""

    def filter_stream(self, stream: Iterable[Token]) -> Iterator[Token]:
        """Pass the tokens on."""
        for token in stream:
            current.get().check_time()
            yield token


class _Generation(Extension):
    """`{% generation %}`, which marks the assistant's text for training; its body is rendered as it is."""

    tags = {"generation"}  # noqa: RUF012 - Jinja declares it so

    def parse(self, parser: Parser) -> nodes.Node:
        """Read up to `{% endgeneration %}`."""
        line = next(parser.stream).lineno
        return nodes.Scope(parser.parse_statements(("name:endgeneration",), drop_needle=True), lineno=line)


class _PublicNamespace(Namespace):
    """A namespace without names that begin with an underscore."""

    def __init__(*args: Any, **kwargs: Any) -> None:
        # `self` is not a named parameter, as a template may call one of its names `self`.
        self, *given = args
        attributes = dict(*given, **kwargs)
        for name in attributes:
            _check_public(name)
        Namespace.__init__(self, attributes)

    def __setitem__(self, name: str, value: Any) -> None:
        _check_public(name)
        super().__setitem__(name, value)


def _environment_call(name: str, *arguments: nodes.Node) -> nodes.Call:
    """Return an expression that calls a function of the environment."""
    return nodes.Call(nodes.EnvironmentAttribute(name), [*arguments], [], None, None, lineno=arguments[0].lineno)


def _same(value: Any) -> Any:
    return value


def _make_dict(*args: Any, **kwargs: Any) -> dict[Any, Any]:
    return dict(*args, **kwargs)


def _refuse(message: object) -> NoReturn:
    raise TemplateRefusedError(str(message))


def _strftime_now(form: str) -> str:
    check_date(form)
    return datetime.now().strftime(form)


def _tojson(
    value: Any,
    ensure_ascii: bool = False,
    indent: int | str | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    encoder = json.JSONEncoder(ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)
    return _join(encoder.iterencode(value))


def _finalize(value: Any) -> Any:
    """Check a value before it is output."""
    bounds = current.get()
    bounds.check_time()
    weight = bounds.weight_of(value)
    bounds.check(weight)
    bounds.spend(weight)
    return value


def _concatenate(*parts: Any) -> str:
    bounds = current.get()
    bounds.weigh(parts)
    return "".join(map(str, parts))


def _join(parts: Iterable[str]) -> str:
    bounds = current.get()
    length = 0
    pieces = []
    for part in parts:
        length += len(part)
        bounds.check(length)
        bounds.check_time()
        pieces.append(part)
    return "".join(pieces)


def _check_public(name: object) -> None:
    if isinstance(name, str) and name.startswith("_"):
        raise jinja2.exceptions.SecurityError(f"a namespace cannot hold {name!r}")


_ENVIRONMENT = _Environment()
