"""Names of people, compared as people do: without case, accents, order and punctuation."""

import re
import unicodedata
from collections.abc import Iterator


def fold_words(name: str) -> tuple[str, ...]:
    """Return the words of a name without case, accents and order.

    >>> fold_words("Lovelace, Ada") == fold_words("ADA LOVELACE")
    True
    """
    return tuple(sorted(_list_words(name)))


def fold_slug(name: str) -> str:
    """Return a name without case, accents and everything that is no letter or digit."""
    return "".join(_list_words(name))


def list_slugs(name: str) -> Iterator[str]:
    """Yield a name as Canvas writes it into file names, for each way to sort it."""
    last, comma, first = name.partition(",")
    if comma:
        yield fold_slug(last) + fold_slug(first)
        return
    words = _list_words(name)
    for start in range(len(words)):
        yield "".join([*words[start:], *words[:start]])


def _list_words(name: str) -> list[str]:
    bare = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", name).casefold())
    bare = "".join(char for char in bare if not unicodedata.combining(char))
    bare = re.sub(r"['’]", "", bare)
    return re.findall(r"[^\W_]+", bare)
