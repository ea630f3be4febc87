"""Cuts the definitions out of a notebook, read as data: nothing in it is run.

Code cells keep their imports, functions, classes and simple constants; training loops,
plots, magics and shell lines go, so that importing the rest is quick and harmless. What one
exercise needs of it makes its file: see `autograder.intake.parts`.
"""

import ast
import json
import re
import symtable
import warnings
from collections.abc import Iterator
from typing import Any

from autograder.intake.tree import Refused

_SHELL = re.compile(r"^\s*(?:%{1,2}[A-Za-z]|[!?]|[\w.]+\s*=\s*(?:%[A-Za-z]|!)|[\w.]+\?{1,2}\s*$)")
_HARMLESS_MAGICS = ("%%time", "%%timeit", "%%capture", "%%prun")
_CONSTANT_CALLS = re.compile(
    r"(?:math\.\w+|int|float|torch\.device|torch\.cuda\.is_available|torch\.get_default_dtype)"
)


def looks_like_notebook(text: str) -> bool:
    """Tell whether a text is a notebook, whatever its file is called."""
    return text.lstrip().startswith("{") and '"cells"' in text


def parse(source: str) -> ast.Module:
    """Parse Python quietly.

    Raises:
        Refused: not Python, or nested so deeply that it cannot be parsed.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # odd escapes in a student's strings are no news
        try:
            return ast.parse(source)
        except SyntaxError as error:
            raise Refused(f"is not valid Python (line {error.lineno}: {error.msg})") from error
        except (ValueError, RecursionError, MemoryError) as error:
            raise Refused("is not valid Python") from error


def extract_definitions(text: str) -> tuple[str, list[str]]:
    """Return a notebook's imports, definitions and constants as a module, and notes.

    Raises:
        Refused: not JSON, or JSON that is no notebook.
    """
    notes: list[str] = []
    pieces: list[str] = []
    first: list[str] = []  # what Python wants at the beginning of a module
    computed: set[str] = set()
    for number, code in enumerate(_read_cells(text), 1):
        source = _drop_magics(code)
        try:
            body = parse(source).body
        except Refused as refusal:
            notes.append(f"code cell {number} was left out: it {refusal}")
            continue
        lines = source.split("\n")
        for node in body:
            if isinstance(node, ast.ImportFrom) and node.module == "__future__":
                first.append(cut(lines, node))
            elif _is_kept(node):
                pieces.append(cut(lines, node))
            else:
                computed |= set(_find_stored(node))
    made = "\n\n".join([*dict.fromkeys(first), *pieces]) + "\n" * bool(pieces)
    for name in sorted(computed & set(_find_missing(made))):
        notes.append(
            f"{name} is used by your code but computed in a cell that is not run in grading;"
            " only imports, functions, classes and plain constants are"
        )
    return made, notes


def _read_cells(text: str) -> list[str]:
    try:
        notebook: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Refused("is not a readable notebook") from error
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(cells, list):
        raise Refused("is not a notebook of format 4; save it anew in Jupyter")
    found: list[str] = []
    for cell in cells:
        if not isinstance(cell, dict) or cell.get("cell_type") != "code":
            continue
        source = cell.get("source", "")
        if isinstance(source, list):
            source = "".join(part for part in source if isinstance(part, str))
        if isinstance(source, str):
            text = source.encode("utf-8", "replace").decode("utf-8")  # half surrogate pairs
            found.append(text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", ""))
    return found


def _drop_magics(code: str) -> str:
    """Blank the lines that are IPython's rather than Python's, when the cell needs it."""
    first = code.lstrip().split("\n", 1)[0]
    if first.startswith("%%") and first.split()[0] not in _HARMLESS_MAGICS:
        return ""
    try:
        parse(code)
    except Refused:
        lines = code.split("\n")
        # `pass` keeps a block alive whose only line is a magic.
        return "\n".join(
            re.match(r"\s*", line)[0] + "pass" if _SHELL.match(line) else line  # type: ignore[index]
            for line in lines
        )
    return code


def _is_kept(node: ast.stmt) -> bool:
    if isinstance(node, (ast.Import, ast.ImportFrom, ast.ClassDef)):
        return True
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return True
    if isinstance(node, ast.Try):  # try: import x / except ImportError: x = None
        inner = [*node.body, *node.orelse, *node.finalbody]
        inner += [statement for handler in node.handlers for statement in handler.body]
        return all(isinstance(statement, ast.Pass) or _is_kept(statement) for statement in inner)
    if isinstance(node, (ast.Assign, ast.AnnAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        are_names = all(
            isinstance(target, (ast.Name, ast.Attribute, ast.Tuple)) for target in targets
        )
        return are_names and node.value is not None and _is_constant(node.value)
    return False


def _is_constant(value: ast.expr) -> bool:
    """Tell whether a value is made of literals, names and operators, and quick to compute."""
    for part in ast.walk(value):
        if isinstance(part, ast.Call) and not _CONSTANT_CALLS.fullmatch(ast.unparse(part.func)):
            return False
        if isinstance(
            part, (ast.Subscript, ast.Await, ast.Yield, ast.NamedExpr, ast.comprehension)
        ):
            return False
    return True


def cut(lines: list[str], node: ast.stmt) -> str:
    """Return the lines of a statement, decorators included, comments inside it kept."""
    decorators = getattr(node, "decorator_list", [])
    first = min([node.lineno, *(decorator.lineno for decorator in decorators)])
    segment = lines[first - 1 : node.end_lineno]
    # Several statements on one line: take only this one.
    encoded = segment[-1].encode()[: node.end_col_offset].decode("utf-8", "ignore")
    segment[-1] = encoded
    if not decorators and node.col_offset:
        segment[0] = segment[0].encode()[node.col_offset :].decode("utf-8", "ignore")
    return "\n".join(segment)


def _find_stored(node: ast.stmt) -> Iterator[str]:
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            yield part.id


def _find_missing(source: str) -> Iterator[str]:
    """Yield the names that functions of a module use and that the module does not define."""
    try:
        top = symtable.symtable(source, "notebook", "exec")
    except (SyntaxError, ValueError, RecursionError):
        return
    defined = {symbol.get_name() for symbol in top.get_symbols() if symbol.is_assigned()}
    defined |= {symbol.get_name() for symbol in top.get_symbols() if symbol.is_imported()}
    tables = list(top.get_children())
    while tables:
        table = tables.pop()
        tables += table.get_children()
        for symbol in table.get_symbols():
            if symbol.is_global() and symbol.is_referenced() and symbol.get_name() not in defined:
                yield symbol.get_name()
