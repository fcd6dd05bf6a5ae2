import { BacklotError } from '@backlot/client';
import { type ReactNode, useMemo, useSyncExternalStore } from 'react';
import { useWhyNot } from '../../../api/roles.ts';
import { Empty } from '../../../parts/lists/empty.tsx';
import { MoreMenu } from '../../../parts/menu.tsx';
import { Problem } from '../../../parts/problem.tsx';
import { notifyProblem } from '../../../parts/toasts.tsx';
import { countWords, formatCount } from '../../../parts/words/numbers.ts';
import type { Column } from '../grid/columns.ts';
import { Grid } from '../grid/grid.tsx';
import type { GridProps } from '../grid/grid-props.ts';
import { useColumns } from '../grid/use-columns.ts';
import { useRows } from '../grid/use-rows.ts';
import { TooExpensive } from '../indexes/too-expensive.tsx';
import type { Row } from '../pages/cell-values.ts';
import type { RecordPages } from '../pages/record-pages.ts';
import type { useLive } from '../pages/use-live.ts';
import { saveChanges } from '../record/save.tsx';
import { useAddress } from './address.ts';

interface GridPlaceProps {
  pages: RecordPages;
  columns: readonly Column[];
  live: ReturnType<typeof useLive>;
  selected: ReadonlySet<string>;
  /** Whether rows have all fields, or those of the first columns alone. */
  hasAllFields: boolean;
  /** Instead of the grid where there is nothing at all. */
  empty: ReactNode;
  onSelected(selected: ReadonlySet<string>): void;
  onShowColumn(name: string): void;
  onFilter(column: Column): void;
  onDelete(ids: readonly string[]): void;
  onDeleteAll: (() => void) | undefined;
  onReadAnew(): void;
  onEscape(): void;
}

/** What the rules of the collection say to who may not read it. */
const isRefusal = (error: Error): error is BacklotError =>
  error instanceof BacklotError && (error.status === 401 || error.status === 403);

/** Two lines of text, as far as the reader has set how large that is. */
const findRowPx = () => {
  const remPx = Number.parseFloat(getComputedStyle(document.documentElement).fontSize) || 16;
  return Math.round((matchMedia('(pointer: coarse)').matches ? 2.5 : 2) * remPx);
};

