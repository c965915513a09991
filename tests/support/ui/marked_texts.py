"""The texts that people read, as they are in the sources of `sotto.ui`, and the rules for marking them."""

import ast
import re
import string
from pathlib import Path

UI = Path(__file__).resolve().parents[3] / "desktop" / "sotto" / "ui"
PACKAGES = sorted(path.parent.relative_to(UI).as_posix() for path in UI.glob("*/**/__init__.py"))
# Modules and texts that nobody reads in the window, each with the reason.
EXEMPT = {
    "markdown/code_lexer.py": "names of programming languages",
    "platform/single_instance.py": "printed by a start of the app that shows no window",
    "preferences/preferences.py": "written to the log",
    "session/engine_thread.py": "errors of the engine, which programs that use the API get, too",
    "toolkit/icons.py": "drawings",
    "toolkit/style_sheet.py": "a style sheet",
    "transfer/page_styles.py": "style sheets",
    "An error could not be reported (": "printed if nothing else is possible",
    ") because of another (": "printed if nothing else is possible",
    "Qt ": "for bug reports",
    "Model ": "for bug reports",
    " on ": "for bug reports",
    "\nAnother error:\n\n": "for bug reports",
    "sotto doctor --report did not finish: ": "for bug reports",
    "The X server takes no connection.": "caught where it is raised",
    "Sotto": "the name",
    "Sotto: ": "the name, and a colon",
    "The ": "the beginning of a name that is stored",
    "[Desktop Entry]\nType=Application\nName=Sotto\nExec=": "a file for the desktop",
    "What can you do?": "a question to the built-in model",
    "How do I load a bigger model?": "a question to the built-in model",
    "What does 4-bit mean?": "a question to the built-in model",
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:": "a policy for browsers",
    " { color: ": "a style sheet",
    "Sotto ": "the name, before the version",
    " tok/s": "a unit",
    "free memory": "a part of a sentence of `sotto.engine`, which is English",
    "the memory of the graphics processor": "a part of a sentence of `sotto.engine`, which is English",
    "The export was stopped.": "caught where it is raised",
    "Measuring was stopped.": "caught where it is raised",
    "The sheet was closed.": "caught where it is raised",
    (
        "Summarise our conversation so far, so that someone who has not read it can go on with it: what it is about, "
        "what was found out and decided, and what is still open. Keep names, numbers and code that matter. Write "
        "nothing else."
    ): "said to a model",
    "Summary of our previous conversation:\n\n": "said to a model",
    "(Here is an image, ": "said to a model",
    ", which cannot be shown to you.)\n\n": "said to a model",
    "new chat": "an identifier",
    "quick prompt": "an identifier",
}
# Methods and classes whose arguments are texts, beside those that contain several words.
_SHOWN_BY = re.compile(
    r"set(Text|Title|WindowTitle|ToolTip|StatusTip|PlaceholderText|AccessibleName|AccessibleDescription|"
    r"SpecialValueText|Suffix|Prefix|InformativeText|HeaderLabels|_hint|_icon)|(add)?(Action|Menu|_action|_group|_note)|_make_heading|"
    r"show_(error|text|question|success|message|problem)|confirm|announce|QAction|QMenu|Q?FileDialog|Problem|"
    r"\w*(Label|Button|Row|Switch|Control|Field|Edit|Text|Entry|Number)"
)
_WORDS = re.compile(r"\w[ ’][a-z]{2,}")
# The beginning of a label, and not of the name of a key.
_LABEL = re.compile(r"^(?!Ctrl\+|Esc$).*[A-Z][a-z]")
# A word beside a field of an f-string.
_GLUED = re.compile(r"[A-Za-z]{2,}:? |[ “][a-z]{2,}")
_TAG = re.compile(r"<[^<>]*>")
_FIELD = "\0"
_MARKS = ("tr", "QT_TR_NOOP")


def sources(package):
    """Return the modules of a package of `sotto.ui`, such as `models/keeping`."""
    return sorted((UI / package).glob("*.py"))


