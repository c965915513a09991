"""Prints what Qt knows about languages: the order of words, cases, numbers, dates, borders of words, and encodings."""

from itertools import pairwise

from PySide6.QtCore import (
    QCollator,
    QDate,
    QDateTime,
    QLocale,
    QRegularExpression,
    QStringDecoder,
    Qt,
    QTextBoundaryFinder,
    QTime,
    QTimeZone,
    QUrl,
)
from PySide6.QtGui import QFont, QGuiApplication, QTextLayout, QTextOption

LANGUAGES = ("C", "en", "de", "de_AT", "fr", "ja", "es", "zh_CN", "zh_TW", "ar", "sv", "tr", "th")
WORDS = (
    "zebra Äpfel apfel Apfel ö o 中 一 二 ア あ か が ñ n nz ch cz côte coté cote ا ب آ a10 a9 ß ss Ž z I ı İ i".split()
)
LOWER, UPPER = ("ıiß", "ﬁ", "ὀδυσσεύς", "ŉ"), ("İSTANBUL", "ΟΔΟΣ", "STRASSE", "Ì", "Į̃")
TEXTS = (
    "สวัสดีครับผมชื่อซอตโตและผมทำงานบนเครื่องของคุณ",
    "これは日本語の文章です。改行の位置を確かめる「テスト」、です。",
    "这是一个中文句子。我们检查换行的位置,“测试”。",
    "مرحبا بالعالم هذا اختبار",
    "Ein langes Wort: Donaudampf-schifffahrt; s. o. 1.000,5 €",
    "👩‍👩‍👧‍👦 e\u0301 🇩🇪",
)
# Older ones are left out.
ENCODINGS = ("UTF-8", "UTF-16", "UTF-32", "ISO-8859-1")
WHEN = QDateTime(QDate(2026, 7, 1), QTime(13, 4, 5), QTimeZone(b"Europe/Berlin"))


def main() -> None:
    application = QGuiApplication([])
    for name in LANGUAGES:
        locale = QLocale(name)
        print(name, *order(locale))
        print(name, *cases(locale), *numbers(locale), *dates(locale), *names(locale))
        QLocale.setDefault(locale)
        print(name, *borders())
    print([QTimeZone(name).offsetFromUtc(WHEN) for name in (b"Europe/Berlin", b"America/New_York", b"Asia/Tokyo")])
    print(len(QTimeZone.availableTimeZoneIds()), QTimeZone.availableTimeZoneIds(QLocale.Country.Japan))
    print([QStringDecoder(encoding).isValid() for encoding in ENCODINGS])
    print(QUrl("http://bücher.example/ä").toEncoded(), QUrl.fromEncoded(b"http://xn--bcher-kva.example").host())
    print(QRegularExpression("\\p{Han}\\p{Thai}").match("中ส").hasMatch())
    del application


def order(locale):
    for numeric in (False, True):
        for sensitivity in Qt.CaseSensitivity:
            collator = QCollator(locale)
            collator.setNumericMode(numeric)
            collator.setIgnorePunctuation(numeric)
            collator.setCaseSensitivity(sensitivity)
            yield sorted(WORDS, key=collator.sortKey)
            yield [collator.compare(one, other) for one, other in pairwise(WORDS)]


def cases(locale):
    yield [locale.toUpper(word) for word in (*WORDS, *LOWER)]
    yield [locale.toLower(word) for word in (*WORDS, *UPPER)]


def numbers(locale):
    yield locale.toString(1234567.891, "f", 2), locale.toString(1234567), locale.toString(0.5, "e", 3)
    yield locale.toCurrencyString(12.5), locale.toCurrencyString(1234, "€"), locale.formattedDataSize(123456789)
    yield locale.percent(), locale.decimalPoint(), locale.groupSeparator(), locale.toDouble("1.234,5")


def dates(locale):
    for form in QLocale.FormatType:
        yield locale.toString(WHEN.date(), form)
        if form is not QLocale.FormatType.LongFormat:
            # The long form of a time has the name of its zone, which is left out, and which Sotto never shows.
            yield locale.toString(WHEN, form), locale.toString(WHEN.time(), form)


def names(locale):
    yield locale.nativeLanguageName(), locale.nativeTerritoryName(), locale.monthName(5), locale.dayName(3)
    yield locale.amText(), locale.firstDayOfWeek(), locale.textDirection(), locale.measurementSystem()
    yield locale.quoteString("x"), locale.createSeparatedList(["a", "b", "c"])


def borders():
    for text in TEXTS:
        for kind in QTextBoundaryFinder.BoundaryType:
            finder = QTextBoundaryFinder(kind, text)
            found = []
            while (position := finder.toNextBoundary()) >= 0:
                found.append(position)
            yield found
        layout, option = QTextLayout(text, QFont("sans", 12)), QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WordWrap)
        layout.setTextOption(option)
        layout.beginLayout()
        lines = []
        while (line := layout.createLine()).isValid():
            line.setLineWidth(120)
            lines.append((line.textStart(), line.textLength()))
        layout.endLayout()
        yield lines


main()
