"""What has to be right before what is built can be released."""

from __future__ import annotations

import json
import subprocess

from artefacts import definition
from installing import InstallError


def check() -> None:
    """Check a commit that is tagged as a release; any other may be built.

    Raises:
        InstallError: The tag names another version, or what is built could not look for updates.
    """
    command = ["git", "-C", str(definition.ROOT), "tag", "--points-at", "HEAD", "--list", "v*"]
    try:
        tags = subprocess.run(command, capture_output=True, text=True).stdout.split()
    except FileNotFoundError:
        return
    version = definition.project()["version"]
    if tags and f"v{version}" not in tags:
        raise InstallError(f"This commit is tagged as {', '.join(tags)}, but its version is {version}.")
    if tags and not json.loads((definition.ROOT / "resources" / "updates.json").read_text(encoding="utf-8"))["key"]:
        raise InstallError(
            "A release needs a key for updates: make one first (packaging/README.md says how), or nobody who installs "
            "it learns of the next version."
        )
