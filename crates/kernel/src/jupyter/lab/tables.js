// Tables of results: a click on a heading, or on a cell with the Alt key, sorts the rows that are
// shown by that column; the next click turns them round, and the third puts them as they were. The
// index over a cell stays what it was; the tooltip says how to sort.

const number = text => Number(text.trim().replaceAll('¯', '-').replace('∞', 'Infinity'));

function before(a, b) {
  const [p, q] = [number(a), number(b)];
  return Number.isNaN(p) || Number.isNaN(q) ? a.localeCompare(b) : p - q;
}

// The rows of a table as they came, by planes: of an array of rank 3 each plane is sorted by
// itself. A row that stands for rows left out has no index, and stays behind the sorted ones.
const planes = new WeakMap();
const indexOf = row => row.cells[0].dataset.index ?? row.cells[0].title;

function planesOf(table) {
  if (!planes.has(table)) {
    const all = [];
    let last = null;
    for (const row of [...table.rows].filter(r => r.cells[0]?.tagName === 'TD')) {
      const index = indexOf(row);
      const of = index ? index.split(';').slice(0, -2).join(';') : last;
      if (of !== last || !all.length) all.push([]);
      last = of;
      all.at(-1).push(row);
    }
    planes.set(table, all);
  }
  return planes.get(table);
}

const ORDERS = ['none', 'ascending', 'descending'];

function sort(table, column) {
  const again = table.dataset.by === String(column);
  const order = (again ? Number(table.dataset.order) + 1 : 1) % 3;
  Object.assign(table.dataset, { by: column, order });
  const text = row => row.cells[column]?.textContent ?? '';
  const sign = order === 2 ? -1 : 1;
  for (const plane of planesOf(table)) {
    const rows = plane.filter(indexOf).sort((a, b) => sign * before(text(a), text(b)));
    const now = order ? [...rows, ...plane.filter(r => !indexOf(r))] : plane;
    // The rule above a plane belongs to its first row, whichever that is.
    const rule = plane.map(r => r.style.borderTop).find(Boolean) ?? '';
    const place = make('tr');
    [...table.rows].find(r => plane.includes(r)).before(place);
    place.replaceWith(...now);
    now.forEach((row, k) => { row.style.borderTop = k ? '' : rule; });
  }
  for (const th of table.tHead?.rows[0]?.cells ?? []) {
    th.setAttribute('aria-sort', ORDERS[th.cellIndex === column ? order : 0]);
  }
}

const CELL = '.aplomb > table > * > tr > td, .aplomb > table > * > tr > th';

function sorting(e) {
  const cell = e.target.closest?.(CELL);
  if (!cell || (cell.tagName === 'TD' && !e.altKey)) return;
  sort(cell.closest('table'), cell.cellIndex);
}

// Told once for a cell, when the mouse comes to it.
function telling(e) {
  const cell = e.target.closest?.(CELL);
  if (!cell || cell.dataset.index !== undefined) return;
  const { title, tagName } = cell;
  const alone = cell.closest('table').rows.length < 2;
  cell.dataset.index = title;
  if (tagName === 'TH') cell.title = 'a click sorts by this column';
  else if (title && !alone) cell.title = `${title}  Alt and a click sort by this column`;
}
