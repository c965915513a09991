"""Lexes code line by line with Pygments' tables.

Pygments lexes a whole text. Here it is given one line at a time, and the stack of states at the end of a line is kept
for the next. So a line costs the same wherever it is, and tokens never change once they are found. A comment or string
over several lines is missed where a language recognises it by a single pattern; editors that lex by line miss it, too.
"""

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pygments.lexer import Lexer

Span = tuple[int, int, str]
"""Start and length of a token in its line, and its role, one of `ROLES`."""

ROLES = ("comment", "keyword", "string", "number", "function", "type", "meta", "inserted", "deleted")

# Longer lines stay plain, so that no pattern of a language gets enough text to be slow.
LONGEST_LINE = 600

_NAMES = {
    "ada": "Ada", "asm": "Assembly", "bash": "Shell", "bat": "Batch", "c": "C", "c#": "C#", "c++": "C++",
    "clojure": "Clojure", "cmake": "CMake", "cpp": "C++", "cs": "C#", "csharp": "C#", "css": "CSS", "cuda": "CUDA",
    "d": "D", "dart": "Dart", "diff": "Diff", "docker": "Dockerfile", "dockerfile": "Dockerfile", "elixir": "Elixir",
    "elm": "Elm", "erlang": "Erlang", "f#": "F#", "fortran": "Fortran", "fsharp": "F#", "glsl": "GLSL", "go": "Go",
    "golang": "Go", "graphql": "GraphQL", "groovy": "Groovy", "haskell": "Haskell", "hcl": "HCL", "html": "HTML",
    "ini": "INI", "java": "Java", "javascript": "JavaScript", "js": "JavaScript", "json": "JSON", "json5": "JSON",
    "jsonc": "JSON", "jsx": "JSX", "julia": "Julia", "kotlin": "Kotlin", "kt": "Kotlin", "latex": "LaTeX",
    "lisp": "Lisp", "lua": "Lua", "make": "Makefile", "makefile": "Makefile", "markdown": "Markdown",
    "matlab": "MATLAB", "md": "Markdown", "mermaid": "Mermaid", "nginx": "nginx", "nim": "Nim", "nix": "Nix",
    "objective-c": "Objective-C", "ocaml": "OCaml", "pascal": "Pascal", "perl": "Perl", "php": "PHP",
    "powershell": "PowerShell", "prolog": "Prolog", "protobuf": "Protocol Buffers", "ps1": "PowerShell",
    "py": "Python", "pycon": "Python", "python": "Python", "python3": "Python", "r": "R", "rb": "Ruby", "rs": "Rust",
    "ruby": "Ruby", "rust": "Rust", "sass": "Sass", "scala": "Scala", "scheme": "Scheme", "scss": "SCSS",
    "sh": "Shell", "shell": "Shell", "solidity": "Solidity", "sql": "SQL", "svelte": "Svelte", "swift": "Swift",
    "tcl": "Tcl", "terraform": "Terraform", "tex": "LaTeX", "toml": "TOML", "ts": "TypeScript", "tsx": "TSX",
    "typescript": "TypeScript", "verilog": "Verilog", "vhdl": "VHDL", "vim": "Vim script", "vue": "Vue",
    "wgsl": "WGSL", "xml": "XML", "yaml": "YAML", "yml": "YAML", "zig": "Zig", "zsh": "Shell",
}  # fmt: skip

# Names that models use for languages, and Pygments' names for them.
_ALIASES = {
    "c#": "csharp", "cs": "csharp", "c++": "cpp", "cxx": "cpp", "hpp": "cpp", "f#": "fsharp", "kt": "kotlin",
    "shell": "bash", "zsh": "bash", "jsonc": "javascript", "json5": "javascript", "golang": "go", "jsx": "javascript",
    "tsx": "typescript", "objective-c": "objectivec", "vue": "html", "svelte": "html",
}  # fmt: skip

# The languages that are highlighted, without those that Pygments can only lex as a whole or by another program.
_KNOWN = frozenset(
    (
        "ada asm bash bat c clojure cmake cpp csharp css cuda d dart diff docker dockerfile elixir elm erlang fish "
        "fortran fsharp glsl go graphql groovy haskell hcl html ini java javascript js json julia kotlin latex "
        "lisp common-lisp llvm lua make makefile markdown matlab md nasm nginx nim nix objectivec ocaml octave pascal "
        "perl php pl powershell prolog properties proto protobuf ps1 py pycon python python3 qml r racket rb rs "
        "ruby rust sass scala scheme scss sh solidity sql postgresql mysql swift systemverilog tcl "
        "terraform tex toml ts typescript verilog vhdl vim wgsl xml yaml yml zig"
    ).split()
)

