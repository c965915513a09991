"""Formats numbers, sizes, durations and speeds for the user."""

from sotto.ui.toolkit.translation import figure, format_number, tr


def size(nbytes: int) -> str:
    """Format a number of bytes: `310 MB`, `4.7 GB`."""
    amount, digits, unit = size_parts(nbytes)
    return figure(f"{format_number(amount, digits)} {unit}")


def size_parts(nbytes: int) -> tuple[float, int, str]:
    """Return a number of bytes in a suitable unit, the decimal places with which it is shown, and the unit."""
    amount, units = float(nbytes), ("B", "KB", "MB", "GB", "TB")
    unit = 0
    while amount >= 999.5 and unit < len(units) - 1:
        amount, unit = amount / 1000, unit + 1
    digits = 1 if (amount < 99.95 and unit > 2) or (amount < 9.95 and unit == 2) else 0
    return amount, digits, units[unit]


def count(number: int) -> str:
    """Format a number with separators between the thousands: `2,000`."""
    return format_number(number)


def parameters(number: int | None) -> str:
    """Format a number of parameters as model names do: `4.6M`, `7B`; empty if unknown."""
    if not number:
        return ""
    for limit, letter in ((1e9, "B"), (1e6, "M"), (1e3, "K")):
        if number >= limit:
            return figure(f"{number / limit:.1f}".removesuffix(".0") + letter)
    return str(number)


def duration(seconds: float) -> str:
    """Format a duration roughly: `5 s`, `2 min`, `1 h 5 min`."""
    whole = max(1, round(seconds))
    if whole < 60:
        return tr("{seconds} s").format(seconds=whole)
    minutes = round(whole / 60)
    if minutes < 60:
        return tr("{minutes} min").format(minutes=minutes)
    form = tr("{hours} h {minutes} min") if minutes % 60 else tr("{hours} h")
    return form.format(hours=minutes // 60, minutes=minutes % 60)


def exact_duration(seconds: int) -> str:
    """Format a duration to the second: `5 s`, `2 min 5 s`."""
    if seconds < 60:
        return tr("{seconds} s").format(seconds=seconds)
    return tr("{minutes} min {seconds} s").format(minutes=count(seconds // 60), seconds=seconds % 60)


def seconds(nanoseconds: int) -> str:
    """Format a duration precisely: `35 ms`, `0.4 s`, `2 min 5 s`."""
    amount = nanoseconds / 1e9
    if amount < 0.0995:
        return tr("{milliseconds} ms").format(milliseconds=format_number(1000 * amount))
    if amount < 99.95:
        return tr("{seconds} s").format(seconds=format_number(amount, 1))
    return exact_duration(round(amount))


def ago(seconds: float) -> str:
    """Format the time since something happened: `just now`, `5 min ago`, `yesterday`, `12 days ago`."""
    minutes, hours, days = int(seconds / 60), int(seconds / 3600), int(seconds / 86400)
    if minutes < 1:
        return tr("just now")
    if hours < 1:
        return tr("{minutes} min ago").format(minutes=minutes)
    if days < 1:
        return tr("1 hour ago|{count} hours ago", "", hours).format(count=hours)
    if days < 2:
        return tr("yesterday")
    # Not a plural form of that: in some languages, 21 has the form of 1.
    return tr("{count} days ago", "", days).format(count=count(days))


def speed(tokens: int, nanoseconds: int) -> str:
    """Format tokens per second; empty if too little was measured."""
    return "" if tokens < 2 or nanoseconds <= 0 else rate(tokens * 1e9 / nanoseconds)


def rate(tokens_per_second: float) -> str:
    """Format tokens per second: `12.3 tok/s`, `1,200 tok/s`."""
    return figure(f"{format_number(tokens_per_second, 1 if tokens_per_second < 100 else 0)} tok/s")
