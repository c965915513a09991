"""The part of `sotto.chats.pdf` that runs in the bounded process."""

import json
import logging
import sys
from pathlib import Path

from sotto.bounded_process import limit
from sotto.chats.documents import LONGEST_TEXT
from sotto.chats.pdf import BOUNDS, MOST_PAGES

_PAGE_END = "\n\n"


def print_text(path: Path) -> int:
    """Write the text of a PDF to stdout, as JSON with `text` and, if it cannot be read, the reason `why`; return 0."""
    limit(BOUNDS)
    text, why = _read(path)
    sys.stdout.write(json.dumps({"text": text, "why": why}))
    sys.stdout.flush()
    return 0


def _read(path: Path) -> tuple[str, str]:
    import pypdf

    # pypdf logs every small fault.
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    pages: list[str] = []
    length = 0
    try:
        reader = pypdf.PdfReader(path)
        if reader.is_encrypted and not reader.decrypt(""):
            return "", "it is locked with a password; save it without one"
        count = len(reader.pages)
        if count > MOST_PAGES:
            return "", f"it has {count:,} pages, and at most {MOST_PAGES:,} can be attached"
        for page in reader.pages:
            pages.append(page.extract_text().strip())
            length += len(pages[-1]) + len(_PAGE_END)
            if length > LONGEST_TEXT:
                return "", f"it has more than {LONGEST_TEXT:,} characters; attach a part of it"
    except MemoryError:
        return "", "it takes too much memory"
    except RecursionError:
        return "", "it is nested too deeply"
    except Exception as error:
        # A damaged file can make the library raise anything, and this process does nothing else.
        return "", f"its PDF is damaged ({type(error).__name__})"
    text = _PAGE_END.join(page for page in pages if page)
    return text.replace("\x00", "").encode("utf-8", "replace").decode(), ""