# What opens and closes over lines.
_PAIRS = (("/*", "*/"), ("<!--", "-->"), ("--[[", "]]"), ('"""', '"""'))
_EMBEDDED = {"script": "javascript", "style": "css"}
_OPENS = re.compile(r"<(script|style)\b[^>]*>(?!.*</(?:script|style)\b)", re.IGNORECASE)


def language_name(language: str) -> str:
    """Return the display name of the language that a fence names; empty for none."""
    return _NAMES.get(language.lower(), language[:40])


@lru_cache(maxsize=32)
def find_lexer(language: str) -> "Lexer | None":
    """Return the lexer of a language, or None for an unknown one. Slow at the first call."""
    from pygments.lexers import get_lexer_by_name

    alias = _ALIASES.get(language.lower(), language.lower())
    if alias not in _KNOWN:
        return None
    lexer: Lexer = get_lexer_by_name(alias)
    if alias == "html":
        for name in _EMBEDDED.values():
            find_lexer(name)
    LineLexer(lexer).read("x")  # tables and patterns are made at the first use
    return lexer


class LineLexer:
    """Lexes the lines of one block of code, in order."""

    def __init__(self, lexer: "Lexer") -> None:
        """Start before the first line."""
        self._lexer: Any = lexer
        self._stack: tuple[str, ...] = ("root",)
        self._until: tuple[str, str] | None = None  # what ends a comment or string, and its role
        self._inside: tuple[str, LineLexer] | None = None  # the tag around another language, and what reads that
        self._run = _way(lexer)
        self._embeds = lexer.name == "HTML"

    def read(self, line: str) -> list[Span]:
        """Return the tokens of the next line; text that none of them covers is plain."""
        if len(line) > LONGEST_LINE:
            return []
        return _joined(self._read(line, 0), len(line))

    def _read(self, line: str, at: int) -> list[Span]:
        if self._inside is not None:
            tag, lexer = self._inside
            end = line.lower().find(f"</{tag}", at)
            if end < 0:
                return [(start + at, length, role) for start, length, role in lexer.read(line[at:])]
            self._inside = None
            inner = [(start + at, length, role) for start, length, role in lexer.read(line[at:end])]
            return inner + self._read(line, end)
        if self._until is not None:
            closer, role = self._until
            end = line.find(closer, at)
            if end < 0:
                return [(at, len(line) - at, role)]
            self._until = None
            end += len(closer)
            return [(at, end - at, role), *self._read(line, end)]
        return self._tokens(line, at)

    def _tokens(self, line: str, at: int) -> list[Span]:
        text = line[at:] + "\n"
        spans, stack = self._run(self._lexer, text, self._stack)
        for opener, closer in _PAIRS:
            if opener not in text:
                continue
            # Were it closed at the end of the line, would it be a comment or a string?
            closed, after = self._run(self._lexer, f"{text[:-1]}{closer}\n", self._stack)
            end = len(text) - 1 + len(closer)
            last = next((span for span in reversed(closed) if span[0] < end), None)
            if last is None or last[2] not in ("comment", "string") or last[0] + last[1] < end:
                continue
            # One token from the opening to the end: the language has no state for what is between.
            if text.startswith(opener, last[0]):
                self._until, stack = (closer, last[2]), after
                spans = [span for span in closed if span[0] <= last[0]]
                break
        if self._embeds and (tag := _OPENS.search(line, at)) is not None:
            lexer = find_lexer(_EMBEDDED[tag[1].lower()])
            assert lexer is not None
            spans, stack = self._run(self._lexer, line[at : tag.end()] + "\n", self._stack)
            self._stack = ("root",)
            self._inside = (tag[1].lower(), LineLexer(lexer))
            return [(start + at, length, role) for start, length, role in spans] + self._read(line, tag.end())
        self._stack = stack
        return [(start + at, length, role) for start, length, role in spans]


_Way = Callable[[Any, str, tuple[str, ...]], tuple[list[Span], tuple[str, ...]]]


def _way(lexer: "Lexer") -> _Way:
    """Return how to run a lexer on lines: keeping its states from line to line, or on each line alone."""
    from pygments.lexer import ExtendedRegexLexer, RegexLexer

    if isinstance(lexer, RegexLexer) and not isinstance(lexer, ExtendedRegexLexer):
        return _with_states
    return _with_context if isinstance(lexer, ExtendedRegexLexer) and lexer.name == "Ruby" else _alone


