"""Tables: read as the csv module reads them, and given back to the byte."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.errors import KitError
from autograder.sheet import MAX_BYTES, parse_sheet, read_sheet

CELLS = st.text(alphabet=st.sampled_from(" ab,;\"\n\té='-"), max_size=6)
ROWS = st.lists(st.lists(CELLS, min_size=2, max_size=4), max_size=5)


def write(
    rows: list[list[str]], delimiter: str = ",", end: str = "\n", *, quoted: bool = False
) -> str:
    stream = io.StringIO()
    quoting = csv.QUOTE_ALL if quoted else csv.QUOTE_MINIMAL
    csv.writer(stream, delimiter=delimiter, lineterminator=end, quoting=quoting).writerows(rows)
    return stream.getvalue()


@given(ROWS, st.sampled_from(",;\t"), st.sampled_from(["\n", "\r\n"]), st.booleans(), st.data())
def test_one_cell_is_filled_and_every_other_byte_stays(rows, delimiter, end, quoted, data):
    rows = [["one", "two", "three"], *rows]
    text = write(rows, delimiter, end, quoted=quoted)
    sheet = parse_sheet(text.encode(), "table.csv")
    assert sheet.delimiter == delimiter
    assert sheet.rows == rows
    assert sheet.render() == text.encode()
    row = data.draw(st.integers(0, len(rows) - 1))
    column = data.draw(st.integers(0, len(rows[row]) - 1))
    value = data.draw(CELLS)
    sheet.fill(row, column, value)
    expected = [list(cells) for cells in rows]
    expected[row][column] = value
    if row:  # a header of odd cells may look like another dialect
        assert parse_sheet(sheet.render(), "table.csv").rows == expected
    before, after = text.split(end), sheet.render().decode().split(end)
    assert before[0] == after[0] or row == 0


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_a_table_keeps_its_encoding(encoding):
    data = "Name,Note\r\nZoë,1\r\n".encode(encoding)
    sheet = parse_sheet(data, "table.csv")
    assert sheet.rows[1] == ["Zoë", "1"]
    assert sheet.render() == data
    sheet.fill(1, 1, "2")
    assert sheet.render() == "Name,Note\r\nZoë,2\r\n".encode(encoding)


def test_a_cell_that_gets_its_own_value_is_untouched():
    sheet = parse_sheet(b'a,b\n"1",2\n', "t.csv")
    sheet.fill(1, 0, "1")
    assert sheet.render() == b'a,b\n"1",2\n'
    sheet.fill(1, 0, "3")
    assert sheet.render() == b'a,b\n"3",2\n'


def test_a_quote_that_never_ends_is_named():
    with pytest.raises(KitError, match="quote in line 2"):
        parse_sheet(b'a,b\nc,"d\n', "t.csv")


def test_a_table_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(KitError, match=r"none\.csv"):
        read_sheet(tmp_path / "none.csv")
    with (tmp_path / "big.csv").open("wb") as stream:
        stream.truncate(MAX_BYTES + 1)
    with pytest.raises(KitError, match="larger"):
        read_sheet(tmp_path / "big.csv")


@given(st.binary(max_size=200))
def test_any_bytes_are_a_table_or_refused(data):
    try:
        sheet = parse_sheet(data, "t.csv")
    except KitError:
        return
    if sheet.encoding != "utf-16-le" and sheet.encoding != "utf-16-be":
        assert sheet.render() == data
