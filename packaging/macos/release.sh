#!/bin/bash
# Makes the disk image that people download, from an app that `build.py app` has built. Runs on a Mac alone:
#
#     packaging/macos/release.sh Sotto.app OUT
#
# SOTTO_IDENTITY         the certificate, such as "Developer ID Application: The Sotto developers (TEAMID)";
#                        without it, the signature is good for this Mac alone
# SOTTO_NOTARY_PROFILE   where `xcrun notarytool store-credentials` has put the credentials; without it, other Macs
#                        refuse the app
#
# Each step checks what can be checked, and says what must be seen. Started in a terminal, it asks whether that is so;
# elsewhere it puts pictures of the screen into OUT. It ends at the first step that fails.
set -euo pipefail

[ "$(uname -s)" = Darwin ] || { echo "release.sh signs with Apple's tools: start it on a Mac." >&2; exit 1; }
[ $# -eq 2 ] || { echo "usage: packaging/macos/release.sh Sotto.app OUT" >&2; exit 2; }
given=$1
mkdir -p "$2"
out=$(cd "$2" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
[ -f "$given/Contents/Info.plist" ] || { echo "$given is no app: build it with packaging/build.py app." >&2; exit 1; }
identity=${SOTTO_IDENTITY:--}
profile=${SOTTO_NOTARY_PROFILE:-}
id=$(plutil -extract CFBundleIdentifier raw "$given/Contents/Info.plist")
version=$(plutil -extract CFBundleShortVersionString raw "$given/Contents/Info.plist")
app=$out/Sotto.app
program=$app/Contents/MacOS/Sotto
image=$out/sotto-$version-macos-arm64.dmg
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
number=0

step() {
    number=$((number + 1))
    echo
    echo "[$number] $1"
}

warn() {
    echo "WARNING: $1" >&2
    # Shown at the top of a run of GitHub's.
    [ -z "${GITHUB_ACTIONS:-}" ] || echo "::warning title=release.sh::$1"
}

seen() {
    echo "    Must be seen: $1"
    if [ -t 0 ]; then
        read -r -p "    Is it so? [y/n] " answer
        [ "$answer" = y ] || { echo "Step $number is not as it should be." >&2; exit 1; }
    else
        screencapture -x "$out/step-$number.png" || warn "There is no screen to take a picture of in step $number."
    fi
}

# Waits until a command succeeds, for at most half a minute.
within() {
    for _ in $(seq 60); do
        "$@" > /dev/null 2>&1 && return
        sleep 0.5
    done
    echo "Step $number waited for this in vain: $*" >&2
    exit 1
}

# Prints the first of the files that a pattern has found.
first() { [ ! -e "$1" ] || printf '%s' "$1"; }

runs() { pgrep -f "^$program( |\$)"; }
gone() { ! runs; }

step "The app is complete, and nothing in it is for another system."
[ -e "$given/Contents/Frameworks/Python.framework" ] || {
    echo "$given has no Python: build it with --python-support." >&2
    exit 1
}
tools=$(first "$root"/build/artefacts/macos-cp*/environment/bin/python)
[ -n "$tools" ] || { echo "The tools of packaging/build.py app are missing: build the app on this Mac." >&2; exit 1; }
"$tools" "$here/checks.py" "$given"

step "A copy without the names that only debuggers read."
rm -rf "$app"
ditto "$given" "$app"
xattr -cr "$app"
find "$app" -type f -print0 | while IFS= read -r -d '' file; do
    case $(file -b "$file") in
        Mach-O*) printf '%s\0' "$file" ;;
    esac
done > "$work/binaries"
xargs -0 -n 1 strip -x < "$work/binaries" 2> "$work/strip.log" || { cat "$work/strip.log" >&2; exit 1; }

step "Signed from the inside out, with the hardened runtime."
"$tools" -c 'import plistlib, sys
sys.path.append(sys.argv[1])
from macos import property_list
sys.stdout.buffer.write(plistlib.dumps(property_list.entitlements()))' "$root/packaging" > "$work/entitlements.plist"
plutil -lint "$work/entitlements.plist"
options=(--force --options runtime --sign "$identity")
if [ "$identity" = - ]; then
    warn "There is no SOTTO_IDENTITY: the signature is good for this Mac alone."
    options+=(--timestamp=none)
else
    options+=(--timestamp)
fi
# Libraries first, then the frameworks around them; the app seals everything.
xargs -0 codesign "${options[@]}" < "$work/binaries"
find "$app" -depth -name "*.framework" -type d -print0 | xargs -0 codesign "${options[@]}"
codesign "${options[@]}" --entitlements "$work/entitlements.plist" "$app"
# Must say "valid on disk" and "satisfies its Designated Requirement".
codesign --verify --deep --strict --verbose=2 "$app"
codesign --display --entitlements - --xml "$app" | plutil -p - | grep disable-library-validation
codesign --display --verbose=2 "$app" 2>&1 | grep 'flags=.*runtime'

step "It starts, and computes."
"$program" --version
"$program" doctor | tee "$out/doctor.txt"
# Must say "metal". Virtual Macs may have no graphics that MLX can use; there, the processor answers.
grep -i "^Device .*metal" "$out/doctor.txt" || warn "There is no Metal device: nothing was computed with it."
# In a home of its own, so that the person's chats stay as they are.
HOME=$work/home "$program" run sotto "Hello" | tee "$out/answer.txt"
[ -s "$out/answer.txt" ]

step "Its window opens, with menus and a Dock icon of its own."
open -n "$app"
within runs
within sh -c "lsappinfo info -only ApplicationType $id | grep Foreground"
seen "A window called Sotto, its menus in the menu bar, its icon in the Dock and in the menu bar; none called Python."

step "Files that are double-clicked or dropped on its Dock icon open in it."
cp "$app"/Contents/Resources/app/sotto/_resources/store/manifests/*/*/*/* "$work/manifest.json"
open -a "$app" "$work/manifest.json"
open "$(dirname "$given")"
seen "The window says what it did with manifest.json; a folder with a model that is dropped on the Dock icon is loaded."

step "Addresses that begin with sotto:// open in it."
open "sotto://"
seen "The window is in front, and there is no message that no program opens this address."

step "It stays in the menu bar without a window, and answers there."
seen "With ⌘W the window goes and the icons stay; a click on the Dock icon brings it back; the menu-bar icon has a menu."
seen "With the shortcut from Settings, the quick prompt opens in front of another program, which stays the active one."

step "It quits, and nothing is left running."
osascript -e "tell application id \"$id\" to quit" || kill -TERM "$(runs | head -n 1)"
within gone

step "Apple's notaries accept it."
if [ "$identity" != - ] && [ -n "$profile" ]; then
    ditto -c -k --keepParent "$app" "$work/Sotto.zip"
    # Must say "status: Accepted".
    xcrun notarytool submit "$work/Sotto.zip" --keychain-profile "$profile" --wait | tee "$work/notary.log"
    grep -q "status: Accepted" "$work/notary.log"
    xcrun stapler staple "$app"
    xcrun stapler validate "$app"
    # Must say "accepted" and "source=Notarized Developer ID".
    spctl --assess --type execute --verbose "$app"
else
    warn "There is no certificate or no SOTTO_NOTARY_PROFILE: the app is not notarized, and other Macs refuse it."
fi

step "The disk image."
mkdir "$work/image"
# Compressed by the file system, so that it also takes less of the disk of the person who drags it out.
ditto --hfsCompression "$app" "$work/image/Sotto.app"
ln -s /Applications "$work/image/Applications"
rm -f "$image"
hdiutil create -volname "Sotto $version" -srcfolder "$work/image" -fs APFS -format ULFO "$image"
if [ "$identity" != - ]; then
    codesign --sign "$identity" --timestamp "$image"
fi
if [ "$identity" != - ] && [ -n "$profile" ]; then
    xcrun notarytool submit "$image" --keychain-profile "$profile" --wait | tee "$work/notary.log"
    grep -q "status: Accepted" "$work/notary.log"
    xcrun stapler staple "$image"
fi

step "What is in the image is what was signed."
hdiutil verify "$image"
hdiutil attach "$image" -nobrowse -mountpoint "$work/mounted"
codesign --verify --deep --strict "$work/mounted/Sotto.app"
"$work/mounted/Sotto.app/Contents/MacOS/Sotto" --version
du -sm "$work/mounted/Sotto.app" "$image" | tee "$out/sizes.txt"
hdiutil detach "$work/mounted"
echo "    Must be seen: the first number is at most 200 (MB on disk)."
echo
echo "$image"
