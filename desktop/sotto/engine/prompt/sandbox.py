"""Run Jinja templates that came with a downloaded model, within bounds of time, memory and reach.

Reach: Jinja's own sandbox keeps a template from private attributes and from changing what it was given; there is no
loader, so no file can be included; and of Python's types only harmless methods can be called.

Time and memory: a template can ask for much with few characters, so it is held to bounds (`template_bounds.py`). Values
are weighed when they are built and iterators while they are read; operations that make much out of little are looked at
before they run (`template_checks.py`); and the time is looked at for every operation, call, output and turn of a loop.

The hooks are Jinja's own: operators and calls are methods of a sandboxed environment, filters are functions, outputs
pass through `finalize`. Where there is no hook (literals, `~`, slices, loops), the parsed template is made to call one.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from functools import cached_property
from typing import Any, NoReturn

import jinja2
from jinja2 import meta, nodes
from jinja2.ext import Extension, loopcontrols
from jinja2.filters import FILTERS
from jinja2.parser import Parser
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import Namespace
from jinja2.visitor import NodeTransformer

from sotto.engine.prompt.template_bounds import TemplateBoundsError, bounded, current
from sotto.engine.prompt.template_checks import (
    check_date,
    check_format,
    check_operation,
    checked_arguments,
    watched_filter,
)

# The longest template in use has 20,000 characters.
LONGEST_TEMPLATE = 2**17

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
# Slow, random, or without a use in a prompt.
_LEFT_OUT = ("filesizeformat", "pprint", "random", "striptags", "urlize", "wordwrap", "xmlattr")


class TemplateRefusedError(Exception):
    """A template itself says, by `raise_exception`, that it cannot render this conversation."""


class SandboxedTemplate:
    """A compiled template."""

    def __init__(self, text: str) -> None:
        """Compile a template.

        Raises:
            jinja2.TemplateError: It is no valid template.
            TemplateBoundsError: It is too long, nested too deeply, or computes too much already here.
        """
        if len(text) > LONGEST_TEMPLATE:
            raise TemplateBoundsError(f"it is longer than {LONGEST_TEMPLATE} characters")
        self._text = text
        with bounded({}), _plain_errors():
            self._template = _ENVIRONMENT.from_string(text)

    @cached_property
    def variables(self) -> frozenset[str]:
        """Names that it looks up and does not set itself; found when they are first asked for, as that takes a while.

        Raises:
            TemplateBoundsError: That computes too much.
        """
        with bounded({}), _plain_errors():
            return frozenset(meta.find_undeclared_variables(_ENVIRONMENT.parse(self._text)))

    def render(self, variables: Mapping[str, Any]) -> str:
        """Return the text for `variables`, which are plain values as in JSON.

        Raises:
            TemplateRefusedError: The template calls `raise_exception`.
            TemplateBoundsError: It asks for more than the bounds of this module.
            jinja2.TemplateError: It does something forbidden or impossible.
        """
        with bounded(variables), _plain_errors():
            return _joined(self._template.root_render_func(self._template.new_context(dict(variables))))


@contextmanager
def _plain_errors() -> Iterator[None]:
    """Let only the errors out that this module promises."""
    try:
        yield
    except (TemplateRefusedError, TemplateBoundsError, jinja2.TemplateError):
        raise
    except (RecursionError, MemoryError, SyntaxError) as error:
        # Python's compiler has limits of its own, which it reports as errors of syntax.
        raise TemplateBoundsError("it is nested too deeply") from error
    except Exception as error:
        # Whatever an expression can do wrong: adding a text to a number, indexing an empty list.
        raise jinja2.TemplateRuntimeError(f"{type(error).__name__}: {error}") from error


class _Environment(ImmutableSandboxedEnvironment):
    """Hugging Face's dialect of Jinja with bounds on everything that can grow."""

    intercepted_binops = frozenset({"+", "-", "*", "/", "//", "%", "**"})

    def __init__(self) -> None:
        super().__init__(
            trim_blocks=True,
            lstrip_blocks=True,
            extensions=[_Generation, loopcontrols],
            finalize=_finalize,
            optimized=False,
        )
        filters = {**FILTERS, "tojson": _tojson}
        self.filters = {name: watched_filter(name, call) for name, call in filters.items() if name not in _LEFT_OUT}
        del self.globals["lipsum"]
        self.globals.update(
            dict=_make_dict, namespace=_PublicNamespace, raise_exception=_refuse, strftime_now=_strftime_now
        )
        # Results of calls are accounted for, so these need do no more than be called.
        self.take = _same
        self.iterate = iter
        self.concatenate = _concatenate

    @staticmethod
    def concat(parts: Iterable[str]) -> str:
        """Join what a template, macro or block has put out."""
        return _joined(parts)

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        """Say whether a template may see an attribute."""
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
        """Call what a template calls; the parameters are named as in Jinja, so that no keyword is lost to them."""
        bounds = current.get()
        bounds.check_time()
        owner = getattr(__obj, "__self__", None)
        if isinstance(owner, str):
            args = checked_arguments(__obj.__name__, owner, args)
        return bounds.take(super().call(__context, __obj, *args, **kwargs))

    def wrap_str_format(self, value: Any) -> Callable[..., str] | None:
        """Return what stands in for a text's `format` method, or None if `value` is something else."""
        wrapped = super().wrap_str_format(value)
        if wrapped is not None:
            check_format(value.__self__)
        return wrapped

    def _generate(self, source: nodes.Template, *args: Any, **kwargs: Any) -> str:
        return super()._generate(_Watching().visit(source), *args, **kwargs)


