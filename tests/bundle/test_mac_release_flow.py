"""The script that makes the disk image, run with scripted tools in the place of Apple's: what it calls, in which order.

What the real tools do is seen on a Mac alone.
"""

import os
import plistlib
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# For each of Apple's tools: what it does here, as a shell script. All write their names and arguments into $LOG.
TOOLS = {
    "codesign": 'case "$*" in *--entitlements\\ -*) echo disable-library-validation ;; '
    '*--display*) echo "flags=0x10000(runtime)" >&2 ;; esac',
    "ditto": 'case "$1" in -c) : > "$5" ;; --hfsCompression) cp -a "$2" "$3" ;; *) cp -a "$1" "$2" ;; esac',
    "file": 'case "$2" in *Sotto|*.so) echo "Mach-O 64-bit" ;; *) echo data ;; esac',
    "hdiutil": 'case "$1" in create) for last; do :; done; : > "$last" ;; '
    'attach) mkdir -p "$5"; cp -a "$(dirname "$5")/image/." "$5" ;; esac',
    "lsappinfo": 'echo "\\"ApplicationType\\"=\\"Foreground\\""',
    "open": 'case "$1" in -n) touch "$RUNNING" ;; esac',
    "osascript": 'rm -f "$RUNNING"',
    "pgrep": '[ -e "$RUNNING" ] && echo 7',
    "plutil": 'case "$2" in CFBundleIdentifier) echo app.sotto ;; CFBundleShortVersionString) echo 1.2.3 ;; '
    "-) cat ;; esac",
    "screencapture": ': > "$2"',
    "spctl": "",
    "strip": "",
    "uname": "echo Darwin",
    "xattr": "",
    "xcrun": 'case "$*" in *submit*) echo "status: ${NOTARY:-Accepted}" ;; esac',
}
PROGRAM = """#!/bin/sh
case "$1" in
    --version) echo "sotto 1.2.3" ;;
    doctor) echo "Device                metal" ;;
    run) echo "Hello" ;;
esac
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Return a folder with a checkout in which an app was built, and a Mac's tools."""
    for name, body in TOOLS.items():
        tool = tmp_path / "tools" / name
        tool.parent.mkdir(exist_ok=True)
        log = f'printf "%s\\n" "{name} $*" >> "$LOG"\n' if name not in ("file", "pgrep", "uname") else ""
        tool.write_text(f"#!/bin/sh\n{log}{body}\n")
        tool.chmod(0o755)
    macos = tmp_path / "checkout" / "packaging" / "macos"
    macos.mkdir(parents=True)
    shutil.copy2(ROOT / "packaging" / "macos" / "release.sh", macos)
    python = tmp_path / "checkout" / "build" / "artefacts" / "macos-cp313" / "environment" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text('#!/bin/sh\nprintf "%s\\n" "python $1" >> "$LOG"\n')
    python.chmod(0o755)
    contents = tmp_path / "built here" / "Sotto.app" / "Contents"
    files = {
        "MacOS/Sotto": PROGRAM,
        "Frameworks/Python.framework/Versions/3.13/lib/_ssl.so": "",
        "Resources/app/sotto/_resources/store/manifests/registry/library/sotto/latest": "{}",
    }
    for name, text in files.items():
        path = contents / name
        path.parent.mkdir(parents=True)
        path.write_text(text)
    (contents / "MacOS" / "Sotto").chmod(0o755)
    (contents / "Info.plist").write_bytes(plistlib.dumps({}))
    return tmp_path


def release(place: Path, **environment: str) -> tuple[subprocess.CompletedProcess[str], list[str]]:
    """Run the script, and return its result and the calls of tools."""
    log = place / "log"
    log.write_text("")
    known = {"PATH": f"{place / 'tools'}:{os.environ['PATH']}", "LOG": str(log), "RUNNING": str(place / "running")}
    script = place / "checkout" / "packaging" / "macos" / "release.sh"
    result = subprocess.run(
        [script, place / "built here" / "Sotto.app", place / "out"],
        env={**known, "HOME": str(place), **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )
    return result, log.read_text().splitlines()


def test_without_a_certificate_an_image_for_this_mac_is_made_with_warnings(place: Path) -> None:
    result, calls = release(place)
    assert result.returncode == 0, result.stderr
    image = place / "out" / "sotto-1.2.3-macos-arm64.dmg"
    assert result.stdout.splitlines()[-1] == str(image)
    assert image.is_file()
    warnings = [line for line in result.stderr.splitlines() if line.startswith("WARNING: ")]
    assert len(warnings) == 2
    assert "the signature is good for this Mac alone" in warnings[0]
    assert "the app is not notarized" in warnings[1]
    assert not [call for call in calls if call.startswith(("xcrun", "spctl"))]
    assert "--sign - --timestamp=none" in next(call for call in calls if call.startswith("codesign"))
    assert len(list((place / "out").glob("step-*.png"))) >= 4


def test_everything_is_signed_from_the_inside_out(place: Path) -> None:
    _, calls = release(place, SOTTO_IDENTITY="Developer ID Application: X (TEAM)", SOTTO_NOTARY_PROFILE="sotto")
    signed = [call for call in calls if call.startswith("codesign --force")]
    assert all("--options runtime --sign Developer ID Application: X (TEAM) --timestamp" in call for call in signed)
    libraries, frameworks, whole = signed
    assert "_ssl.so" in libraries
    assert frameworks.endswith("Python.framework")
    assert "--entitlements" in whole
    assert whole.endswith("/out/Sotto.app")
    assert calls[0] == f"plutil -extract CFBundleIdentifier raw {place}/built here/Sotto.app/Contents/Info.plist"
    parts = [
        *("checks.py", "strip", "codesign --force", "codesign --verify", "open -n", "open -a", "open sotto://"),
        *("osascript", "notarytool submit", "stapler staple", "spctl", "hdiutil create", "hdiutil attach"),
    ]
    order = [next(row for row, call in enumerate(calls) if part in call) for part in parts]
    assert order == sorted(order)
    # The app, and the image around it.
    assert sum("notarytool submit" in call for call in calls) == 2


def test_an_app_that_apple_refuses_is_not_released(place: Path) -> None:
    result, calls = release(place, SOTTO_IDENTITY="X", SOTTO_NOTARY_PROFILE="sotto", NOTARY="Invalid")
    assert result.returncode != 0
    assert not [call for call in calls if call.startswith(("hdiutil", "xcrun stapler"))]


def test_an_app_without_python_or_tools_is_refused_with_a_sentence(place: Path) -> None:
    given = place / "built here" / "Sotto.app"
    shutil.rmtree(given / "Contents" / "Frameworks")
    result, _ = release(place)
    assert (result.returncode, result.stderr) == (1, f"{given} has no Python: build it with --python-support.\n")
    (given / "Contents" / "Frameworks" / "Python.framework").mkdir(parents=True)
    shutil.rmtree(place / "checkout" / "build")
    result, _ = release(place)
    sentence = "The tools of packaging/build.py app are missing: build the app on this Mac.\n"
    assert (result.returncode, result.stderr) == (1, sentence)
