"""Minimal PDF files for tests."""

import zlib


def pdf(*pages: str, page: bytes = b"") -> bytes:
    """Return a PDF with a line of text on each page, or with pages whose content is `page`."""
    contents = [page] if page else [f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET".encode() for text in pages]
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", b""]
    font = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
    objects.append(font)
    kids = []
    for content in contents:
        packed = zlib.compress(content)
        objects.append(b"<< /Length %d /Filter /FlateDecode >>\nstream\n%b\nendstream" % (len(packed), packed))
        entry = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R" % len(objects)
        objects.append(entry + b" /Resources << /Font << /F1 3 0 R >> >> >>")
        kids.append(b"%d 0 R" % len(objects))
    objects[1] = b"<< /Type /Pages /Kids [%b] /Count %d >>" % (b" ".join(kids), len(kids))
    result, offsets = bytearray(b"%PDF-1.7\n"), []
    for number, content in enumerate(objects, 1):
        offsets.append(len(result))
        result += b"%d 0 obj\n%b\nendobj\n" % (number, content)
    start = len(result)
    result += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    result += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    result += b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start)
    return bytes(result)
