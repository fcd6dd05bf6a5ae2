import { type ReactNode, useEffect, useRef } from 'react';
import { Problem } from '../problem.tsx';
import { Loading } from './loading.tsx';

/** As `usePages` returns it. */
interface Pages<T> {
  items: readonly T[] | undefined;
  error: Error | null;
  hasMore: boolean;
  isLoadingMore: boolean;
  more(): void;
  again(): void;
}

/** Pages of which nothing is shown are passed over by themselves, at most so many. */
const passedPages = 20;

interface ListedProps<T> {
  pages: Pages<T>;
  /** Instead of the list, where it has nothing. */
  empty: ReactNode;
  children(items: readonly T[]): ReactNode;
}

/** A list in each of its states: on its way, failed, empty, there, and more to come. */
export const Listed = <T,>({ pages, empty, children }: ListedProps<T>) => {
  const { items, error, hasMore, isLoadingMore, more, again } = pages;
  const passed = useRef(0);
  const isPassing =
    items?.length === 0 && hasMore && !error && (isLoadingMore || passed.current < passedPages);
  useEffect(() => {
    if (!isPassing || isLoadingMore) return;
    passed.current += 1;
    more();
  });
  if (isPassing) return <Loading />;
  if (!items) return error ? <Problem error={error} again={again} /> : <Loading />;
  if (items.length === 0 && !hasMore)
    return (
      <>
        <Problem error={error} again={again} />
        {empty}
      </>
    );
  return (
    <>
      {children(items)}
      <Problem error={error} again={again} />
      {hasMore && (
        <div className="row">
          <button type="button" disabled={isLoadingMore} onClick={more}>
            {isLoadingMore ? 'Loading…' : 'Show more'}
          </button>
        </div>
      )}
    </>
  );
};
