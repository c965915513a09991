"""The colours of the light and the dark theme.

The accent is for the primary action and for progress or selection only. Everything else is neutral.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ColorTokens:
    """The colours of one theme, each `#rrggbb`.

    Attributes:
        dark: Whether this is the dark theme.
        sidebar: Background of the sidebar and the menu bar.
        page: Background of the chat.
        raised: Background of elements on the page: composer, menus, search field.
        bubble: Background of the user's messages.
        code: Background of code.
        line: Hairlines.
        edge: Outlines of fields.
        text: Text.
        muted: Less important text; still legible on every background.
        faint: Icons at rest and disabled marks; not legible enough for text.
        accent: The accent colour.
        accent_hover: The accent under the pointer.
        on_accent: Text and icons on the accent.
        accent_text: The accent as a text colour.
        selection: Background of a selected row.
        hover: Background under the pointer.
        pressed: Background while pressed.
        alert: Text and icons of failures.
        alert_ground: Background of a notice.
        alert_line: Outline of a notice.
        good: Text and icons of success.
        warn: Text and icons of warnings.
        others: Memory used by other programs.
        live: Memory used by active contexts; weights have the accent.
        kept: Memory used by contexts that are kept for later.
        track: Free memory, and the rest of a progress bar.
        handle: Handles of scroll bars.
        code_comment: Comments in code. All colours of code are legible on `code`.
        code_keyword: Keywords.
        code_string: Strings.
        code_number: Numbers and constants.
        code_function: Functions and attributes where they are defined.
        code_type: Types and built-ins.
        code_meta: Decorators, macros and other special tokens.
        code_inserted: Lines that a patch adds.
        code_deleted: Lines that a patch removes.
    """

    dark: bool
    sidebar: str
    page: str
    raised: str
    bubble: str
    code: str
    line: str
    edge: str
    text: str
    muted: str
    faint: str
    accent: str
    accent_hover: str
    on_accent: str
    accent_text: str
    selection: str
    hover: str
    pressed: str
    alert: str
    alert_ground: str
    alert_line: str
    good: str
    warn: str
    others: str
    live: str
    kept: str
    track: str
    handle: str
    code_comment: str
    code_keyword: str
    code_string: str
    code_number: str
    code_function: str
    code_type: str
    code_meta: str
    code_inserted: str
    code_deleted: str


LIGHT = ColorTokens(
    dark=False,
    sidebar="#f6f6f9",
    page="#ffffff",
    raised="#ffffff",
    bubble="#f0f1f6",
    code="#f6f7fa",
    line="#e8e8ee",
    edge="#dcdce4",
    text="#1b1c22",
    muted="#646674",
    faint="#8b8d9a",
    accent="#4660e6",
    accent_hover="#3a52d2",
    on_accent="#ffffff",
    accent_text="#3f58dc",
    selection="#e6e9fa",
    hover="#ecedf2",
    pressed="#e2e3ea",
    alert="#c2362b",
    alert_ground="#fdf3f1",
    alert_line="#f3d5d0",
    good="#1b6e40",
    warn="#855400",
    others="#b4b7c6",
    live="#7488ee",
    kept="#b4c0f8",
    track="#e4e5ec",
    handle="#c9cad4",
    code_comment="#696b79",
    code_keyword="#a62671",
    code_string="#1c7741",
    code_number="#9a4f00",
    code_function="#3f58dc",
    code_type="#0b6f83",
    code_meta="#7a45c4",
    code_inserted="#1c7741",
    code_deleted="#b93026",
)

DARK = ColorTokens(
    dark=True,
    sidebar="#18191d",
    page="#1f2025",
    raised="#282a30",
    bubble="#2d2f37",
    code="#191a1e",
    line="#2d2e35",
    edge="#3a3c45",
    text="#ececf1",
    muted="#a2a4b1",
    faint="#80828f",
    accent="#5069ea",
    accent_hover="#6079f4",
    on_accent="#ffffff",
    accent_text="#93a5ff",
    selection="#2a3050",
    hover="#26272d",
    pressed="#2f3138",
    alert="#ff8377",
    alert_ground="#33221f",
    alert_line="#56342f",
    good="#74cf9a",
    warn="#e3b566",
    others="#5d606d",
    live="#7b8df2",
    kept="#a9b5f6",
    track="#33353d",
    handle="#474954",
    code_comment="#8e909e",
    code_keyword="#ff8ec2",
    code_string="#93d29a",
    code_number="#f0b577",
    code_function="#93a5ff",
    code_type="#78cddb",
    code_meta="#c9a6ff",
    code_inserted="#93d29a",
    code_deleted="#ff8377",
)
