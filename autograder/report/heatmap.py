"""Matrices as images within a page: one pixel a number, enlarged by the browser.

A PNG of indexed colours needs no drawing library: a palette, and a byte for each pixel. It
is stored, not compressed, so that equal matrices are equal bytes everywhere.

Source: Portable Network Graphics (W3C recommendation, third edition), sections 5 and 11.
"""

import struct
import zlib
from base64 import b64encode
from dataclasses import dataclass
from functools import cache

from autograder.pictures import HIGHEST, LOWEST, NO_NUMBER, Image, Panel, Picture
from autograder.plaintext import clean_line

Colour = tuple[int, int, int]
WHITE: Colour = (255, 255, 255)
DARK: Colour = (23, 42, 92)  # blue
WARM: Colour = (158, 60, 6)  # orange: told from blue by everybody
STRANGE: Colour = (214, 0, 190)  # what is no number
NEAR = 2  # levels that the eye does not tell apart
SIDES = (320, 150)  # pixels of a page that the longer side of an image takes: alone, or of several


@dataclass(frozen=True)
class Heatmap:
    """An image of a page: its address, its size there in pixels, and what it shows, in words."""

    address: str
    width: int
    height: int
    words: str


@dataclass(frozen=True)
class Comparison:
    """A student's matrix; beside the right one, or alone when nobody could tell them apart."""

    title: str
    yours: Heatmap
    expected: Heatmap | None


@dataclass(frozen=True)
class Figure:
    """A picture as a page shows it."""

    title: str
    caption: str
    axes: str
    low: str
    high: str
    key: Heatmap
    comparisons: list[Comparison]
    has_strange: bool


def make_figure(picture: Picture) -> Figure:
    """Return a picture for a page."""
    is_signed = picture.low < 0 < picture.high
    side = SIDES[len(picture.panels) > 1]
    ramp = bytes(range(LOWEST, HIGHEST + 1))
    key = Image(rows=1, columns=len(ramp), levels=ramp)
    return Figure(
        title=clean_line(picture.title),
        caption=clean_line(picture.caption, 600),
        axes=clean_line(f"Down: {picture.rows}; across: {picture.columns}"),
        low=f"{picture.low:g}",
        high=f"{picture.high:g}",
        key=Heatmap(encode_png(key, is_signed), 120, 12, ""),
        comparisons=[_compare(panel, picture, is_signed, side) for panel in picture.panels],
        has_strange=any(NO_NUMBER in panel.yours.levels for panel in picture.panels),
    )


def _compare(panel: Panel, picture: Picture, is_signed: bool, side: int) -> Comparison:
    yours, expected = panel.yours, panel.expected
    title = clean_line(panel.title)
    size = f"{yours.rows} by {yours.columns} numbers ({picture.rows} by {picture.columns})"
    words = clean_line(f"{title}: yours, {size}. {describe_difference(panel)}".removeprefix(": "))
    right = clean_line(f"{title}: as it should be".removeprefix(": "))
    mine = _make_heatmap(yours, is_signed, side, words)
    if are_alike(yours, expected):
        return Comparison(title, mine, None)
    return Comparison(title, mine, _make_heatmap(expected, is_signed, side, right))


def are_alike(one: Image, other: Image) -> bool:
    """Tell whether nobody could see a difference."""
    return (one.rows, one.columns) == (other.rows, other.columns) and not _differing(one, other)


def describe_difference(panel: Panel) -> str:
    """Say in a sentence what a reader who sees no colours would miss."""
    yours, expected = panel.yours, panel.expected
    if (yours.rows, yours.columns) != (expected.rows, expected.columns):
        return f"It should be {expected.rows} by {expected.columns}."
    places = _differing(yours, expected)
    if not places:
        return "It looks as it should."
    row, column = divmod(places[0], yours.columns)
    return (
        f"{len(places)} of {len(yours.levels)} differ from the right ones,"
        f" the first at row {row}, column {column}."
    )


def _differing(one: Image, other: Image) -> list[int]:
    pairs = zip(one.levels, other.levels, strict=True)
    return [
        at
        for at, (a, b) in enumerate(pairs)
        if abs(a - b) > NEAR or (a == NO_NUMBER) != (b == NO_NUMBER)
    ]


def _make_heatmap(image: Image, is_signed: bool, side: int, words: str) -> Heatmap:
    scale = max(1, side // max(image.rows, image.columns))
    size = (image.columns * scale, image.rows * scale)
    return Heatmap(encode_png(image, is_signed), *size, words)


def encode_png(image: Image, is_signed: bool) -> str:
    """Return an image as the address of a PNG. White is 0 when signed, else the lowest level."""
    header = struct.pack(">IIBBBBB", image.columns, image.rows, 8, 3, 0, 0, 0)
    lines = [
        b"\0" + image.levels[at : at + image.columns]  # no filter
        for at in range(0, len(image.levels), image.columns)
    ]
    chunks = [
        (b"IHDR", header),
        (b"PLTE", make_palette(is_signed)),
        (b"IDAT", zlib.compress(b"".join(lines), 0)),
        (b"IEND", b""),
    ]
    data = b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in chunks
    )
    return "data:image/png;base64," + b64encode(data).decode("ascii")


@cache
def make_palette(is_signed: bool) -> bytes:
    """Return the colours of the levels 0 to 255, three bytes each."""
    colours = [STRANGE]
    for level in range(LOWEST, HIGHEST + 1):
        share = (level - LOWEST) / (HIGHEST - LOWEST)
        if not is_signed:
            colours.append(_mix(WHITE, DARK, share))
        elif share < 0.5:
            colours.append(_mix(WARM, WHITE, 2 * share))
        else:
            colours.append(_mix(WHITE, DARK, 2 * share - 1))
    return bytes(part for colour in colours for part in colour)


def _mix(one: Colour, other: Colour, share: float) -> Colour:
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(one, other, strict=True))
    return red, green, blue
