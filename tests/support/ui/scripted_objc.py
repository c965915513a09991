"""A runtime of Objective-C with the few objects of macOS that Sotto talks to; it refuses all other messages."""

import sys
from ctypes import c_bool
from types import ModuleType
from typing import Any

import pytest


class objc_id(int):
    """The address of an object."""


class NSInteger(int):
    """A number of the machine's width."""


class NSUInteger(int):
    """The same without a sign."""


class Runtime:
    """The runtime.

    Attributes:
        style: The style mask of the window.
        policy: The activation policy of the app.
        activated: How often the app was activated.
    """

    VIEW, WINDOW, APP = 11, 12, 13

    def __init__(self) -> None:
        self.style = 1 << 4
        self.policy = self.activated = 0
        # For each object and selector: the types of the parameters and of the result, and what happens.
        self._methods = {
            (self.VIEW, "window"): ([], objc_id, lambda: self.WINDOW),
            (self.WINDOW, "styleMask"): ([], NSUInteger, lambda: self.style),
            (self.WINDOW, "setStyleMask:"): ([NSUInteger], None, self._set_style),
            ("NSApplication", "sharedApplication"): ([], objc_id, lambda: self.APP),
            (self.APP, "setActivationPolicy:"): ([NSInteger], c_bool, self._set_policy),
            (self.APP, "activateIgnoringOtherApps:"): ([c_bool], None, self._activate),
        }

    def send_message(self, receiver: Any, selector: str, *args: Any, restype: Any, argtypes: Any) -> Any:
        wanted, result, act = self._methods[receiver, selector]
        assert (argtypes, restype) == (wanted, result), selector
        assert len(args) == len(wanted)
        return act(*args)

    def install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Take the place of rubicon-objc, which is installed on Macs alone."""
        runtime, types = ModuleType("rubicon.objc.runtime"), ModuleType("rubicon.objc.types")
        runtime.__dict__.update(objc_id=objc_id, send_message=self.send_message, get_class=lambda name: name)
        types.__dict__.update(NSInteger=NSInteger, NSUInteger=NSUInteger)
        for name, module in (("rubicon", ModuleType("rubicon")), ("rubicon.objc", ModuleType("rubicon.objc"))):
            monkeypatch.setitem(sys.modules, name, module)
        monkeypatch.setitem(sys.modules, "rubicon.objc.runtime", runtime)
        monkeypatch.setitem(sys.modules, "rubicon.objc.types", types)

    def _set_style(self, style: int) -> None:
        self.style = style

    def _set_policy(self, policy: int) -> bool:
        self.policy = policy
        return True

    def _activate(self, others: bool) -> None:
        assert others
        self.activated += 1
