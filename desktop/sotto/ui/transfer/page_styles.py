"""The styles of exported chats: for web browsers in light and dark, and for Qt's rich text on paper."""

from sotto.ui.toolkit.colors import DARK, LIGHT, ColorTokens
from sotto.ui.transfer.code_html import code_css

_SHAPES = """\
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); overflow-wrap: break-word;
  font: 16px/1.6 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
main { max-width: 46rem; margin: 0 auto; padding: 2.5rem 1.25rem 4rem; }
h1, h2, h3, h4, h5, h6 { line-height: 1.3; margin: 1.6em 0 0.5em; }
h1.title { font-size: 1.7rem; margin: 0; }
h2 { font-size: 1.25rem; }
h2.you, h2.model { font-size: 0.875rem; font-weight: 600; margin: 2.2rem 0 0.5rem; color: var(--text); }
.when, .about { color: var(--muted); font-weight: normal; font-size: 0.875rem; }
.when { margin-left: 0.5em; }
p, ul, ol, table, blockquote, .code, details { margin: 0 0 0.9em; }
.bubble { background: var(--bubble); border-radius: 12px; padding: 0.75rem 1rem; }
img.picture { max-width: 100%; border-radius: 8px; display: block; }
.bubble > :last-child, details > :last-child { margin-bottom: 0; }
a { color: var(--link); }
blockquote { margin-left: 0; padding-left: 1em; border-left: 3px solid var(--edge); color: var(--muted); }
details { color: var(--muted); border: 1px solid var(--line); border-radius: 8px; padding: 0.5rem 0.875rem; }
details[open] > summary { margin-bottom: 0.6em; }
summary { cursor: pointer; font-size: 0.875rem; }
code, pre { font-family: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: 0.9em; }
:not(pre) > code { background: var(--bubble); border-radius: 4px; padding: 0.1em 0.3em; }
pre { margin: 0; overflow-x: auto; tab-size: 4; line-height: 1.5; }
.code { background: var(--code); border: 1px solid var(--line); border-radius: 8px; padding: 0.75rem 1rem; }
.code .language { display: block; color: var(--muted); font-size: 0.8rem; margin-bottom: 0.4rem; }
.code code { background: none; padding: 0; }
table { border-collapse: collapse; display: block; overflow-x: auto; }
th, td { padding: 0.4em 0.8em 0.4em 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
th { border-bottom-color: var(--edge); }
hr { border: 0; border-top: 1px solid var(--line); margin: 1.5em 0; }
.display { display: block; text-align: center; margin: 0.9em 0; overflow-x: auto; }
@media print { main { max-width: none; padding: 0; } pre { white-space: pre-wrap; } }
"""
_INVERTED = "img.formula { filter: invert(1) hue-rotate(180deg); }"


def _variables(tokens: ColorTokens) -> str:
    names = {"page": tokens.page, "text": tokens.text, "muted": tokens.muted, "bubble": tokens.bubble,
             "code": tokens.code, "line": tokens.line, "edge": tokens.edge, "link": tokens.accent_text}  # fmt: skip
    return ":root { " + " ".join(f"--{name}: {color};" for name, color in names.items()) + " }"


PAGE_STYLE = (
    f":root {{ color-scheme: light dark; }}\n{_variables(LIGHT)}\n{_SHAPES}{code_css(LIGHT)}\n"
    f"@media screen and (prefers-color-scheme: dark) {{\n{_variables(DARK)}\n{code_css(DARK)}\n{_INVERTED}\n}}\n"
)

# Qt's rich text knows a part of CSS 2.1; padding and borders it knows in tables only.
PAPER_STYLE = f"""
body {{ color: {LIGHT.text}; }}
p, ul, ol {{ margin-top: 0px; margin-bottom: 7px; }}
.title {{ font-size: 18pt; font-weight: bold; margin-bottom: 2px; }}
.you, .model {{ font-size: 10pt; font-weight: bold; margin-top: 20px; margin-bottom: 5px; }}
.h1, .h2, .h3, .h4, .h5, .h6 {{ font-weight: bold; margin-top: 12px; margin-bottom: 5px; }}
.h1 {{ font-size: 14pt; }}
.h2 {{ font-size: 12pt; }}
.h3 {{ font-size: 11pt; }}
.when, .about {{ color: {LIGHT.muted}; font-weight: normal; font-size: 9pt; }}
a {{ color: {LIGHT.accent_text}; }}
table {{ border-collapse: collapse; margin-top: 4px; margin-bottom: 9px; }}
th, td {{ border-bottom: 1px solid {LIGHT.edge}; padding: 3px 14px 3px 0px; }}
table.bubble td {{ background-color: {LIGHT.bubble}; border: 0px; padding: 8px; }}
table.aside td, table.quote td {{
  color: {LIGHT.muted}; border: 0px; border-left: 2px solid {LIGHT.edge}; padding: 0px 0px 0px 10px;
}}
table.aside {{ font-size: 9pt; }}
table.code td {{ background-color: {LIGHT.code}; border: 0px; padding: 8px; }}
pre {{ font-size: 8.5pt; white-space: pre-wrap; margin: 0px; }}
code {{ font-size: 9pt; }}
{code_css(LIGHT)}
"""
