"""The key by which a registry knows who uploads: an Ed25519 key of Sotto's own, made on first use.

Requests for a token are signed as Ollama does it: the signed text has the method, the address and the digest of the
empty body; the header has the public key and the signature.
"""

import base64
import hashlib
import struct
from pathlib import Path
from typing import TYPE_CHECKING

from sotto.errors import BrokenModelError, StoreError
from sotto.paths import data_dir
from sotto.store.atomic_writing import write_atomically
from sotto.store.files import read_all
from sotto.store.printable import printable_path

if TYPE_CHECKING:
    from nacl.signing import SigningKey

_KIND = b"ssh-ed25519"
_EMPTY = base64.b64encode(hashlib.sha256(b"").hexdigest().encode()).decode()
_SEED_SIZE = 32


class RegistryKey:
    """A key pair.

    Attributes:
        public: The public key in one line, as SSH writes it, to be given to a registry.
    """

    def __init__(self, key: "SigningKey") -> None:
        """Sign with a key."""
        self._key = key
        parts = (_KIND, key.verify_key.encode())
        self._blob = base64.b64encode(b"".join(struct.pack(">I", len(part)) + part for part in parts)).decode()
        self.public = f"{_KIND.decode()} {self._blob}"

    @classmethod
    def own(cls) -> "RegistryKey":
        """Return Sotto's own key, which is made if there is none.

        Raises:
            StoreError: It cannot be read or written.
        """
        from nacl.signing import SigningKey

        path = key_file()
        try:
            if not path.exists():
                write_atomically(path, base64.b64encode(SigningKey.generate().encode()) + b"\n")
            seed = base64.b64decode(read_all(path, 1024, "a key"), validate=False)
        except OSError as error:
            raise StoreError(f"{printable_path(path)} cannot be written: {error.strerror}.") from error
        except ValueError:
            seed = b""
        if len(seed) != _SEED_SIZE:
            raise BrokenModelError(f"{printable_path(path)} is no key of Sotto's; delete it, and a new one is made.")
        return cls(SigningKey(seed))

    def authorization(self, method: str, url: str) -> str:
        """Return the header that proves who requests a token at an address."""
        signature = self._key.sign(f"{method},{url},{_EMPTY}".encode()).signature
        return f"{self._blob}:{base64.b64encode(signature).decode()}"


def key_file() -> Path:
    """Return the file of Sotto's own key; it may not exist yet."""
    return data_dir() / "registry-key"
