"""Signatures in minisign's form: right ones, and everything that is not."""

import base64
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from signed_feeds import Signer
from sotto.updates.minisign import PublicKey, signed_text
from sotto.updates.update_errors import UpdateError

TEXT = b'{"a": 1}\nand more\n\n'


@pytest.mark.parametrize("hashed", [True, False])
@pytest.mark.parametrize("text", [TEXT, b""])
def test_a_signed_text_is_returned(hashed: bool, text: bytes) -> None:
    signer = Signer()
    assert signed_text(signer.sign(text, hashed=hashed), signer.public) == text


@pytest.mark.parametrize("hashed", [True, False])
def test_no_single_byte_of_text_or_signature_can_be_changed(hashed: bool) -> None:
    signer = Signer()
    signed = signer.sign(TEXT, hashed=hashed)
    free = len(b"untrusted comment: from a test\n")
    for index in range(free, len(signed)):
        altered = signed[:index] + bytes((signed[index] ^ 1,)) + signed[index + 1 :]
        with pytest.raises(UpdateError):
            signed_text(altered, signer.public)


def test_another_key_is_told_from_a_wrong_signature() -> None:
    signer = Signer()
    with pytest.raises(UpdateError, match="signed with another key"):
        signed_text(Signer(b"\x02" * 32, b"87654321").sign(TEXT), signer.public)
    with pytest.raises(UpdateError, match=r"signature .* is wrong"):
        signed_text(Signer(b"\x02" * 32).sign(TEXT), signer.public)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n" * 9,
        TEXT,
        b"untrusted comment: a\nRWQ=\ntrusted comment: b\n",
        Signer().sign(TEXT).replace(b"\n", b"\r\n"),
        Signer().sign(TEXT).replace(b"trusted comment: t", b"trusted comment t"),
        Signer().sign(TEXT).replace(b"untrusted", b"unsigned"),
        b"untrusted comment: a\n\xff\xfe\ntrusted comment: b\n????\n" + TEXT,
        b"untrusted comment: a\n" + base64.b64encode(b"ED" + b"1" * 71) + b"\ntrusted comment: b\n" + b"QQ==\n" + TEXT,
    ],
)
def test_what_is_no_signature_is_refused(data: bytes) -> None:
    with pytest.raises(UpdateError, match=r"\.$"):
        signed_text(data, Signer().public)


@given(st.lists(st.binary(max_size=120), max_size=6).map(b"\n".join))
def test_any_bytes_are_refused_in_one_sentence(data: bytes) -> None:
    prefixed = data.replace(b"\n", b"\ntrusted comment: ", 2)
    for hostile in (data, b"untrusted comment: " + data, b"untrusted comment: " + prefixed):
        with pytest.raises(UpdateError):
            signed_text(hostile, Signer().public)


@pytest.mark.parametrize("line", ["", "nonsense", "RWQ=", base64.b64encode(b"XX" + b"1" * 40).decode(), "ä"])
def test_what_is_no_public_key_is_refused(line: str) -> None:
    with pytest.raises(UpdateError, match="public key for updates"):
        PublicKey.parse(line)


@pytest.mark.skipif(shutil.which("minisign") is None, reason="minisign is not installed")
def test_minisign_itself_agrees(tmp_path: Path) -> None:
    text, secret, public = (tmp_path / name for name in ("text", "secret.key", "public.key"))
    text.write_bytes(TEXT)
    run = ["minisign", "-G", "-W", "-s", str(secret), "-p", str(public)]
    subprocess.run(run, check=True, capture_output=True)
    signature = tmp_path / "text.minisig"
    subprocess.run(["minisign", "-S", "-s", secret, "-m", text, "-x", signature], check=True, capture_output=True)
    key = PublicKey.parse(public.read_text().splitlines()[1])
    assert signed_text(signature.read_bytes() + TEXT, key) == TEXT
    # And the other way round: what the tests sign is what minisign takes.
    signer = Signer()
    lines = signer.sign(TEXT).split(b"\n", 4)[:4]
    signature.write_bytes(b"".join(line + b"\n" for line in lines))
    subprocess.run(["minisign", "-V", "-P", signer.line, "-m", text, "-x", signature], check=True, capture_output=True)
