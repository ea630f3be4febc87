"""Makes a module out of a notebook, read as data: what is graded of it, see `kept`.

What one exercise needs of it makes its file: see `autograder.intake.parts`.
"""

from collections.abc import Collection

from autograder.intake.kept import keep_cells, read_cells
from autograder.intake.statements import Unreadable
from autograder.intake.tree import Refused


def looks_like_notebook(text: str) -> bool:
    """Tell whether a text is a notebook, whatever its file is called."""
    return text.lstrip().startswith("{") and '"cells"' in text


def extract_definitions(text: str, wanted: Collection[str] | None = None) -> tuple[str, list[str]]:
    """Return what of a notebook is graded as a module, and notes; `wanted` as for `keep_cells`.

    Raises:
        Refused: not JSON, or JSON that is no notebook.
    """
    try:
        kept = keep_cells(read_cells(text), wanted)
    except Unreadable as error:
        raise Refused(str(error)) from error
    return kept.source, kept.notes
