"""Take screenshots of the real window: `python packaging/screenshots.py FOLDER`.

The window runs offscreen with the real engine and the built-in model, in a temporary home folder with a few sample
models whose weight files are sparse. Nothing is drawn by hand: a load or an answer is merely held while a picture is
taken. With `--states` only the states are taken that tests/ui/stories/test_pictures.py compares with approved ones;
they show the same memory and durations on any machine. With `--readme` the pictures of the README are also written to
packaging/screenshots.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from pictures.sample_home import furnish
from pictures.scenes import Scenes
from pictures.stage import play
from pictures.states import take_states

ROOT = Path(__file__).resolve().parents[1]
LOOKS = [(appearance, scale) for appearance in ("light", "dark") for scale in ("1", "2")]


def main() -> int:
    """Take every picture, with a process for each appearance and scale."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="where the pictures go")
    parser.add_argument("--readme", action="store_true", help="write the README's pictures to packaging/screenshots")
    parser.add_argument("--states", action="store_true", help="take the states that a test compares")
    parser.add_argument("--language", default="en", help="the language of the window, such as de")
    parser.add_argument("--translations", type=Path, help="the folder of that language, if it is not a bundled one")
    parser.add_argument("--only", nargs=2, metavar=("APPEARANCE", "SCALE"), help="take those of one look")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    if options.inside:
        appearance, scale = options.only
        name = f"{appearance}-{{}}{'' if scale == '1' else '@2x'}"
        language = (options.language, options.translations)
        if options.states:
            play(lambda stage: take_states(stage, options.folder, name), same_figures=True, language=language)
        else:
            scenes = lambda stage: Scenes(stage, options.folder, f"{name}.png").play()  # noqa: E731
            play(scenes, same_figures=False, language=language)
        return 0
    for look in LOOKS:
        if not options.only or options.only == [*look]:
            take(options, look)
    if options.readme:
        target = ROOT / "packaging" / "screenshots"
        target.mkdir(parents=True, exist_ok=True)
        for appearance in ("light", "dark"):
            (target / f"sotto-{appearance}.png").write_bytes(
                (options.folder / f"{appearance}-answer@2x.png").read_bytes()
            )
    return 0


def take(options: argparse.Namespace, look: tuple[str, str]) -> None:
    """Take the pictures of an appearance and scale, in a process with a home folder of its own."""
    appearance, scale = look
    with tempfile.TemporaryDirectory() as home:
        environment = {
            **os.environ,
            "QT_QPA_PLATFORM": "offscreen",
            "QT_SCALE_FACTOR": scale,
            "SOTTO_APPEARANCE": appearance,
            "HOME": home,
            **furnish(Path(home)),
        }
        kind = ["--states"] if options.states else []
        kind += ["--language", options.language]
        kind += ["--translations", str(options.translations)] if options.translations else []
        command = [sys.executable, __file__, str(options.folder), "--inside", "--only", appearance, scale, *kind]
        subprocess.run(command, env=environment, check=True)


if __name__ == "__main__":
    sys.exit(main())
