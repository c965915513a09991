"""What kind of image a file is, by its first bytes."""

MEDIA_TYPES = {
    "image/png": "PNG",
    "image/jpeg": "JPEG",
    "image/webp": "WebP",
    "image/gif": "GIF",
    "image/bmp": "BMP",
    "image/tiff": "TIFF",
    "image/avif": "AVIF",
    "image/heic": "HEIC",
    "image/svg+xml": "SVG",
}
"""Names of the kinds that are recognised, by media type. AVIF and HEIC need plug-ins; SVG has no pixels to decode."""

_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"BM", "image/bmp"),
    (b"II*\x00", "image/tiff"),
    (b"MM\x00*", "image/tiff"),
    # With offsets of 64 bits.
    (b"II+\x00", "image/tiff"),
    (b"MM\x00+", "image/tiff"),
)
# The brands of ISO media files.
_BRANDS = {b"avif": "image/avif", b"avis": "image/avif"} | dict.fromkeys(
    (b"heic", b"heix", b"hevc", b"hevx", b"heim", b"heis", b"mif1", b"msf1"), "image/heic"
)
_PROLOGUE = 1024


def image_kind(data: bytes) -> str:
    """Return the media type of an image, a key of `MEDIA_TYPES`; empty if it is none of these. Decodes nothing."""
    for magic, kind in _MAGIC:
        if data.startswith(magic):
            return kind
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    if data[4:8] == b"ftyp":
        return _kind_of_brands(data)
    start = data[:_PROLOGUE].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if start.startswith(b"<svg") or (start.startswith((b"<?xml", b"<!")) and b"<svg" in start):
        return "image/svg+xml"
    return ""


def _kind_of_brands(data: bytes) -> str:
    """Return the kind of an ISO media file. AVIF may name a general brand first, so all of them count."""
    end = min(int.from_bytes(data[:4], "big"), 256)
    brands = [data[8:12], *(data[place : place + 4] for place in range(16, end, 4))]
    kinds = [_BRANDS[brand] for brand in brands if brand in _BRANDS]
    return "image/avif" if "image/avif" in kinds else next(iter(kinds), "")
