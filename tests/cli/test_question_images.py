"""Images of questions: `--image`, and paths in the questions of a conversation."""

import os
import pty
import subprocess
import threading
from dataclasses import replace

import pytest

from commands import SOTTO, sotto
from shown_pictures import REFERENCES, answers, picture, request, user
from sotto.cli import chat
from sotto.cli.question_images import find_images, with_images
from sotto.engine.contract.events import ModelInfo
from sotto.engine.contract.message_content import ImagePart, TextPart
from sotto.errors import InvalidRequestError

PNG = b"\x89PNG\r\n\x1a\n of a kind"
JPEG = b"\xff\xd8\xff of a kind"
DOT, PHOTO = ImagePart(PNG), ImagePart(JPEG)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a folder with images, which is the working directory and the home."""
    for name, content in {
        "a.png": PNG,
        "my photo (1).jpg": JPEG,
        "it's.png": PNG,
        "no-suffix": JPEG,
        "notes.png": b"Not an image.",
        "notes.txt": b"Notes.",
    }.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "folder.png").mkdir()
    os.mkfifo(tmp_path / "pipe.png")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize(
    ("question", "content"),
    [
        ("What is in ./a.png?", (DOT, TextPart("What is in ?"))),
        ("./a.png", (DOT,)),
        ("Look at ~/a.png please", (DOT, TextPart("Look at please"))),
        ("Is {}/a.png like ./my\\ photo\\ \\(1\\).jpg", (DOT, PHOTO, TextPart("Is like"))),
        ("'{}/my photo (1).jpg' and \"./a.png\", well?", (PHOTO, DOT, TextPart("and , well?"))),
        ("What's this: './my photo (1).jpg'", (PHOTO, TextPart("What's this:"))),
        ("./it's.png ./it\\'s.png", (DOT, DOT)),
        ("(./a.png)", (DOT, TextPart("()"))),
        ("./no-suffix, then", (PHOTO, TextPart(", then"))),
        ("a.png is a file", "a.png is a file"),
        ("./gone.png ./notes.png ./notes.txt ./folder.png ./pipe.png", None),
        ("and/or ~nobody/a.png /dev/zero '/' \"", None),
        ("./a.pngs", None),
        ("x./a.png", None),
        ("a\\", None),
        ("/" + "x" * 5000, None),
        ("./\0.png", None),
    ],
)
def test_paths_of_images_become_images(folder, question, content):
    question = question.replace("{}", str(folder))
    assert with_images(question, find_images(question)) == (question if content is None else content)


def test_the_images_of_the_command_line_come_first(folder):
    question = "And ./a.png"
    assert with_images(question, find_images(question), [PHOTO]) == (PHOTO, DOT, TextPart("And"))
    assert with_images(" As it is. ", (), [PHOTO]) == (PHOTO, TextPart(" As it is. "))


def test_an_image_that_cannot_be_read_is_named(folder, monkeypatch):
    found = find_images("./a.png")
    (folder / "a.png").unlink()
    with pytest.raises(InvalidRequestError, match=r"^a\.png cannot be read: No such file or directory\.$"):
        with_images("./a.png", found)


@pytest.mark.parametrize("sees", [True, False])
def test_a_conversation_says_which_images_are_shown(folder, capsys, sees):
    info = ModelInfo("", "tiny", "llama", 100, 1, 1, "float32", "cpu", True, 1, sees=sees)
    content = chat._content("Is it ./a.png", (), info)
    assert content == ((DOT, TextPart("Is it")) if sees else "Is it ./a.png")
    said = "Added image a.png" if sees else "(tiny does not see images; it is only told the path.)"
    assert capsys.readouterr().err == f"{said}\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--image", "{}/a.png"], "sotto:latest does not see images: choose a model that does, or leave --image out."),
        (["--image", "{}/a.png", "--image", "{}/gone.png"], "{}/gone.png cannot be read: No such file or directory."),
        (["--image", "{}/notes.png"], "{}/notes.png is not an image: give PNG, JPEG, WebP, GIF, BMP or TIFF."),
        (["--image", "{}/folder.png"], "{}/folder.png is not a file: give the path of an image."),
        (["--image", "{}/pipe.png"], "{}/pipe.png is not a file: give the path of an image."),
        (["--image", "-"], "--image - cannot be read, as stdin holds the prompt: give the path of a file."),
        (["--image", "{}/a.png", "--raw"], "--raw and --image cannot be combined; leave one of them out."),
    ],
)
def test_images_that_cannot_be_shown_are_refused(env, folder, options, says):
    done = sotto(env, "run", "sotto", "What is it?", *(option.replace("{}", str(folder)) for option in options))
    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"sotto: {says.replace('{}', str(folder))}\n")


@pytest.mark.slow
def test_a_path_in_a_single_prompt_stays_text(env, folder):
    done = sotto(env, "run", "sotto", f"Who are you? {folder}/a.png")
    assert (done.returncode, done.stderr) == (0, "")
    piped = sotto(env, "run", "sotto", stdin=f"Who are you? {folder}/a.png\n")
    assert piped.stdout == done.stdout


SEEING = REFERENCES / "gemma3"


@pytest.fixture(scope="module")
def expected():
    """Return what the model says to `a b` with two pictures, which it tells apart."""
    asked = [replace(request([user(number, "a b")], 4), ignore_eos=False) for number in (1, 3)]
    one, other = (end.text for end in answers(SEEING, asked))
    assert one != other
    return one, other


@pytest.mark.slow
def test_the_model_sees_the_images_of_the_command_line(env, tmp_path, expected):
    for number, text in zip((1, 3), expected, strict=True):
        path = tmp_path / f"{number}.png"
        path.write_bytes(picture(number))
        line = ("run", str(SEEING), "--image", str(path), "--temperature", "0", "--num-predict", "4")
        assert sotto(env, *line, "a b").stdout == sotto(env, *line, stdin="a b\n").stdout == f"{text}\n"


@pytest.mark.slow
def test_a_conversation_shows_images(env, tmp_path, expected):
    """Give one image with the command and one in a question, in a terminal; both are shown."""
    for number in (1, 3):
        (tmp_path / f"{number} of.png").write_bytes(picture(number))
    try:
        master, slave = pty.openpty()
    except OSError as error:
        pytest.skip(f"needs a pseudo-terminal, which this machine does not give: {error}")
    line = ("run", str(SEEING), "--image", str(tmp_path / "1 of.png"), "--temperature", "0", "--num-predict", "4")
    child = subprocess.Popen(
        [*SOTTO, *line], env=env | {"TERM": "dumb"}, stdin=slave, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    os.close(slave)
    os.write(master, b"a b\n" + f"a '{tmp_path}/3 of.png' b\n".encode() + b"\x04")
    killer = threading.Timer(60, child.kill)
    killer.start()
    output, errors = child.communicate()
    killer.cancel()
    os.close(master)
    assert child.returncode == 0, errors
    assert output.decode().startswith(f"> {expected[0]}\n")
    assert f"Added image {tmp_path}/3 of.png" in errors.decode()
