"""Abbreviations that end in a period, for the sentence splitter. Lower case, without the last period."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


NEVER_LAST = _words(
    "mr mrs ms mx dr prof rev hon gen sen gov capt cmdr lt maj sgt cpl messrs mme mlle e.g i.e ca cf viz vs esp"
)
"""Something always follows: a name or an example."""

BEFORE_NUMBER = _words(
    "no nos nr vol vols ch chap sec sect fig figs eq eqs art ex ext p pp pg par para ver op ser tel jan feb mar apr "
    "jun jul aug sep sept oct nov dec"
)
"""An abbreviation only when a number follows: "No. 5", but "He said no." """

SOMETIMES_LAST = _words(
    "inc ltd co corp llc bros jr sr esq st ave blvd rd hwy mt ft etc al ph.d b.sc m.sc approx incl excl est dept "
    "univ assn rep col adm min avg hr hrs sq oz lb lbs jan feb aug sept oct nov dec tue tues thu thurs"
)
"""Ends a sentence only when the next word is one that sentences begin with."""

FOREIGN: dict[str, frozenset[str]] = {
    "de": _words("bzw ca d.h dr evtl fr ggf hr inkl nr prof str u.a usw vgl z.b zzgl"),
    "es": _words("admón apdo avda da dña dr dra ej núm pág sr sra srta tel ud uds"),
    "fr": _words("av bd dr env éd fig m mm mme mlle p.ex pp st ste"),
    "it": _words("avv dott dr ecc egr gent ing on pag prof sig sig.ra"),
    "pt": _words("av dr dra exmo pág prof profa sr sra"),
}
"""Further ones that never end a sentence, by language subtag; the English ones hold in every language."""

OPENING_WORDS = _words(
    "A After All Also Although An And Another Any Are As At Because Before But By Can Could Did Do Does Don "
    "During Each Even Every For From Had Has Have He Her Here His How However I If In Is It Its Just Let Many "
    "Maybe Meanwhile More Most My Next No Nobody Not Nothing Now Of On Once One Only Or Other Our Perhaps "
    "Please She Should Since So Some Someone Soon Still Such Thank Thanks That The Their Then There Therefore "
    "These They This Those Though Thus To Today Tomorrow Was We Well Were What When Where Whether Which While "
    "Who Why With Would Yes Yesterday You Your"
)
"""Words that sentences begin with and names do not."""
