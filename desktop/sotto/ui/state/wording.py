"""Formats numbers, sizes, durations and speeds for the user."""


def size(nbytes: int) -> str:
    """Format a number of bytes: `310 MB`, `4.7 GB`."""
    amount, units = float(nbytes), ("B", "KB", "MB", "GB", "TB")
    unit = 0
    while amount >= 999.5 and unit < len(units) - 1:
        amount, unit = amount / 1000, unit + 1
    digits = 1 if (amount < 99.95 and unit > 2) or (amount < 9.95 and unit == 2) else 0
    return f"{amount:.{digits}f} {units[unit]}"


def count(number: int) -> str:
    """Format a number with separators between the thousands: `2,000`."""
    return f"{number:,}"


def parameters(number: int | None) -> str:
    """Format a number of parameters as model names do: `4.6M`, `7B`; empty if unknown."""
    if not number:
        return ""
    for limit, letter in ((1e9, "B"), (1e6, "M"), (1e3, "K")):
        if number >= limit:
            return f"{number / limit:.1f}".removesuffix(".0") + letter
    return str(number)


def duration(seconds: float) -> str:
    """Format a duration roughly: `5 s`, `2 min`, `1 h 5 min`."""
    whole = max(1, round(seconds))
    if whole < 60:
        return f"{whole} s"
    minutes = round(whole / 60)
    if minutes < 60:
        return f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min" if minutes % 60 else f"{minutes // 60} h"


def seconds(nanoseconds: int) -> str:
    """Format a duration precisely: `35 ms`, `0.4 s`, `2 min 5 s`."""
    amount = nanoseconds / 1e9
    if amount < 0.0995:
        return f"{1000 * amount:.0f} ms"
    if amount < 99.95:
        return f"{amount:.1f} s"
    return f"{count(round(amount) // 60)} min {round(amount) % 60} s"


def ago(seconds: float) -> str:
    """Format the time since something happened: `just now`, `5 min ago`, `yesterday`, `12 days ago`."""
    minutes, hours, days = seconds / 60, seconds / 3600, seconds / 86400
    if minutes < 1:
        return "just now"
    if hours < 1:
        return f"{int(minutes)} min ago"
    if days < 1:
        return "1 hour ago" if hours < 2 else f"{int(hours)} hours ago"
    return "yesterday" if days < 2 else f"{count(int(days))} days ago"


def speed(tokens: int, nanoseconds: int) -> str:
    """Format tokens per second; empty if too little was measured."""
    return "" if tokens < 2 or nanoseconds <= 0 else rate(tokens * 1e9 / nanoseconds)


def rate(tokens_per_second: float) -> str:
    """Format tokens per second: `12.3 tok/s`, `1,200 tok/s`."""
    number = f"{tokens_per_second:.1f}" if tokens_per_second < 100 else count(round(tokens_per_second))
    return f"{number} tok/s"
