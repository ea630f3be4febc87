"""The statements at the top of a student's program: what kind each is, and whose names it uses."""

from __future__ import annotations

import ast
import functools
import re
import symtable
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field

_CONSTANT_CALLS = re.compile(
    r"(?:math\.\w+|int|float|torch\.device|torch\.cuda\.is_available|torch\.get_default_dtype)"
)
_NAMED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_ASSIGNMENTS = (ast.Assign, ast.AnnAssign, ast.AugAssign)
_COMPREHENSIONS = ("listcomp", "setcomp", "dictcomp", "genexpr")
# Grading has no files of theirs, no network and nobody at the keyboard.
_OUTSIDE = ("load", "read", "open", "save", "download", "from_pretrained", "fromfile", "genfromtxt")
_MODERATE = 20_000  # characters; what is longer takes too much memory to be remembered
DEFINITION = "definition"  # of functions and classes, and imports
CONSTANT = "constant"  # assigned, and quick to compute
VALUE = "value"  # assigned
WORK = "work"  # everything else


class Unreadable(ValueError):
    """Not Python, or no notebook; the message says so as the end of a sentence."""


@dataclass
class Statement:
    """A statement at the top of a module: its text, and the module's names in it."""

    node: ast.stmt
    text: str
    kind: str  # one of the four above
    binds: set[str] = field(default_factory=set)
    changes: set[str] = field(default_factory=set)  # names whose items or attributes it sets
    uses: set[str] = field(default_factory=set)
    needs: set[str] = field(default_factory=set)  # of these, what must be there when it is run

    def copy(self) -> Statement:
        """Return another one, whose names may be changed."""
        names = map(set, (self.binds, self.changes, self.uses, self.needs))
        return Statement(self.node, self.text, self.kind, *names)

    @property
    def defines(self) -> set[str]:
        return self.binds | self.changes

    @property
    def is_future(self) -> bool:
        return isinstance(self.node, ast.ImportFrom) and self.node.module == "__future__"

    @property
    def is_star(self) -> bool:
        """Tell whether this is `from x import *`, which may bring any name."""
        node = self.node
        return isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names)


