"""Exact expressions for the values of `format` in a schema.

WORKAROUND: llguidance has expressions of its own, but they know neither leap years nor where leap seconds can be, and
leave out rare forms of the other formats. Check at upgrades. These follow the RFCs that JSON Schema names. Where the
RFCs and common programs disagree, both are satisfied: there is no year 0000, and no host name whose third and fourth
characters are hyphens, since no expression can know what may follow `xn--`.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

# 255 bytes on the wire, with the lengths of the labels and the end.
_MAX_HOST_NAME = 253
_MINUTES_PER_DAY = 24 * 60
_DIGIT = "[0-9]"
_HEX = "[0-9A-Fa-f]"


def format_terms(name: str) -> Mapping[str, Any] | None:
    """Return keywords that describe a string in a format; None if the format is not known."""
    expression = _formats().get(name)
    if expression is None:
        return None
    longest = {"maxLength": _MAX_HOST_NAME} if name == "hostname" else {}
    return {"pattern": f"^(?:{expression})$", **longest}


@cache
def _formats() -> Mapping[str, str]:
    address = _ipv6()
    return {
        "date": _date(),
        "time": _time(),
        "date-time": f"{_date()}[Tt]{_time()}",
        "duration": _duration(),
        "email": _email(address),
        "hostname": _hostname(),
        "ipv4": _IPV4,
        "ipv6": address,
        "uuid": f"{_HEX}{{8}}(?:-{_HEX}{{4}}){{3}}-{_HEX}{{12}}",
        "uri": _uri(address),
    }


_BYTE = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_IPV4 = rf"{_BYTE}(?:\.{_BYTE}){{3}}"


def _date() -> str:
    """RFC 3339, section 5.6, with the right number of days in each month."""
    by_four = "(?:0[48]|[2468][048]|[13579][26])"
    leap = f"(?:{_DIGIT}{{2}}{by_four}|{by_four}00)"
    some = f"(?:{_DIGIT}{{3}}[1-9]|{_DIGIT}{{2}}[1-9]0|{_DIGIT}[1-9]00|[1-9]000)"
    long, short = "(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])", "(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)"
    return f"(?:{some}-(?:{long}|{short}|02-(?:0[1-9]|1[0-9]|2[0-8]))|{leap}-02-29)"


def _time() -> str:
    """RFC 3339, section 5.6: the last minute of a day in UTC may have a second 60.

    Which local minute that is depends on the offset. Only offsets of whole quarters of an hour have one here: there
    have been no others since leap seconds were introduced.
    """
    fraction = rf"(?:\.{_DIGIT}+)?"
    hour, minute = "(?:[01][0-9]|2[0-3])", "[0-5][0-9]"
    usual = f"{hour}:{minute}:[0-5][0-9]{fraction}(?:[Zz]|[+-]{hour}:{minute})"
    leaps = []
    for ahead in range(0, _MINUTES_PER_DAY, 15):
        local, behind = (ahead - 1) % _MINUTES_PER_DAY, -ahead % _MINUTES_PER_DAY
        offsets = rf"\+{_clock(ahead)}|-{_clock(behind)}{'' if ahead else '|[Zz]'}"
        leaps.append(f"{_clock(local)}:60{fraction}(?:{offsets})")
    return f"(?:{usual}|{'|'.join(leaps)})"


def _clock(minutes: int) -> str:
    return f"{minutes // 60:02}:{minutes % 60:02}"


def _duration() -> str:
    """RFC 3339, appendix A."""
    number = f"{_DIGIT}+"
    time = f"T(?:{number}H(?:{number}M(?:{number}S)?)?|{number}M(?:{number}S)?|{number}S)"
    date = f"(?:{number}Y(?:{number}M(?:{number}D)?)?|{number}M(?:{number}D)?|{number}D)(?:{time})?"
    return f"P(?:{date}|{time}|{number}W)"


def _ipv6() -> str:
    """RFC 4291, section 2.2: eight groups, the last two of which may be an IPv4 address, with one gap at most."""
    group, last = f"{_HEX}{{1,4}}", f"(?:{_HEX}{{1,4}}:{_HEX}{{1,4}}|{_IPV4})"
    ways = [f"(?:{group}:){{6}}{last}"]
    for before in range(8):
        head = f"(?:{group}(?::{group}){{0,{before - 1}}})?" if before else ""
        behind = 7 - before
        if behind >= 2:
            ways.append(f"{head}::(?:{group}:){{{behind - 2}}}{last}")
        elif behind:
            ways.append(f"{head}::{group}")
        else:
            ways.append(f"{head}::")
    return f"(?:{'|'.join(ways)})"


def _hostname() -> str:
    """RFC 1123, section 2.1."""
    label = _label("[0-9A-Za-z]")
    return rf"{label}(?:\.{label})*"


def _label(outer: str) -> str:
    inner = f"(?:{outer}|-)"
    # The third and fourth characters are not both hyphens.
    longer = f"(?:-{outer}|{outer}{inner})"
    return f"{outer}(?:{outer}|{inner}{outer}|{inner}{longer}(?:{inner}{{0,58}}{outer})?)?"


def _email(address: str) -> str:
    """RFC 5321, section 4.1.2: Mailbox."""
    atom = r"[0-9A-Za-z!#$%&'*+\-/=?^_`{|}~]+"
    quoted = r'"(?:[ !#-\[\]-~]|\\[ -~])*"'
    label = "[0-9A-Za-z](?:[0-9A-Za-z-]{0,61}[0-9A-Za-z])?"
    domain = rf"{label}(?:\.{label})*"
    return rf"(?:{atom}(?:\.{atom})*|{quoted})@(?:{domain}|\[(?:{_IPV4}|IPv6:{address})\])"


def _uri(address: str) -> str:
    """RFC 3986, appendix A."""
    escaped, plain = f"%{_HEX}{{2}}", r"0-9A-Za-z\-._~!$&'()*+,;="
    segment = f"(?:[{plain}:@]|{escaped})"
    future = rf"[Vv]{_HEX}+\.[{plain}:]+"
    host = rf"(?:\[(?:{address}|{future})\]|(?:[{plain}]|{escaped})*)"
    authority = f"(?:(?:[{plain}:]|{escaped})*@)?{host}(?::{_DIGIT}*)?"
    path = f"(?:/{segment}*)*"
    hierarchy = f"(?://{authority}{path}|/(?:{segment}+{path})?|{segment}+{path}|)"
    query = f"(?:[{plain}:@/?]|{escaped})*"
    return rf"[A-Za-z][0-9A-Za-z+\-.]*:{hierarchy}(?:\?{query})?(?:#{query})?"