@lru_cache(maxsize=4096)
def _role_of_name(lexer: Any, name: str) -> str:
    """Return the role of a name by itself, for a lexer that finds keywords and built-ins among the names afterwards."""
    found = next(iter(lexer.get_tokens_unprocessed(name)), None)
    return _role(found[1]) if found is not None and found[2] == name else ""


def _refined(lexer: Any, found: list[tuple[int, Any, str]]) -> list[Span]:
    """Return the spans of tokens in which a lexer has not told apart its names yet."""
    from pygments.token import Name

    spans = []
    for at, kind, text in found:
        role = _role(kind) or (_role_of_name(lexer, text) if kind in Name else "")
        if text and role:
            spans.append((at, len(text), role))
    return spans


def _alone(lexer: Any, text: str, stack: tuple[str, ...]) -> tuple[list[Span], tuple[str, ...]]:
    return _spans(lexer.get_tokens_unprocessed(text)), stack


def _with_context(lexer: Any, text: str, stack: tuple[str, ...]) -> tuple[list[Span], tuple[str, ...]]:
    from pygments.lexer import LexerContext

    context = LexerContext(text, 0, list(stack))
    return _spans(lexer.get_tokens_unprocessed(context=context)), tuple(context.stack)


def _with_states(lexer: Any, text: str, stack: tuple[str, ...]) -> tuple[list[Span], tuple[str, ...]]:
    """Do what `RegexLexer.get_tokens_unprocessed` does, and return its final stack as well."""
    tables = lexer._tokens  # noqa: SLF001 - the tables of states are kept nowhere else
    left = list(stack)
    found: list[tuple[int, Any, str]] = []
    at, steps = 0, 8 * len(text) + 64
    while at < len(text) and (steps := steps - 1):
        for match_at, action, state in tables[left[-1]]:
            match = match_at(text, at)
            if match is None:
                continue
            if action is not None:
                if callable(action) and not _is_kind(action):
                    found.extend(action(lexer, match))
                else:
                    found.append((at, action, match.group()))
            at = match.end()
            if state is not None:
                _change(left, state)
            break
        else:
            if text[at] == "\n":
                left = ["root"]
            at += 1
    from pygments.lexer import RegexLexer

    refines = type(lexer).get_tokens_unprocessed is not RegexLexer.get_tokens_unprocessed
    return _refined(lexer, found) if refines else _spans(found), tuple(left[-64:])


def _is_kind(action: Any) -> bool:
    from pygments.token import _TokenType

    return isinstance(action, _TokenType)


def _change(left: list[str], state: Any) -> None:
    """Apply a state transition to a stack, whose first state always stays."""
    for step in state if isinstance(state, tuple) else (state,):
        if step == "#pop" or isinstance(step, int):
            count = 1 if step == "#pop" else abs(step)
            del left[max(1, len(left) - count) :]
        else:
            left.append(left[-1] if step == "#push" else step)


@lru_cache(maxsize=512)
def _role(kind: Any) -> str:
    """Return the role of a type of token; empty for plain text."""
    from pygments.token import Comment, Generic, Keyword, Name, Number, Operator, String

    table = (
        (Comment.Preproc, "meta"), (Comment.PreprocFile, "string"), (Comment, "comment"), (Keyword.Type, "type"),
        (Keyword, "keyword"), (String.Interpol, "meta"), (String.Doc, "comment"), (String, "string"),
        (Number, "number"), (Operator.Word, "keyword"), (Name.Function, "function"), (Name.Class, "type"),
        (Name.Builtin, "type"), (Name.Exception, "type"), (Name.Decorator, "meta"), (Name.Tag, "keyword"),
        (Name.Attribute, "function"), (Name.Property, "function"), (Name.Constant, "number"),
        (Name.Entity, "number"), (Name.Label, "meta"), (Generic.Inserted, "inserted"), (Generic.Deleted, "deleted"),
        (Generic.Heading, "meta"), (Generic.Subheading, "meta"), (Generic.Prompt, "meta"),
    )  # fmt: skip
    return next((role for parent, role in table if kind in parent), "")


def _spans(tokens: Iterable[tuple[int, Any, str]]) -> list[Span]:
    return [(at, len(text), role) for at, kind, text in tokens if text and (role := _role(kind))]


def _joined(spans: list[Span], end: int) -> list[Span]:
    """Merge adjacent spans of the same role, and drop what lies beyond `end`."""
    result: list[Span] = []
    for start, length, role in spans:
        length = min(length, end - start)
        if length <= 0:
            continue
        if result and result[-1][2] == role and result[-1][0] + result[-1][1] == start:
            result[-1] = (result[-1][0], result[-1][1] + length, role)
        else:
            result.append((start, length, role))
    return result
