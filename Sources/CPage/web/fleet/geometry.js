// Sizes and labels of the matrix, without the DOM.

/** The size of a cell, and from which number of columns on cells are small. */
const LARGE = { width: 32, height: 24 };
const SMALL = { width: 16, height: 16 };
const SMALL_FROM = 21;
/** The characters of a label; longer ones are cut. */
const ROW_LABEL = 26;
const COLUMN_LABEL = 18;
/** The width of a character in px, so that the labels have space. */
const CHARACTER = 6.6;
/** Labels of columns lean to the right by 30 degrees. */
export const LEAN = Math.PI / 3;

function shortened(label, length) { return label.length > length ? `${label.slice(0, length - 1)}…` : label; }

/** What all labels end with, from a dot on: `.prod.example`; empty for labels without it. */
export function commonSuffix(labels) {
  if (labels.length < 2) return "";
  const parts = labels[0].split(".").slice(1);
  for (let from = 0; from < parts.length; from += 1) {
    const suffix = `.${parts.slice(from).join(".")}`;
    if (labels.every((label) => label.endsWith(suffix) && label.length > suffix.length)) return suffix;
  }
  return "";
}

/** The geometry for labels of columns and rows: the cell's size, the labels, and the space to their left, top and right. */
export function geometryOf(columns, rows) {
  const suffix = commonSuffix([...columns, ...rows]);
  const short = (label, length) => shortened(label === "" ? "–" : label.slice(0, label.length - suffix.length), length);
  const columnLabels = columns.map((label) => short(label, COLUMN_LABEL));
  const rowLabels = rows.map((label) => short(label, ROW_LABEL));
  const longest = (labels) => Math.max(3, ...labels.map((label) => label.length)) * CHARACTER;
  const cell = columns.length >= SMALL_FROM ? SMALL : LARGE;
  return {
    cell, columnLabels, rowLabels, left: Math.ceil(longest(rowLabels)) + 16,
    top: Math.ceil(longest(columnLabels) * Math.sin(LEAN)) + 16, right: Math.ceil(longest(columnLabels) * Math.cos(LEAN)) + 8,
    width: columns.length * cell.width, height: rows.length * cell.height,
  };
}

/** The scroll position that shows a range, as near to the present one as possible; `sticky` px of the length are covered. */
export function scrolled(position, length, start, size, sticky) {
  if (start < position + sticky) return start - sticky;
  return start + size > position + length ? start + size - length : position;
}
