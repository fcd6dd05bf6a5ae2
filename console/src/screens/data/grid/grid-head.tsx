import { Menu } from '@base-ui/react/menu';
import type { Column } from './columns.ts';
import { type ColumnInView, gutterPx } from './use-columns.ts';

export interface HeadProps {
  columns: readonly ColumnInView[];
  totalPx: number;
  sort: string | undefined;
  activeColumn: number | null;
  menuColumn: number | null;
  toId(row: number, column: number): string;
  onMenu(column: number | null): void;
  onSort(sort: string | undefined): void;
  onFilter(column: Column): void;
  onHide(column: Column): void;
}

const sortWays = { ascending: '↑', descending: '↓' } as const;

const sortedWay = (sort: string | undefined, name: string) => {
  const first = sort?.split(',')[0];
  if (first === name) return 'ascending';
  return first === `-${name}` ? 'descending' : undefined;
};

const stepPx = 24;

const HeadCell = ({ shown, head }: { shown: ColumnInView; head: HeadProps }) => {
  const { column, index, size, startPx, startResize, isResizing, setSize } = shown;
  const { sort, activeColumn, menuColumn, toId, onMenu, onSort, onFilter, onHide } = head;
  const { name, isIndexed, says } = column;
  const way = sortedWay(sort, name);
  // A comma in a name parts two fields.
  const canSort = !name.includes(',') && !name.startsWith('-');
  const next = way === undefined ? name : way === 'ascending' ? `-${name}` : undefined;
  return (
    <div
      role="columnheader"
      id={toId(-1, index)}
      aria-colindex={index + 2}
      aria-sort={way ?? 'none'}
      className={`head-cell ${activeColumn === index ? 'active' : ''} ${column.type === 'number' ? 'number' : ''}`}
      style={{ insetInlineStart: startPx, width: size }}
    >
      <button
        type="button"
        tabIndex={-1}
        className="head-name quiet"
        title={says ?? (isIndexed ? `${name}: an index answers lists by it` : name)}
        disabled={!canSort}
        onClick={() => onSort(next)}
      >
        <bdi className="cut">{name}</bdi>
        {way && <span aria-hidden="true">{sortWays[way]}</span>}
      </button>
      <Menu.Root
        modal={false}
        open={menuColumn === index}
        onOpenChange={(isOpen) => onMenu(isOpen ? index : null)}
      >
        <Menu.Trigger tabIndex={-1} className="quiet icon small" aria-label={`Column ${name}`}>
          ▾
        </Menu.Trigger>
        <Menu.Portal>
          <Menu.Positioner className="popup" sideOffset={4} align="end">
            <Menu.Popup className="menu">
              <Menu.Item
                className="menu-item"
                disabled={!canSort}
                onClick={() => onSort(way === 'ascending' ? undefined : name)}
              >
                {way === 'ascending' ? 'Sort no more' : 'Sort, least first'}
              </Menu.Item>
              <Menu.Item
                className="menu-item"
                disabled={!canSort}
                onClick={() => onSort(way === 'descending' ? undefined : `-${name}`)}
              >
                {way === 'descending' ? 'Sort no more' : 'Sort, greatest first'}
              </Menu.Item>
              <Menu.Item className="menu-item" onClick={() => onFilter(column)}>
                Filter…
              </Menu.Item>
              <Menu.Item className="menu-item" onClick={() => setSize(size + stepPx * 2)}>
                Wider
              </Menu.Item>
              <Menu.Item className="menu-item" onClick={() => setSize(size - stepPx * 2)}>
                Narrower
              </Menu.Item>
              <Menu.Item className="menu-item" onClick={() => onHide(column)}>
                Hide column
              </Menu.Item>
            </Menu.Popup>
          </Menu.Positioner>
        </Menu.Portal>
      </Menu.Root>
      {/* The menu does the same by the keyboard. */}
      <div
        aria-hidden="true"
        className={`resize ${isResizing ? 'on' : ''}`}
        onMouseDown={startResize}
        onTouchStart={startResize}
      />
    </div>
  );
};

export const GridHead = (head: HeadProps) => (
  <div role="rowgroup" className="grid-head" style={{ width: head.totalPx }}>
    <div role="row" aria-rowindex={1}>
      <div role="columnheader" aria-colindex={1} className="gutter" style={{ width: gutterPx }}>
        <span className="visually-hidden">Selection and row</span>
      </div>
      {head.columns.map((shown) => (
        <HeadCell key={shown.column.name} shown={shown} head={head} />
      ))}
    </div>
  </div>
);
