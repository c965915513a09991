"""PDF files: pages, fonts, forms and streams, changed before compression, with recomputed offsets."""

import re
import zlib
from pathlib import Path
from random import Random

from fuzzing import values
from fuzzing.target import Mark, Target
from sotto.chats import pdf_pages
from sotto.chats.documents import read_document
from sotto.chats.pdf import PdfError

Part = tuple[bytes, bytes | None]

_CMAP = (
    b"/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def 1 begincodespacerange <00> <ff> "
    b"endcodespacerange 2 beginbfchar <48> <0048> <69> <00e9> endbfchar 1 beginbfrange <61> <7a> <0061> endbfrange "
    b"endcmap end end"
)
_PAGE = (
    b"q BT /F1 12 Tf 14 TL 1 0 0 1 72 720 Tm (Hello \\(there\\)) Tj T* [(Once) -250 (upon) 120 <612074696d65>] TJ "
    b"0 -14 Td (Hi) ' 1 2 (you) \" ET Q q 1 0 0 1 10 10 cm /X1 Do Q BI /W 1 /H 1 /BPC 8 /CS /G ID x EI "
    b"BT /F2 9 Tf <4869> Tj ET"
)
_FORM = b"BT /F1 8 Tf 5 5 Td (in a form) Tj ET"
_WORD = re.compile(rb"/[^\s/<>\[\]()]+|\d+ \d+ R|[-+]?\d*\.?\d+|\([^()]*\)|<[0-9a-f]+>|[A-Za-z'\"*]+")
_SWAPS = (
    b"0", b"-1", b"1", b"99999999", b"1e9", b"0.00000001", b"-2147483649", b"null", b"true", b"[]", b"<<>>", b"()",
    b"<>", b"/X", b"1 0 R", b"2 0 R", b"4 0 R", b"6 0 R", b"99 0 R", b"[[[[1]]]]", b"(\\777\\8\\)", b"<fffe>", b"<0>",
    b"/Kids", b"/FlateDecode", b"[/FlateDecode /FlateDecode]", b"/LZWDecode", b"/ASCII85Decode", b"/ASCIIHexDecode",
    b"/RunLengthDecode", b"/DCTDecode", b"/Identity-H", b"/Type0", b"/Type3", b"/WinAnsiEncoding", b"/Crypt",
    b"/JBIG2Decode", b"Tf", b"Tj", b"TJ", b"Do", b"q", b"Q",
)  # fmt: skip
# One in that many is also read by the program's own child process, which takes half a second to start.
_CHILD_EVERY = 40


class Pdf(Target):
    """PDFs, up to their text."""

    stages = ("recognised", "text read")
    first_share, last_share = 90, 30
    # The program allows one minute for reading a PDF.
    cpu_seconds, wall_seconds = 70.0, 150.0
    memory = 3 << 30

    def prepare(self, folder: Path) -> None:
        """Choose the path of the file."""
        self._path = folder / "report.pdf"

    def make(self, random: Random) -> bytes:
        """Change objects and the contents of streams, and sometimes any bytes of the file."""
        parts = list(_objects())
        whole = random.random() < 0.85
        for _ in range(values.times(random, 6) if whole else 0):
            place = random.randrange(len(parts))
            parts[place] = _changed(parts[place], random, parts)
        content = bytearray(_written(parts, random))
        for _ in range(0 if whole else values.times(random, 6)):
            content[random.randrange(len(content))] = random.randrange(256)
        return bytes(content[: random.randrange(len(content))]) if random.random() < 0.05 else bytes(content)

    def run(self, data: bytes, mark: Mark) -> None:
        """Read the file as the child process does, and sometimes with that process itself."""
        self._path.write_bytes(data)
        if b"%PDF-" in data[:1024]:
            mark("recognised")
        text, why = pdf_pages._read(self._path)
        if sum(data) % _CHILD_EVERY == 0:
            found = read_document(self._path)
            assert found.text == text
        if why:
            raise PdfError(f"{self._path.name} could not be read: {why}.")
        if text.strip():
            mark("text read")

    def names(self, message: str) -> bool:
        """Return whether the message names the file."""
        return self._path.name in message


