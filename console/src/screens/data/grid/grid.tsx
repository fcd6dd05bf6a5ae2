import {
  type KeyboardEvent,
  useEffect,
  useId,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react';
import { formatCount } from '../../../parts/words/numbers.ts';
import { CellEditor } from './cell-editor.tsx';
import { GridHead } from './grid-head.tsx';
import { onGridKey, type Place } from './grid-keys.ts';
import type { GridProps } from './grid-props.ts';
import { GridRow, type RowActions } from './grid-row.tsx';
import { useEditing } from './use-editing.ts';
import { useRange } from './use-range.ts';

/** Drawn beside those that are wholly in view. */
const spareRows = 16;

/** Records as rows, of which those in view are drawn. It has the focus itself, and names the active cell. */
export const Grid = (props: GridProps) => {
  const { label, pages, shown, rows, rowPx, selected, openId, fresh } = props;
  useSyncExternalStore(pages.subscribe, pages.readVersion);
  const { element, onScroll, window: view, bodyPx, rowsInView } = rows;
  const count = pages.length;
  const gridId = useId();
  const [active, setActive] = useState<Place>({ row: 0, column: 0 });
  const { editing, setEditing, write, edit } = useEditing(props);
  const range = useRange(props);
  const [menuColumn, setMenuColumn] = useState<number | null>(null);
  const { first, last } = view;
  useEffect(() => pages.want(first, Math.max(first, last)), [pages, first, last]);

  const toId = (row: number, column: number) => `${gridId}-${row}-${column}`;
  const focus = () => element.current?.focus({ preventScroll: true });
  const go = (place: Place) => {
    setActive(place);
    if (place.row >= 0) rows.show(place.row, count);
    shown.showColumn(place.column);
  };
  const activeRow = pages.rowAt(active.row);
  const activeColumn = shown.headers[active.column]?.column;

  // The rows are drawn anew only where what they show changes: what they call is always that of now.
  const latest = useRef({ edit, range, toId, props, headers: shown.headers });
  latest.current = { edit, range, toId, props, headers: shown.headers };
  const actions = useMemo<RowActions>(
    () => ({
      toId: (row, column) => latest.current.toId(row, column),
      onActivate: (row, column) => setActive({ row, column }),
      onEdit: (row, column) =>
        latest.current.edit(
          latest.current.props.pages.rowAt(row),
          latest.current.headers[column]?.column,
        ),
      onOpen: (row) => latest.current.props.onOpen(row),
      onSelect: (index, row, isRange) => latest.current.range.selectTo(index, row, isRange),
    }),
    [],
  );

  const onKeyDown = (event: KeyboardEvent) =>
    onGridKey(event, {
      props,
      active,
      activeRow,
      activeColumn,
      range,
      edit,
      go,
      openMenu: setMenuColumn,
    });

  const columnsKey = shown.inView.map(({ column, size }) => `${column.name} ${size}`).join();
  const isActiveDrawn =
    active.row === -1 ||
    (active.row >= first &&
      active.row <= last &&
      shown.inView.some(({ index }) => index === active.column));
  const lookedFor = pages.lookedFor;
  // A row that leaves the view is used for one that comes into it.
  const drawnAtMost = rowsInView + spareRows;
  return (
    <div
      ref={element}
      role="grid"
      className="grid"
      tabIndex={0}
      aria-label={label}
      aria-rowcount={count + 1}
      aria-colcount={shown.headers.length + 1}
      aria-multiselectable="true"
      aria-activedescendant={isActiveDrawn ? toId(active.row, active.column) : undefined}
      data-held-rows={pages.heldRows}
      data-scroll-restoration-id={props.listKey}
      onScroll={onScroll}
      onKeyDown={onKeyDown}
    >
      <GridHead
        columns={shown.inView}
        totalPx={shown.totalPx}
        sort={props.sort}
        activeColumn={active.row === -1 ? active.column : null}
        menuColumn={menuColumn}
        toId={toId}
        onMenu={(column) => {
          setMenuColumn(column);
          if (column === null) focus();
        }}
        onSort={props.onSort}
        onFilter={props.onFilter}
        onHide={({ name }) => shown.setVisible(name, false)}
      />
      <div
        role="rowgroup"
        className="grid-body"
        style={{ height: Math.max(bodyPx, rowPx), width: shown.totalPx }}
      >
        {Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => {
          const index = first + at;
          const row = pages.rowAt(index);
          const isActive = active.row === index;
          const isEditing = isActive && row && editing?.id === row.id;
          return (
            <GridRow
              key={index % drawnAtMost}
              index={index}
              row={row}
              columns={shown.inView}
              columnsKey={columnsKey}
              topPx={view.topPx + at * rowPx}
              heightPx={rowPx}
              widthPx={shown.totalPx}
              isSelected={row ? selected.has(row.id) : false}
              isOpen={row?.id === openId && openId !== undefined}
              isFresh={row ? fresh.has(row.id) : false}
              activeColumn={isActive ? active.column : null}
              editor={
                isEditing && activeColumn && editing.column === activeColumn.name ? (
                  <CellEditor
                    key={`${editing.id} ${editing.column} ${editing.draft ?? ''}`}
                    column={activeColumn}
                    value={editing.seen}
                    draft={editing.draft}
                    onLeave={() => {
                      setEditing(null);
                      focus();
                    }}
                    onDone={(change, text, goOn) => {
                      setEditing(null);
                      focus();
                      if (goOn !== 0) {
                        const columns = shown.headers.length - 1;
                        const column = Math.max(0, Math.min(active.column + goOn, columns));
                        go({ row: active.row, column });
                      }
                      void write(row, activeColumn, change, { ...editing, draft: text });
                    }}
                  />
                ) : null
              }
              actions={actions}
            />
          );
        })}
      </div>
      {lookedFor !== null && (
        <output className="looking">Looking for row {formatCount(lookedFor + 1)}…</output>
      )}
    </div>
  );
};