def parse(source: str) -> ast.Module:
    """Parse Python quietly.

    Raises:
        Unreadable: not Python, or nested so deeply that it cannot be parsed.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # odd escapes in a student's strings are no news
        try:
            return ast.parse(source)
        except SyntaxError as error:
            raise Unreadable(f"is not valid Python (line {error.lineno}: {error.msg})") from error
        except (ValueError, RecursionError, MemoryError) as error:
            raise Unreadable("is not valid Python") from error


def read_statements(source: str) -> Iterator[Statement]:
    """Yield the statements at the top of a module.

    Raises:
        Unreadable: not Python.
    """
    read = _read_known if len(source) <= _MODERATE else _read
    for statement in read(source):
        yield statement.copy()


def _read(source: str) -> tuple[Statement, ...]:
    lines, statements = source.split("\n"), []
    for node in parse(source).body:
        statement = Statement(node, _cut(lines, node), _find_kind(node))
        _find_names(statement)
        statements.append(statement)
    return tuple(statements)


_read_known = functools.lru_cache(maxsize=64)(_read)  # a class has most cells in common


def get_name(node: ast.stmt) -> str:
    """Return the name of a function or class that a statement defines, as `def` or as a lambda."""
    if isinstance(node, _NAMED):
        return node.name
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda):
        (*_, target) = node.targets
        return target.id if isinstance(target, ast.Name) else ""
    return ""


def is_def(node: ast.stmt) -> bool:
    """Tell whether a statement is a `def` or a `class`."""
    return isinstance(node, _NAMED)


def _find_kind(node: ast.stmt) -> str:
    kinds: set[str] = set()
    todo = [node]
    while todo:
        part = todo.pop()
        if isinstance(part, ast.Try):  # try: import x / except ImportError: x = None
            kinds.add(DEFINITION)
            todo += [*part.body, *part.orelse, *part.finalbody]
            todo += [inner for handler in part.handlers for inner in handler.body]
        elif isinstance(part, ast.If):
            kinds.add(WORK if _reaches_out(part.test) else VALUE)
            todo += [*part.body, *part.orelse]
        elif part is node or not isinstance(part, ast.Pass):
            kinds.add(_find_simple_kind(part))
    return next(kind for kind in (WORK, VALUE, DEFINITION, CONSTANT) if kind in kinds)


def _find_simple_kind(node: ast.stmt) -> str:
    if isinstance(node, (ast.Import, ast.ImportFrom, *_NAMED)):
        return DEFINITION
    if not isinstance(node, _ASSIGNMENTS) or node.value is None or _reaches_out(node):
        return WORK
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    are_names = all(isinstance(t, (ast.Name, ast.Attribute, ast.Tuple)) for t in targets)
    is_plain = are_names and not isinstance(node, ast.AugAssign) and _is_constant(node.value)
    return CONSTANT if is_plain else VALUE


def _is_constant(value: ast.expr) -> bool:
    """Tell whether a value is made of literals, names and operators, and quick to compute."""
    for part in _walk_at_once(value):
        if isinstance(part, ast.Call) and not _CONSTANT_CALLS.fullmatch(_get_path(part.func)):
            return False
        if isinstance(part, (ast.Subscript, ast.comprehension)):
            return False
    return True


def _reaches_out(node: ast.AST) -> bool:
    """Tell whether something reads files, say, or cannot stand at the top of a module."""
    for part in _walk_at_once(node):
        if isinstance(part, (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr)):
            return True
        called = part.func if isinstance(part, ast.Call) else None
        if isinstance(called, ast.Attribute) and called.attr.startswith(_OUTSIDE):
            return True
    return False


def _walk_at_once(node: ast.AST) -> Iterator[ast.AST]:
    """Walk through what is run when a statement is, which the body of a lambda is not."""
    todo = [node]
    while todo:
        part = todo.pop()
        yield part
        todo += ast.iter_child_nodes(part.args if isinstance(part, ast.Lambda) else part)


def _get_path(node: ast.expr) -> str:
    """Return `a.b` for what is written so, and something else for what is not."""
    names = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    names.append(node.id if isinstance(node, ast.Name) else "")
    return ".".join(reversed(names))


def _cut(lines: list[str], node: ast.stmt) -> str:
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


def _find_names(statement: Statement) -> None:
    """Find the names of the module in a statement; those of a function's own are not."""
    node = statement.node
    if isinstance(node, ast.AnnAssign) and node.value is None:
        return
    parts = [] if is_def(node) else list(ast.walk(node))
    is_flat = not any(isinstance(part, (ast.Lambda, ast.comprehension)) for part in parts)
    for part in parts:
        if isinstance(part, (ast.Attribute, ast.Subscript)) and not isinstance(part.ctx, ast.Load):
            statement.changes |= {_get_base(part)} - {""}
        elif isinstance(part, ast.Name) and is_flat:
            is_read = isinstance(part.ctx, ast.Load)
            (statement.needs if is_read else statement.binds).add(part.id)
    if isinstance(node, ast.AugAssign):
        statement.needs |= {_get_base(node.target)} - {""}
    if not (is_flat and isinstance(node, (ast.Expr, *_ASSIGNMENTS))):
        _find_scoped_names(statement)
    statement.uses |= statement.needs


def _find_scoped_names(statement: Statement) -> None:
    """Find names where scopes are in scopes, as Python's compiler does."""
    statement.binds |= {get_name(statement.node)} - {""}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            top = symtable.symtable(statement.text, "cell", "exec")
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return
    for symbol in top.get_symbols():
        if symbol.is_assigned() or symbol.is_imported():
            statement.binds.add(symbol.get_name())
        if symbol.is_referenced():
            statement.needs.add(symbol.get_name())
    todo = [(inner, True) for inner in top.get_children()]
    while todo:
        table, is_at_once = todo.pop()
        is_class = table.get_type() == "class"
        is_at_once = is_at_once and (is_class or table.get_name() in _COMPREHENSIONS)
        for symbol in table.get_symbols():
            if symbol.is_global() or (is_class and symbol.is_referenced()):
                (statement.needs if is_at_once else statement.uses).add(symbol.get_name())
        todo += [(inner, is_at_once) for inner in table.get_children()]


def _get_base(node: ast.expr) -> str:
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