/** The grid, what it says of itself, and what can be done with the rows that are selected. */
export const GridPlace = (props: GridPlaceProps) => {
  const { pages, columns, live, selected, onSelected, onReadAnew } = props;
  const { projectId, collection, search, change } = useAddress();
  useSyncExternalStore(pages.subscribe, pages.readVersion);
  const rowPx = useMemo(findRowPx, []);
  const rows = useRows(pages.length, rowPx);
  const shown = useColumns(columns, rows.element);
  const why = useWhyNot();
  const isReadOnly = search.as !== undefined || why('updateRecord') !== undefined;

  const write: GridProps['onWrite'] = async (row, column, field, seen) => {
    const value = 'value' in field ? field.value : undefined;
    live.isMine(row.id);
    // As if it was written already.
    pages.put(row.id, { ...row, [column.name]: value });
    try {
      const { record } = await saveChanges({
        place: { projectId, collection, id: row.id },
        changes: { [column.name]: value },
        seen: { [column.name]: seen },
      });
      pages.put(row.id, record as Row);
      return true;
    } catch (error) {
      pages.put(row.id, row);
      notifyProblem(error as Error);
      return false;
    }
  };
  const select = (chosen: readonly Row[], isSelected: boolean) => {
    const next = new Set(selected);
    for (const { id } of chosen) isSelected ? next.add(id) : next.delete(id);
    onSelected(next);
  };
  if (pages.error && search.as !== undefined && isRefusal(pages.error))
    return (
      <div className="inside">
        <Empty title="This caller is refused">
          The API answers {pages.error.status}: {pages.error.message}
        </Empty>
      </div>
    );
  if (pages.error && !pages.hasBegun)
    return (
      <div className="inside">
        {pages.error instanceof BacklotError && pages.error.code === 'query_too_expensive' ? (
          <TooExpensive
            projectId={projectId}
            collection={collection}
            search={search}
            error={pages.error}
            again={pages.again}
          />
        ) : (
          <Problem error={pages.error} again={pages.again} />
        )}
      </div>
    );
  if (pages.isEmpty)
    return (
      <div className="inside">
        {props.empty ?? (
          <Empty
            title="No record fits"
            action={
              (search.where || search.search !== undefined) && (
                <button
                  type="button"
                  onClick={() => change({ where: undefined, search: undefined })}
                >
                  Show all
                </button>
              )
            }
          >
            {search.as === undefined
              ? 'Change the filter, or show all records.'
              : 'This caller sees no records here.'}
          </Empty>
        )}
      </div>
    );
  const hidden = columns.filter(({ name }) => !shown.isVisible(name));
  const first = Math.max(0, rows.window.first);
  const { where, sort, as } = search;
  // In a selector of CSS, between quotes.
  const listKey = encodeURIComponent(
    JSON.stringify([projectId, collection, where, search.search, sort, as]),
  );
  return (
    <>
      <div className="grid-place">
        <Grid
          label={`Records of ${collection}`}
          listKey={listKey}
          pages={pages}
          shown={shown}
          rows={rows}
          rowPx={rowPx}
          sort={search.sort}
          selected={selected}
          openId={search.record}
          fresh={live.fresh}
          isReadOnly={isReadOnly}
          onSort={(sort) => change({ sort })}
          onFilter={props.onFilter}
          onOpen={({ id }) => change({ record: id })}
          onSelect={select}
          onDelete={(row) => {
            if (isReadOnly) return;
            if (selected.size > 0) props.onDelete([...selected]);
            else if (row) props.onDelete([row.id]);
          }}
          onEscape={props.onEscape}
          onWrite={write}
        />
      </div>
      <footer className="data-foot">
        <output>
          {pages.total === null
            ? 'Counting…'
            : `${pages.isApproximate ? 'About ' : ''}${countWords(pages.length, 'record')}`}
        </output>
        {pages.length > 50 && (
          <span className="row">
            <button
              type="button"
              className="quiet small"
              onClick={() => rows.show(0, pages.length)}
            >
              To the first
            </button>
            <button
              type="button"
              className="quiet small"
              onClick={() => rows.show(pages.length - 1, pages.length)}
            >
              To the last
            </button>
            <span className="visually-hidden">Row {formatCount(first + 1)} is in view</span>
          </span>
        )}
        {hidden.length > 0 && (
          <MoreMenu
            label="Hidden columns"
            choices={hidden.slice(0, 200).map(({ name }) => ({
              label: name,
              onSelect: () => {
                shown.setVisible(name, true);
                if (!props.hasAllFields) props.onShowColumn(name);
              },
            }))}
          >
            {countWords(hidden.length, 'hidden column')} ▾
          </MoreMenu>
        )}
        {(live.added > 0 || live.isStale) && (
          <button type="button" className="small" onClick={onReadAnew}>
            {live.added > 0
              ? `${countWords(live.added, 'new record')}: show`
              : 'Others may have changed it: read anew'}
          </button>
        )}
        {pages.error && (
          <button type="button" className="small" onClick={() => pages.again()}>
            {pages.error.message} Try again
          </button>
        )}
        {selected.size > 0 && (
          <span className="row selection">
            <strong>{countWords(selected.size, 'record')} selected</strong>
            <button type="button" className="small" onClick={() => onSelected(new Set())}>
              Select none
            </button>
            {!isReadOnly && (
              <button type="button" className="small" onClick={() => props.onDelete([...selected])}>
                Delete…
              </button>
            )}
            {!isReadOnly && props.onDeleteAll && (
              <button type="button" className="small" onClick={props.onDeleteAll}>
                Delete all that fit the filter…
              </button>
            )}
          </span>
        )}
        <span className="keys" aria-hidden="true">
          <kbd>Enter</kbd> edits <kbd>Shift Enter</kbd> opens <kbd>Space</kbd> selects{' '}
          <kbd>Delete</kbd> asks <kbd>/</kbd> filters
        </span>
      </footer>
    </>
  );
};