def parsed(path):
    """Return the syntax tree of a module, in which each node knows its parent."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        for child in ast.iter_child_nodes(node):
            child.parent = node
    return tree


def marked(path):
    """Return the texts that a module marks: the text, its comment, and whether it has plural forms."""
    found = set()
    for call in _marks(parsed(path)):
        values = [arg.value if isinstance(arg, ast.Constant) else None for arg in call.args]
        if isinstance(values[0], str):
            found.add((values[0], values[1] if len(values) > 1 else "", len(values) > 2))
    return found


def unmarked(path):
    """Return the texts of a module that look as if people read them, and are not marked."""
    if str(path.relative_to(UI)) in EXEMPT:
        return []
    return [
        f"{path.name}:{node.lineno}: {node.value!r}"
        for node in sorted(_literals(parsed(path)), key=lambda node: node.lineno)
        if isinstance(node.value, str)
        and node.value not in EXEMPT
        and not _is_unread(node)
        and (
            _WORDS.search(text := _without_tags(node))
            or (isinstance(node.parent, ast.JoinedStr) and _GLUED.search(text))
            or (_LABEL.search(text) and _is_shown(node))
        )
    ]


def misuses(path):
    """Return the marks of a module that Qt's tools or translators cannot use, with the reasons."""
    return [f"{path.name}:{call.lineno}: {reason}" for call in _marks(parsed(path)) for reason in _misuses(call)]


def _without_tags(node):
    """Return a literal without the tags of HTML, which fields of an f-string may interrupt."""
    if not isinstance(node.parent, ast.JoinedStr):
        return _TAG.sub("", node.value)
    pieces = node.parent.values
    whole = "".join(piece.value if isinstance(piece, ast.Constant) else _FIELD for piece in pieces)
    read = _TAG.sub(lambda tag: _FIELD * tag[0].count(_FIELD), whole)
    return read.split(_FIELD)[sum(isinstance(piece, ast.FormattedValue) for piece in pieces[: pieces.index(node)])]


def _literals(tree):
    return (node for node in ast.walk(tree) if isinstance(node, ast.Constant))


def _marks(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _name(node.func) in _MARKS:
            yield node


def _misuses(call):
    above, text = list(_ancestors(call)), call.args[0] if call.args else None
    if isinstance(call.func, ast.Attribute):
        yield "call the function `tr`, not a method: each class would be a context of its own"
    if call.keywords:
        yield "arguments are positional: Qt's tools do not know the names of others"
    if any(isinstance(node, ast.JoinedStr) for node in above):
        yield "Qt's tools do not look into f-strings"
    if _name(call.func) == "tr" and _runs_at_import(call):
        yield "there is no translation yet when the module is imported: mark it with QT_TR_NOOP"
    if isinstance(text, ast.Constant) and isinstance(text.value, str):
        yield from _faults(text.value, plural=len(call.args) > 2)
    elif _name(call.func) == "QT_TR_NOOP" or not isinstance(
        text, ast.Name | ast.Attribute | ast.Subscript | ast.BoolOp
    ):
        yield "the text must be a literal, or have been marked where it is one"


def _faults(text, *, plural):
    if text != text.strip() or not text:
        yield f"{text!r} is a part of a sentence: mark the whole one"
    if text.count("|") > int(plural):
        yield f"{text!r} has more forms than English"
    for form in text.split("|"):
        for _, name, spec, conversion in string.Formatter().parse(form):
            if name is not None and not (name.isidentifier() and not spec and not conversion):
                yield f"{text!r} has a field that is not just a name"


def _runs_at_import(call):
    child = call
    for node in _ancestors(call):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            body = node.body if isinstance(node.body, list) else [node.body]
            if child in body:
                return False
        child = node
    return True


def _is_unread(node):
    """Return whether a literal is a docstring, an annotation, marked, logged, printed, compared, or a key."""
    child = node
    for above in _ancestors(node):
        if isinstance(above, ast.Expr) and child is node:
            return True
        if isinstance(above, ast.Call):
            called = above.func
            if _name(called) in (*_MARKS, "print", "getLogger") or _name(getattr(called, "value", None)) == "_log":
                return True
        if isinstance(above, ast.Compare | ast.match_case):
            return child is not getattr(above, "body", None)
        if child is getattr(above, "annotation", None) or child is getattr(above, "returns", None):
            return True
        if isinstance(above, ast.Subscript) and child is above.slice:
            return True
        if isinstance(above, ast.stmt):
            return False
        child = above
    return False


def _is_shown(node):
    child = node
    for above in _ancestors(node):
        if isinstance(above, ast.Call):
            return child is not above.func and _SHOWN_BY.fullmatch(_name(above.func) or "") is not None
        if isinstance(above, ast.stmt):
            return False
        child = above
    return False


def _ancestors(node):
    while (node := getattr(node, "parent", None)) is not None:
        yield node


def _name(node):
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else None