def _objects() -> list[Part]:
    """Return the objects of a document, each with its stream or None."""
    fonts = b"/Resources << /Font << /F1 3 0 R /F2 7 0 R >> /XObject << /X1 6 0 R >> >>"
    return [
        (b"<< /Type /Catalog /Pages 2 0 R /Lang (en) /Outlines 9 0 R >>", None),
        (b"<< /Type /Pages /Kids [4 0 R 10 0 R] /Count 2 /MediaBox [0 0 612 792] >>", None),
        (b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding << /Differences [72 /H 105 /i] >> "
         b"/FirstChar 32 /LastChar 34 /Widths [278 500 600] >>", None),
        (b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Rotate 0 /Contents [5 0 R] " + fonts + b" >>", None),
        (b"<< /Filter /FlateDecode >>", _PAGE),
        (b"<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Matrix [1 0 0 1 0 0] " + fonts + b" >>", _FORM),
        (b"<< /Type /Font /Subtype /Type0 /BaseFont /A /Encoding /Identity-H /DescendantFonts [8 0 R] "
         b"/ToUnicode 11 0 R >>", None),
        (b"<< /Type /Font /Subtype /CIDFontType2 /CIDSystemInfo << /Ordering (Identity) >> /DW 1000 "
         b"/W [1 [500 600] 3 9 700] >>", None),
        (b"<< /Type /Outlines /Count 0 >>", None),
        (b"<< /Type /Page /Parent 2 0 R /Contents 5 0 R " + fonts + b" >>", None),
        (b"<< /Filter /FlateDecode >>", _CMAP),
    ]  # fmt: skip


def _changed(part: Part, random: Random, parts: list[Part]) -> Part:
    """Return an object with a changed word in it or in its stream, or another object."""
    text, stream = part
    if stream is not None and random.random() < 0.7:
        return text, _reworded(stream, random)
    if random.random() < 0.1:
        return random.choice(parts)
    return _reworded(text, random), stream


def _reworded(text: bytes, random: Random) -> bytes:
    words = list(_WORD.finditer(text))
    if not words:
        return text
    word, kind = random.choice(words), random.randrange(5)
    if kind == 0:
        other = b""
    elif kind == 1:
        other = random.choice(words)[0]
    elif kind == 2:
        other = word[0] + b" " + random.choice(words)[0] * random.choice((1, 1, 500))
    else:
        other = random.choice(_SWAPS)
    return text[: word.start()] + other + text[word.end() :]


def _written(parts: list[Part], random: Random) -> bytes:
    """Return a file of these objects, with a table of their offsets, which is sometimes wrong."""
    content, places = bytearray(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"), []
    for number, (text, stream) in enumerate(parts, 1):
        places.append(len(content))
        if stream is None:
            content += b"%d 0 obj\n%b\nendobj\n" % (number, text)
            continue
        packed = zlib.compress(stream) if b"/FlateDecode" in text else stream
        length = len(packed) if random.random() < 0.95 else random.choice((0, 5, 10**9))
        text = text.replace(b"<<", b"<< /Length %d" % length, 1)
        content += b"%d 0 obj\n%b\nstream\n%b\nendstream\nendobj\n" % (number, text, packed)
    start, wrong = len(content), random.random() < 0.05
    content += b"xref\n0 %d\n0000000000 65535 f \n" % (len(parts) + 1)
    content += b"".join(b"%010d 00000 n \n" % (place + 7 * wrong) for place in places)
    trailer = b"<< /Size %d /Root 1 0 R >>" % (len(parts) + 1)
    if random.random() < 0.08:
        trailer = _reworded(trailer, random)
    return bytes(content + b"trailer %b\nstartxref\n%d\n%%%%EOF\n" % (trailer, start))


TARGET = Pdf()
