"""What a student's feedback shows of their own numbers: matrices of levels, beside right ones.

`pictures.json` lies beside `result.json` where there is something to see. It is written from
what `drawing` has taken from a submission, and pages are rendered from it. Equal pictures
are equal bytes.
"""

from typing import Literal

import msgspec

SCHEMA_VERSION: Literal[1] = 1
PICTURES = "pictures.json"
NO_NUMBER = 0  # the level of what is not a number
LOWEST, HIGHEST = 1, 255  # the levels of a picture's `low` and `high`


class InvalidPictures(ValueError):
    """Bytes that hold no pictures."""


class Image(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A matrix to look at: its levels row after row, one byte each."""

    rows: int
    columns: int
    levels: bytes

    def __post_init__(self) -> None:
        if self.rows < 1 or self.columns < 1 or self.rows * self.columns != len(self.levels):
            raise ValueError(f"{len(self.levels)} levels are no {self.rows} x {self.columns} image")


class Panel(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a submission computes beside what is right."""

    title: str
    yours: Image
    expected: Image


class Picture(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One thing to see about one exercise, for the student; its inputs are public."""

    exercise: str
    title: str
    caption: str
    rows: str  # what a row is: "position"
    columns: str
    low: float  # the number of the lowest level
    high: float  # of the highest
    panels: list[Panel]


class Pictures(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The content of pictures.json; levels are in base64."""

    schema_version: Literal[1] = SCHEMA_VERSION
    pictures: list[Picture]


def encode(pictures: list[Picture]) -> bytes:
    """Write pictures as JSON; none at all are no bytes."""
    if not pictures:
        return b""
    return msgspec.json.format(msgspec.json.encode(Pictures(pictures=pictures)), indent=2) + b"\n"


def decode(data: bytes) -> list[Picture]:
    """Read pictures, strictly; no bytes are none at all.

    Raises:
        InvalidPictures: not JSON, not this schema, or levels that fill no image.
    """
    if not data:
        return []
    try:
        return msgspec.json.decode(data, type=Pictures).pictures
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise InvalidPictures(f"not pictures of schema {SCHEMA_VERSION}: {error}") from error
