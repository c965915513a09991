"""The versions that matter to a bug report."""

import platform

from sotto import __version__

PACKAGES = ("mlx", "mlx-lm", "PySide6-Essentials", "tokenizers", "safetensors", "llguidance", "jinja2", "qasync")


def system() -> str:
    """Return the name and the release of the system."""
    return f"{platform.system()} {platform.release()} {platform.machine()}"


def package_version(package: str) -> str:
    """Return the version of an installed package."""
    # Imported here, because it would delay every start, and few make a report.
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return "missing"


def lines() -> list[str]:
    """Return the versions of Sotto, the system, Python and packages."""
    packages = [f"{package} {package_version(package)}" for package in PACKAGES]
    return [f"Sotto {__version__}", system(), f"Python {platform.python_version()}", ", ".join(packages)]
