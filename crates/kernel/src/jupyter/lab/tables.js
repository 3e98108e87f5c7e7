// Tables of results: a click on a heading, or on a cell with the Alt key, sorts the rows that are
// shown by that column; the next one turns them round. The index over a cell stays what it was.

const number = text => Number(text.trim().replaceAll('¯', '-').replace('∞', 'Infinity'));

function before(a, b) {
  const [p, q] = [number(a), number(b)];
  return Number.isNaN(p) || Number.isNaN(q) ? a.localeCompare(b) : p - q;
}

function sort(table, column) {
  const rows = [...table.rows].filter(r => r.cells[0]?.tagName === 'TD');
  const text = row => row.cells[column]?.textContent ?? '';
  const turned = table.dataset.by === String(column) ? -1 : 1;
  table.dataset.by = turned < 0 ? '' : String(column);
  const [first] = rows;
  if (!first) return;
  rows.sort((a, b) => turned * before(text(a), text(b)));
  first.parentNode.append(...rows);
}

function sorting(e) {
  const cell = e.target.closest?.('.aplomb > table > * > tr > td, .aplomb > table > * > tr > th');
  if (!cell || (cell.tagName === 'TD' && !e.altKey)) return;
  sort(cell.closest('table'), cell.cellIndex);
}
