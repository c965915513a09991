"""Hatchling build hook that compiles the native kernels and adds them to the wheel where the build succeeds."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

sys.path.insert(0, str(Path(__file__).resolve().parent))

import native_build


class NativeKernels(BuildHookInterface):
    """Builds in the source tree: an editable install uses the result there, a wheel contains a copy."""

    def dependencies(self) -> list[str]:
        return native_build.requirements()

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        record = native_build.build()
        if not record["built"]:
            self.app.display_warning(f"Sotto has no native kernels: {record['reason']}")
        if native_build.unsupported_platform() or version == "editable":
            return
        paths = [native_build.TARGET / native_build.record_name()]
        if record["built"]:
            paths += native_build.products()
            build_data["pure_python"] = False
            build_data["infer_tag"] = True
        for path in paths:
            build_data["force_include"][str(path)] = f"sotto/_native/{path.name}"
