"""The wording of offers: what a model is good at, who made it, how a version fits, and in which formats it is there."""

from sotto.store.finding.hub_records import FoundModel
from sotto.store.finding.suggestions import Suggestion
from sotto.ui.gallery.offers import Offer, OfferedVersion, Section
from sotto.ui.models.model_description import fit_word
from sotto.ui.state import wording
from sotto.ui.state.memory_estimate import Fit
from sotto.ui.state.names import join_facts
from sotto.ui.toolkit.translation import QT_TR_NOOP, tr

GOOD_AT = {
    "code": QT_TR_NOOP("Programming"),
    "languages": QT_TR_NOOP("Many languages"),
    "long": QT_TR_NOOP("Long texts"),
    "maths": QT_TR_NOOP("Mathematics"),
    "open": QT_TR_NOOP("Made in the open"),
    "questions": QT_TR_NOOP("Everyday questions"),
    "small": QT_TR_NOOP("Small machines"),
    "thinking": QT_TR_NOOP("Thinks first"),
    "tools": QT_TR_NOOP("Uses tools"),
}
_LICENCE_PREFIX = "LicenseRef-"


def line(offer: Offer) -> str:
    """Return what a model is good at, or who has published it and how often it was downloaded."""
    source = offer.source
    if isinstance(source, Suggestion):
        return join_facts(tr(GOOD_AT[key]) for key in source.good_at)
    if isinstance(source, FoundModel):
        return join_facts((source.owner, source.kind.name, _times(source.downloads)))
    return tr("Download by this name")


def facts(offer: Offer) -> list[tuple[str, str]]:
    """Return what is known of a model: titles with values, without those that are not known."""
    source = offer.source
    if isinstance(source, Suggestion):
        known = [
            (tr("Made by"), source.maker),
            (tr("Parameters"), wording.parameters(source.parameters)),
            (tr("Licence"), licence(source.licence)),
        ]
    elif isinstance(source, FoundModel):
        known = [
            (tr("Published by"), source.owner),
            (tr("Format"), source.kind.name),
            (tr("Architecture"), source.architecture),
            (tr("Parameters"), wording.parameters(source.parameters)),
            (tr("Licence"), licence(source.licence)),
            (tr("Downloads"), wording.count(source.downloads) if source.downloads else ""),
        ]
    else:
        known = []
    return [(title, value) for title, value in known if value]


def licence(identifier: str) -> str:
    """Return the name of a licence: its SPDX identifier, or what a licence that SPDX does not list is called."""
    if not identifier.startswith(_LICENCE_PREFIX):
        return identifier
    return tr("{name} licence").format(name=identifier.removeprefix(_LICENCE_PREFIX).replace("-", " "))


def version_title(offered: OfferedVersion) -> str:
    """Return the bits of a version, and its size."""
    version = offered.version
    return join_facts((version.bits or version.name, wording.size(version.size) if version.size else ""))


def version_fit(offered: OfferedVersion) -> str:
    """Return whether a version fits, and with how long a context."""
    projection = offered.projection
    if projection.fit not in (Fit.FITS, Fit.TIGHT) or projection.plan is None:
        return fit_word(projection.fit)
    with_context = tr("{fit} with {count} tokens")
    return with_context.format(fit=fit_word(projection.fit), count=wording.count(projection.plan.context))


def row_end(offer: Offer) -> str:
    """Return what the row of a model shows at its end: the size of the version to choose."""
    chosen = offer.chosen
    return wording.size(chosen.version.size) if chosen is not None and chosen.version.size else ""


def accessible_name(offer: Offer) -> str:
    """Return everything that the row of a model shows, for screen readers."""
    recommended = tr("Suits this machine best") if offer.recommended else ""
    parts = (offer.title, recommended, row_end(offer), verdict(offer), line(offer).replace(" · ", ", "))
    return ", ".join(part for part in parts if part)


def verdict(offer: Offer) -> str:
    """Return in a word or three whether a model could be used here; empty if nothing is known."""
    if offer.refusal:
        return tr("Cannot run here")
    fit = offer.chosen.projection.fit if offer.chosen is not None else Fit.UNKNOWN
    return "" if fit is Fit.UNKNOWN else fit_word(fit)


def section_title(section: Section, host: str) -> str:
    """Return the heading over the models that come from somewhere."""
    if section is Section.FOUND:
        return tr("On {host}").format(host=host)
    return tr("By name") if section is Section.NAMED else tr("Suggestions")


def _times(downloads: int) -> str:
    if not downloads:
        return ""
    return tr("1 download|{count} downloads", "", downloads).format(count=wording.count(downloads))
