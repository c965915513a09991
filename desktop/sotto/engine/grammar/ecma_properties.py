"""Properties of characters in patterns of ECMA-262, which accepts fewer spellings than Unicode does."""

import re

_CATEGORIES = {
    "LC": "Cased_Letter", "Ll": "Lowercase_Letter", "Lm": "Modifier_Letter", "Lo": "Other_Letter",
    "Lt": "Titlecase_Letter", "Lu": "Uppercase_Letter", "L": "Letter", "Mc": "Spacing_Mark", "Me": "Enclosing_Mark",
    "Mn": "Nonspacing_Mark", "M": "Mark", "Nd": "Decimal_Number", "Nl": "Letter_Number", "No": "Other_Number",
    "N": "Number", "Pc": "Connector_Punctuation", "Pd": "Dash_Punctuation", "Pe": "Close_Punctuation",
    "Pf": "Final_Punctuation", "Pi": "Initial_Punctuation", "Po": "Other_Punctuation", "Ps": "Open_Punctuation",
    "P": "Punctuation", "Sc": "Currency_Symbol", "Sk": "Modifier_Symbol", "Sm": "Math_Symbol", "So": "Other_Symbol",
    "S": "Symbol", "Zl": "Line_Separator", "Zp": "Paragraph_Separator", "Zs": "Space_Separator", "Z": "Separator",
    "Cc": "Control", "Cf": "Format", "Cn": "Unassigned", "Co": "Private_Use", "C": "Other",
}  # fmt: skip
_MORE_CATEGORIES = {"Combining_Mark": "M", "digit": "Nd", "punct": "P", "cntrl": "Cc"}
_BINARY = {
    "ASCII": "", "ASCII_Hex_Digit": "AHex", "Alphabetic": "Alpha", "Any": "", "Assigned": "", "Bidi_Control": "Bidi_C",
    "Bidi_Mirrored": "Bidi_M", "Case_Ignorable": "CI", "Cased": "", "Changes_When_Casefolded": "CWCF",
    "Changes_When_Casemapped": "CWCM", "Changes_When_Lowercased": "CWL",
    "Changes_When_Titlecased": "CWT", "Changes_When_Uppercased": "CWU", "Dash": "",
    "Default_Ignorable_Code_Point": "DI", "Deprecated": "Dep", "Diacritic": "Dia", "Emoji": "",
    "Emoji_Component": "EComp", "Emoji_Modifier": "EMod", "Emoji_Modifier_Base": "EBase", "Emoji_Presentation": "EPres",
    "Extended_Pictographic": "ExtPict", "Extender": "Ext", "Grapheme_Base": "Gr_Base", "Grapheme_Extend": "Gr_Ext",
    "Hex_Digit": "Hex", "IDS_Binary_Operator": "IDSB", "IDS_Trinary_Operator": "IDST", "ID_Continue": "IDC",
    "ID_Start": "IDS", "Ideographic": "Ideo", "Join_Control": "Join_C", "Logical_Order_Exception": "LOE",
    "Lowercase": "Lower", "Math": "", "Noncharacter_Code_Point": "NChar", "Pattern_Syntax": "Pat_Syn",
    "Pattern_White_Space": "Pat_WS", "Quotation_Mark": "QMark", "Radical": "", "Regional_Indicator": "RI",
    "Sentence_Terminal": "STerm", "Soft_Dotted": "SD", "Terminal_Punctuation": "Term", "Unified_Ideograph": "UIdeo",
    "Uppercase": "Upper", "Variation_Selector": "VS", "White_Space": "space", "XID_Continue": "XIDC",
    "XID_Start": "XIDS",
}  # fmt: skip
_SCRIPTS = {"Script": "Script", "sc": "Script", "Script_Extensions": "scx", "scx": "scx"}
# llguidance knows the names of scripts, in any spelling.
_SCRIPT = re.compile(r"[A-Z][A-Za-z]+(_[A-Z][a-z]+)*")

_BY_CATEGORY = {**{long: short for short, long in _CATEGORIES.items()}, **{short: short for short in _CATEGORIES}}
_BY_CATEGORY |= _MORE_CATEGORIES
_BY_NAME = {**{name: name for name in _BINARY}, **{short: name for name, short in _BINARY.items() if short}}


def property_item(written: str) -> str | None:
    r"""Return the name in llguidance's expressions of the property in `\p{}`; None if ECMA-262 has none such."""
    name, sign, value = written.partition("=")
    if not sign:
        return _BY_CATEGORY.get(name) or _BY_NAME.get(name)
    if name in ("General_Category", "gc"):
        return _BY_CATEGORY.get(value)
    return f"{_SCRIPTS[name]}={value}" if name in _SCRIPTS and _SCRIPT.fullmatch(value) else None
