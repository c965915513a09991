"""What goes into the portable folder beyond what PyInstaller finds by following imports."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import Distribution
from pathlib import Path

# Python itself, and what its own modules need; and small libraries for windows on X that many desktops lack, as only
# Qt's programs use them. Other libraries of the system stay those of the system: they fit its drivers and get its
# security updates.
SYSTEM_LIBRARIES = {
    "libbz2.so": "bzip2-1.0.6",
    "libcrypto.so": "Apache-2.0",
    "libexpat.so": "MIT",
    "libffi.so": "MIT",
    "liblzma.so": "0BSD",
    "libmpdec.so": "BSD-2-Clause",
    "libpython3.": "PSF-2.0",
    "libsqlite3.so": "blessing",
    "libssl.so": "Apache-2.0",
    "libuuid.so": "BSD-3-Clause",
    "libxcb-cursor.so": "X11",
    "libxcb-icccm.so": "X11",
    "libxcb-image.so": "X11",
    "libxcb-keysyms.so": "X11",
    "libxcb-render-util.so": "X11",
    "libxcb-util.so": "X11",
    "libz.so": "Zlib",
}
"""Beginnings of the names of libraries that come along, each with its licence."""

FROM_THE_SYSTEM = (
    # glibc and the compiler's library, which every system has.
    "ld-linux", "libc.so", "libdl.so", "libgcc_s.so", "libm.so", "libpthread.so", "librt.so", "libstdc++.so",
    # Those that `linux_packages` names and the definition requires, and what these packages bring along.
    "libEGL.so", "libGL.so", "libX11", "libdbus-1.so", "libfontconfig.so", "libfreetype.so", "libglib-2.0.so",
    "libgthread-2.0.so", "libxcb", "libxkbcommon", "libzstd.so",
    # For plugins that may fail to load: printers, and windows without X.
    "libcups.so", "libwayland-",
)  # fmt: skip
"""Beginnings of the names of libraries that the packed program takes from the system."""

# mlx-lm's programs, of which only the definitions are used; GNU readline, whose licence does not fit, so that the chat
# in a terminal has no history; and what builds extensions.
NEVER_IMPORTED = (
    "mlx_lm.convert", "mlx_lm.generate", "mlx_lm.sample_utils", "mlx_lm.tokenizer_utils", "mlx_lm.utils",
    "mlx.extension", "readline", "setuptools", "tkinter",
    # Of Pillow, what draws, shows and prints images.
    "PIL.ImageDraw", "PIL.ImageFilter", "PIL.ImageFont", "PIL.ImageGrab", "PIL.ImageMath", "PIL.ImageMorph",
    "PIL.ImageQt", "PIL.ImageShow", "PIL.ImageText", "PIL.ImageTk", "PIL.ImageWin", "PIL.PdfImagePlugin",
    "PIL.PdfParser", "PIL.features",
    # And kinds of images that Sotto does not decode; AVIF's library is as large as the rest of Pillow.
    "PIL.AvifImagePlugin", "PIL.BlpImagePlugin", "PIL.BufrStubImagePlugin", "PIL.CurImagePlugin", "PIL.DcxImagePlugin",
    "PIL.DdsImagePlugin", "PIL.EpsImagePlugin", "PIL.FitsImagePlugin", "PIL.FliImagePlugin", "PIL.FpxImagePlugin",
    "PIL.FtexImagePlugin", "PIL.GbrImagePlugin", "PIL.GribStubImagePlugin", "PIL.Hdf5StubImagePlugin",
    "PIL.IcnsImagePlugin", "PIL.IcoImagePlugin", "PIL.ImImagePlugin", "PIL.ImtImagePlugin", "PIL.IptcImagePlugin",
    "PIL.Jpeg2KImagePlugin", "PIL.McIdasImagePlugin", "PIL.MicImagePlugin", "PIL.MpegImagePlugin",
    "PIL.MpoImagePlugin", "PIL.MspImagePlugin", "PIL.PalmImagePlugin", "PIL.PcdImagePlugin", "PIL.PcxImagePlugin",
    "PIL.PixarImagePlugin", "PIL.PsdImagePlugin", "PIL.QoiImagePlugin", "PIL.SgiImagePlugin", "PIL.SpiderImagePlugin",
    "PIL.SunImagePlugin", "PIL.TgaImagePlugin", "PIL.WmfImagePlugin", "PIL.XVThumbImagePlugin", "PIL.XbmImagePlugin",
    "PIL.XpmImagePlugin",
)  # fmt: skip

BY_NAME = (
    # Chosen by the kind of an image.
    "PIL.BmpImagePlugin", "PIL.GifImagePlugin", "PIL.JpegImagePlugin", "PIL.PngImagePlugin", "PIL.TiffImagePlugin",
    "PIL.WebPImagePlugin",
    # Imported by MLX's C++ code.
    "mlx.__array_api_info", "mlx._reprlib_fix", "mlx.nn", "mlx.optimizers",
    # Imported by PyNaCl's C code.
    "_cffi_backend",
    # Only its folder is looked for.
    "scipy_openblas32",
    # The font of formulas is looked for in it.
    "ziamath.fonts",
)  # fmt: skip


def hidden_imports(site: Path) -> list[str]:
    """Return the modules that are imported by name while Sotto runs: its own, and mlx-lm's definitions."""
    own = [path.relative_to(site).with_suffix("") for path in (site / "sotto").rglob("*.py")]
    models = [f"mlx_lm.models.{path.stem}" for path in (site / "mlx_lm" / "models").glob("*.py")]
    return [*BY_NAME, *sorted(".".join(path.parts) for path in own if path.name != "__init__"), *sorted(models)]


def comes_along(destination: str, source: str, site: Path) -> bool:
    """Return whether a library is packed: those of packages, and few of the system's."""
    if Path(source).is_relative_to(site) or "/" in destination:
        return True
    return destination.startswith(tuple(SYSTEM_LIBRARIES))


def metadata(distribution: Distribution, used: set[Path]) -> Iterator[tuple[str, Path]]:
    """Yield the metadata and licences of a package, if any of its files is packed: destination and source."""
    files = {str(file): Path(str(distribution.locate_file(file))) for file in distribution.files or ()}
    if used.isdisjoint(files.values()):
        return
    for name, path in files.items():
        folder, _, file = name.partition("/")
        if folder.endswith(".dist-info") and (file == "METADATA" or is_licence(file)):
            yield name, path


def is_licence(name: str) -> bool:
    """Return whether a file beside a package's metadata is a licence or a notice."""
    return any(word in name.upper() for word in ("LICENSE", "LICENCE", "COPYING", "NOTICE", "AUTHORS"))
