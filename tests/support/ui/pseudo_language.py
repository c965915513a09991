"""Languages made from the sources: each text in brackets, or in Arabic letters, which run from right to left.

Texts are extracted and compiled by Qt's own tools.
"""

import importlib.util
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).resolve().parents[3]
# A language with three plural forms: for 1, for 2 to 4, and for all others.
LANGUAGE = "pl"
# A language that is written from right to left.
RIGHT_TO_LEFT = "ar"
# A letter of it for each letter of English.
_LETTERS = str.maketrans(
    dict(zip("abcdefghijklmnopqrstuvwxyz", "ابثدعفغهيجكلمنوبقرستوضكظيز", strict=True)) | {",": "،", ";": "؛", "?": "؟"}
)


def load_script():
    """Return the module `packaging/translations.py`; skip the test where Qt's tools are missing."""
    spec = importlib.util.spec_from_file_location("sotto_translations", ROOT / "packaging" / "translations.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    try:
        for name in ("lupdate", "lrelease"):
            script.tool_path(name)
    except SystemExit as error:
        pytest.skip(str(error))
    return script


def make_language(folder, language=LANGUAGE):
    """Write a `.ts` and a `.qm` file into a folder, in which every text is bracketed, or in Arabic letters."""
    script, file = load_script(), folder / f"sotto_{language}.ts"
    script.update(file)
    fill(file, arabic if language == RIGHT_TO_LEFT else bracketed)
    script.compile_file(file, file.with_suffix(".qm"))
    return folder


def arabic(source, form=""):
    """Return a text in Arabic letters, as long as the English one; what is filled in stays as it is."""
    pieces = re.split(r"(\{\w+\})", source.rpartition("|")[2])
    return "".join(
        piece if place % 2 else piece.lower().translate(_LETTERS) for place, piece in enumerate(pieces) if piece
    )


def bracketed(source, form=""):
    """Return the translation of a text: `⟦Folder ⟧{name}⟦ is gone⟧`, or `⟦0:⟧{count}⟦ chats⟧` for a plural form.

    What is filled in stays outside of the brackets, so that it is seen if it is English.
    """
    pieces = re.split(r"(\{\w+\})", source.rpartition("|")[2])
    text = "".join(piece if place % 2 else f"⟦{piece}⟧" for place, piece in enumerate(pieces) if piece)
    return f"⟦{form}:⟧{text}" if form else text


def fill(file, translate):
    """Finish every translation of a `.ts` file: with `translate` of the text and of the number of its plural form."""
    tree = ElementTree.parse(file)
    for message in tree.iter("message"):
        translation, source = message.find("translation"), message.findtext("source")
        del translation.attrib["type"]
        if message.get("numerus") == "yes":
            for number, form in enumerate(translation.iter("numerusform")):
                form.text = translate(source, str(number))
        else:
            translation.text = translate(source)
    tree.write(file, encoding="utf-8", xml_declaration=True)


def without_translations(text):
    """Return what of a text is not in brackets."""
    return re.sub(r"⟦[^⟦⟧]*⟧", "", text)
