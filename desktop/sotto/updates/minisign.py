"""Checks signatures in the form of minisign (https://jedisct1.github.io/minisign/): Ed25519 with two lines of comments.

A signed text begins with the four lines of its signature, so that both come from one address and always fit together.
`head -n 4` and `tail -n +5` take them apart for `minisign -V`.
"""

import base64
import binascii
import hashlib
from dataclasses import dataclass

from sotto.updates.update_errors import UpdateError

_UNTRUSTED, _TRUSTED = b"untrusted comment: ", b"trusted comment: "
# Of the text itself, as old versions sign, and of its BLAKE2b digest.
_PLAIN, _HASHED = b"Ed", b"ED"
_KEY_SIZE, _SIGNATURE_SIZE, _ID_SIZE = 32, 64, 8
_LINES = 4


@dataclass(frozen=True, slots=True)
class PublicKey:
    """A public key of minisign.

    Attributes:
        number: Tells this key from others.
        key: The Ed25519 key.
    """

    number: bytes
    key: bytes

    @classmethod
    def parse(cls, text: str) -> "PublicKey":
        """Return the key in a line as `minisign -P` takes it.

        Raises:
            UpdateError: It is not one.
        """
        found = _decoded(text.encode(), "public key")
        if len(found) != 2 + _ID_SIZE + _KEY_SIZE or not found.startswith(_PLAIN):
            raise UpdateError("The public key for updates is not one of minisign.")
        return cls(found[2 : 2 + _ID_SIZE], found[2 + _ID_SIZE :])


def signed_text(data: bytes, key: PublicKey) -> bytes:
    """Return the text that follows its signature.

    Raises:
        UpdateError: The signature is not that of this key for this text.
    """
    *lines, text = data.split(b"\n", _LINES)
    if (
        len(lines) != _LINES
        or not lines[0].startswith(_UNTRUSTED)
        or not lines[2].startswith(_TRUSTED)
        or any(b"\r" in line for line in lines)
    ):
        raise UpdateError("The list of versions does not begin with a signature, so it is not used.")
    signature, whole = _decoded(lines[1], "signature"), _decoded(lines[3], "signature")
    form, number, own = signature[:2], signature[2 : 2 + _ID_SIZE], signature[2 + _ID_SIZE :]
    if form not in (_PLAIN, _HASHED) or len(own) != _SIGNATURE_SIZE or len(whole) != _SIGNATURE_SIZE:
        raise UpdateError("The list of versions has a signature of another form than minisign's, so it is not used.")
    if number != key.number:
        raise UpdateError("The list of versions is signed with another key than Sotto's, so it is not used.")
    digest = hashlib.blake2b(text).digest() if form == _HASHED else text
    _verify(key, own, digest)
    _verify(key, whole, own + lines[2].removeprefix(_TRUSTED))
    return text


def _verify(key: PublicKey, signature: bytes, text: bytes) -> None:
    from nacl.exceptions import BadSignatureError
    from nacl.signing import VerifyKey

    try:
        VerifyKey(key.key).verify(text, signature)
    except BadSignatureError as error:
        raise UpdateError("The signature of the list of versions is wrong, so it is not used.") from error


def _decoded(line: bytes, what: str) -> bytes:
    try:
        return base64.b64decode(line, validate=True)
    except binascii.Error as error:
        raise UpdateError(f"The {what} for updates is not base64.") from error
