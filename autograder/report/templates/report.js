"use strict";
// Without this script the page is whole; with it, tables can be sorted and students found.
const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

function sortTable(table, column, isNumber, sign) {
  const body = table.tBodies[0];
  const keyed = Array.from(body.rows, (row) => {
    const text = row.cells[column].textContent.trim();
    return { row, text, number: parseFloat(text) };
  });
  keyed.sort((a, b) => {
    if (!a.text || !b.text) return (a.text ? 0 : 1) - (b.text ? 0 : 1); // blanks stay last
    return sign * (isNumber ? a.number - b.number : collator.compare(a.text, b.text));
  });
  body.append(...keyed.map((item) => item.row));
}

for (const table of document.querySelectorAll("table[data-sortable]")) {
  for (const head of table.tHead.querySelectorAll("th[data-sort]")) {
    const isNumber = head.dataset.sort === "number";
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const before = head.getAttribute("aria-sort");
      const first = isNumber ? "descending" : "ascending";
      const other = isNumber ? "ascending" : "descending";
      const order = before === first ? other : first;
      for (const cell of table.tHead.querySelectorAll("th")) cell.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", order);
      sortTable(table, head.cellIndex, isNumber, order === "ascending" ? 1 : -1);
    });
  }
}

// Letters that are no others with an accent, but are typed as such.
const plain = { ł: "l", ø: "o", đ: "d", ð: "d", þ: "th", ß: "ss", æ: "ae", œ: "oe", ı: "i" };

function fold(text) {
  const bare = text.normalize("NFKD").replace(/\p{Mn}/gu, "").toLowerCase();
  return bare.replace(/[łøđðþßæœı]/g, (letter) => plain[letter]);
}

const search = document.getElementById("search");
const found = document.getElementById("found");
const students = Array.from(document.getElementById("class").tBodies[0].rows, (row) => {
  return { row, text: fold(row.textContent) };
});

function filter() {
  const words = fold(search.value).split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const { row, text } of students) {
    row.hidden = !words.every((word) => text.includes(word));
    shown += row.hidden ? 0 : 1;
  }
  found.textContent = words.length ? `${shown} of ${students.length} shown` : "";
}

search.addEventListener("input", filter);
search.addEventListener("keydown", (event) => {
  if (event.key === "Escape") clear();
});
document.getElementById("clear").addEventListener("click", clear);

function clear() {
  search.value = "";
  filter();
  search.focus();
}

document.querySelector(".tools").hidden = false;
filter(); // a reload may have kept what was typed

// On paper nothing can be unfolded.
let opened = [];
addEventListener("beforeprint", () => {
  opened = Array.from(document.querySelectorAll("details:not([open])"));
  for (const details of opened) details.open = true;
});
addEventListener("afterprint", () => {
  for (const details of opened) details.open = false;
});
