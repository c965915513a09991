"""The parts of X11 that Qt does not offer: the input focus of other programs, and global shortcuts.

It uses the library that Qt itself uses, on a connection of its own; each request is a few bytes. No maintained package
binds these calls without bringing a second X library along.
"""

import ctypes
from ctypes import POINTER, Structure, c_char_p, c_int, c_uint8, c_uint16, c_uint32, c_void_p
from typing import Any

_KEY_PRESS, _KEY_RELEASE = 2, 3
_GRAB_ASYNC, _REVERT_TO_PARENT = 1, 2
_NO_FOCUS = (0, 1)  # on nothing, or on the window under the pointer


class _Cookie(Structure):
    _fields_ = (("sequence", c_uint32),)


class _Screens(Structure):
    _fields_ = (("root", POINTER(c_uint32)), ("rem", c_int), ("index", c_int))


class _Number(Structure):
    """A reply that is one number: an atom, or a window."""

    _fields_ = (
        *(("response_type", c_uint8), ("pad", c_uint8), ("sequence", c_uint16), ("length", c_uint32)),
        ("number", c_uint32),
    )


class _Event(Structure):
    _fields_ = (("response_type", c_uint8), ("detail", c_uint8), ("sequence", c_uint16), ("time", c_uint32))


class Server:
    """A connection to the X server.

    Attributes:
        root: The root window.
    """

    def __init__(self) -> None:
        """Connect to the server of the `DISPLAY`.

        Raises:
            OSError: There is no server, or its libraries are missing.
        """
        self._libc = ctypes.CDLL(None)
        self._libc.free.argtypes = [c_void_p]
        self._xcb = ctypes.CDLL("libxcb.so.1")
        self._symbols = ctypes.CDLL("libxcb-keysyms.so.1")
        self._declare()
        self._connection = self._xcb.xcb_connect(None, None)
        if self._xcb.xcb_connection_has_error(self._connection):
            self._xcb.xcb_disconnect(self._connection)
            raise OSError("The X server takes no connection.")
        screens = self._xcb.xcb_setup_roots_iterator(self._xcb.xcb_get_setup(self._connection))
        self.root = int(screens.root[0])

    def _declare(self) -> None:
        xcb, symbols = self._xcb, self._symbols
        for library, name, result, arguments in (
            (xcb, "connect", c_void_p, [c_char_p, c_void_p]),
            (xcb, "connection_has_error", c_int, [c_void_p]),
            (xcb, "disconnect", None, [c_void_p]),
            (xcb, "get_file_descriptor", c_int, [c_void_p]),
            (xcb, "get_setup", c_void_p, [c_void_p]),
            (xcb, "setup_roots_iterator", _Screens, [c_void_p]),
            (xcb, "request_check", c_void_p, [c_void_p, _Cookie]),
            (xcb, "poll_for_event", POINTER(_Event), [c_void_p]),
            (xcb, "intern_atom", _Cookie, [c_void_p, c_uint8, c_uint16, c_char_p]),
            (xcb, "intern_atom_reply", POINTER(_Number), [c_void_p, _Cookie, c_void_p]),
            (xcb, "get_selection_owner", _Cookie, [c_void_p, c_uint32]),
            (xcb, "get_selection_owner_reply", POINTER(_Number), [c_void_p, _Cookie, c_void_p]),
            (xcb, "get_input_focus", _Cookie, [c_void_p]),
            (xcb, "get_input_focus_reply", POINTER(_Number), [c_void_p, _Cookie, c_void_p]),
            (xcb, "set_input_focus_checked", _Cookie, [c_void_p, c_uint8, c_uint32, c_uint32]),
            (
                *(xcb, "grab_key_checked", _Cookie),
                [c_void_p, c_uint8, c_uint32, c_uint16, c_uint8, c_uint8, c_uint8],
            ),
            (xcb, "ungrab_key_checked", _Cookie, [c_void_p, c_uint8, c_uint32, c_uint16]),
            (symbols, "key_symbols_alloc", c_void_p, [c_void_p]),
            (symbols, "key_symbols_get_keycode", POINTER(c_uint8), [c_void_p, c_uint32]),
            (symbols, "key_symbols_free", None, [c_void_p]),
        ):
            function = getattr(library, f"xcb_{name}")
            function.restype, function.argtypes = result, arguments

    @property
    def descriptor(self) -> int:
        """The file descriptor that becomes readable when events arrive."""
        return int(self._xcb.xcb_get_file_descriptor(self._connection))

    def close(self) -> None:
        """Close the connection, which releases all grabbed keys."""
        self._xcb.xcb_disconnect(self._connection)

    @property
    def composited(self) -> bool:
        """Whether a compositor runs, so that windows can be transparent."""
        xcb, name = self._xcb, b"_NET_WM_CM_S0"
        atom = self._number(xcb.xcb_intern_atom_reply, xcb.xcb_intern_atom(self._connection, 0, len(name), name))
        owner = xcb.xcb_get_selection_owner(self._connection, atom)
        return self._number(xcb.xcb_get_selection_owner_reply, owner) != 0

    # The input focus

    def focus(self) -> int:
        """Return the window that has the input focus; 0 for none."""
        asked = self._xcb.xcb_get_input_focus(self._connection)
        window = self._number(self._xcb.xcb_get_input_focus_reply, asked)
        return 0 if window in (*_NO_FOCUS, self.root) else window

    def set_focus(self, window: int) -> None:
        """Give the input focus to a window, if it still exists."""
        self._done(self._xcb.xcb_set_input_focus_checked(self._connection, _REVERT_TO_PARENT, window, 0))

    # Keys

    def codes(self, symbol: int) -> list[int]:
        """Return the keycodes of this keyboard that produce a keysym."""
        table = self._symbols.xcb_key_symbols_alloc(self._connection)
        found = self._symbols.xcb_key_symbols_get_keycode(table, symbol)
        codes: list[int] = []
        while found and found[len(codes)]:
            codes.append(int(found[len(codes)]))
        self._libc.free(found)
        self._symbols.xcb_key_symbols_free(table)
        return codes

    def grab(self, code: int, modifiers: int) -> bool:
        """Grab a key with modifiers, wherever the focus is; return False if another program has grabbed it."""
        return self._done(
            self._xcb.xcb_grab_key_checked(self._connection, 0, self.root, modifiers, code, _GRAB_ASYNC, _GRAB_ASYNC)
        )

    def ungrab(self, code: int, modifiers: int) -> None:
        """Release a grabbed key."""
        self._done(self._xcb.xcb_ungrab_key_checked(self._connection, code, self.root, modifiers))

    def presses(self) -> list[tuple[bool, int]]:
        """Return the events of grabbed keys: whether a key was pressed, not released, and when, in milliseconds."""
        found: list[tuple[bool, int]] = []
        while event := self._xcb.xcb_poll_for_event(self._connection):
            kind, when = event.contents.response_type & 0x7F, int(event.contents.time)
            self._libc.free(event)
            if kind in (_KEY_PRESS, _KEY_RELEASE):
                found.append((kind == _KEY_PRESS, when))
        return found

    def _number(self, answer_of: Any, cookie: _Cookie) -> int:
        """Wait for a reply that is one number; return 0 where there is none."""
        reply = answer_of(self._connection, cookie, None)
        if not reply:
            return 0
        number = int(reply.contents.number)
        self._libc.free(reply)
        return number

    def _done(self, cookie: _Cookie) -> bool:
        """Wait until the server has carried out a request; return False if it could not."""
        error = self._xcb.xcb_request_check(self._connection, cookie)
        if error:
            self._libc.free(error)
        return not error
