"""Creates resized images with transformers for the tests: `python make_resized.py`.

It writes to tests/engine/vision/references/resizing:

- `cases.json`: by name, the size of the image (see `drawn` in the test) and the settings of the processor;
- `expected.safetensors`: by the same names, the normalised pixels `[3, H, W]`.

Needs the extra `reference`. The same versions produce the same files.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from safetensors.numpy import save_file
from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil

TARGET = Path(__file__).resolve().parents[2] / "tests" / "engine" / "vision" / "references" / "resizing"
_WHOLE = {"do_center_crop": False}
# By name: width and height, and what differs from CLIP's settings. 0 is nearest, 1 Lanczos, 2 bilinear, 3 bicubic.
CASES: dict[str, tuple[tuple[int, int], dict[str, Any]]] = {
    **{
        f"{name}-{what}": (size, {"size": {"height": 14, "width": 17}, "resample": resample, **_WHOLE})
        for resample, name in enumerate(("nearest", "lanczos", "bilinear", "bicubic", "box", "hamming"))
        for what, size in (("smaller", (61, 47)), ("larger", (9, 6)))
    },
    "shortest-edge": ((61, 47), {"size": {"shortest_edge": 16}, "crop_size": {"height": 15, "width": 13}}),
    "padded": ((12, 30), {"do_resize": False, "crop_size": {"height": 21, "width": 21}}),
    "padded-odd": ((13, 12), {"do_resize": False, "crop_size": {"height": 19, "width": 18}}),
    "cut-odd": ((20, 17), {"do_resize": False, "crop_size": {"height": 12, "width": 13}}),
}


def drawn(width: int, height: int) -> Image.Image:
    """Return an image with soft and hard edges, by a formula that the test has, too."""
    pixels = [
        ((x * x + 5 * y) % 256, (40 * x) % 256, 255 if (x // 5 + y // 3) % 2 else (11 * y) % 256)
        for y in range(height)
        for x in range(width)
    ]
    return Image.frombytes("RGB", (width, height), bytes(value for pixel in pixels for value in pixel))


def main() -> None:
    """Write both files."""
    TARGET.mkdir(parents=True, exist_ok=True)
    expected = {}
    for name, (size, settings) in CASES.items():
        processor = CLIPImageProcessorPil(**settings)
        expected[name] = np.ascontiguousarray(processor(drawn(*size))["pixel_values"][0], dtype=np.float32)
    save_file(expected, TARGET / "expected.safetensors")
    cases = {name: {"image": size, **settings} for name, (size, settings) in CASES.items()}
    (TARGET / "cases.json").write_text(json.dumps(cases, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