class _Watching(NodeTransformer):
    """Wraps what Jinja has no hook for in calls of the environment's `take` and `concatenate`."""

    def visit_For(self, node: nodes.For) -> nodes.Node:
        """Watch each turn of a loop."""
        self.generic_visit(node)
        node.iter = _calling("iterate", node.iter)
        return node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:
        """Compute `~`."""
        self.generic_visit(node)
        return _calling("concatenate", *node.nodes)

    def visit_Getitem(self, node: nodes.Getitem) -> nodes.Node:
        """Account for slices."""
        self.generic_visit(node)
        return _calling("take", node) if isinstance(node.arg, nodes.Slice) else node

    def visit_Tuple(self, node: nodes.Tuple) -> nodes.Node:
        """Account for tuples; those that are assigned to are no values."""
        self.generic_visit(node)
        return _calling("take", node) if node.ctx == "load" else node

    def visit_List(self, node: nodes.List | nodes.Dict) -> nodes.Node:
        """Account for lists and dictionaries."""
        self.generic_visit(node)
        return _calling("take", node)

    visit_Dict = visit_List  # noqa: N815 - Jinja's name for it


class _Generation(Extension):
    """`{% generation %}`: marks the part that a model answers; renders what is inside."""

    tags = {"generation"}  # noqa: RUF012 - Jinja declares it so

    def parse(self, parser: Parser) -> nodes.Node:
        """Read up to `{% endgeneration %}`."""
        line = next(parser.stream).lineno
        return nodes.Scope(parser.parse_statements(("name:endgeneration",), drop_needle=True), lineno=line)


class _PublicNamespace(Namespace):
    """A namespace without names that begin with an underscore."""

    def __init__(*args: Any, **kwargs: Any) -> None:
        # A template may call one of its names `self`.
        self, *given = args
        attributes = dict(*given, **kwargs)
        for name in attributes:
            _check_public(name)
        Namespace.__init__(self, attributes)

    def __setitem__(self, name: str, value: Any) -> None:
        _check_public(name)
        super().__setitem__(name, value)


def _calling(name: str, *arguments: nodes.Node) -> nodes.Call:
    """Return the expression that calls a function of the environment."""
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
    return _joined(encoder.iterencode(value))


def _finalize(value: Any) -> Any:
    """Look at a value before it is put out."""
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


def _joined(parts: Iterable[str]) -> str:
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
