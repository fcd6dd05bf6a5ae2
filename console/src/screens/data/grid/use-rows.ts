import { useCallback, useEffect, useMemo, useRef, useSyncExternalStore } from 'react';

/** Rows of `rowPx` in an element that scrolls below a head of the same height. */
export interface RowWindow {
  first: number;
  last: number;
  /** Of the first row, in the body. */
  topPx: number;
}

/** Browsers lay out no element that is higher than some 17 to 33 million pixels: above this, rows go by faster. */
const highestBodyPx = 12_000_000;
const overscan = 6;

/** How far it has to be scrolled in rows for each pixel of the scroll bar. */
const scaleFor = (count: number, rowPx: number, viewPx: number) => {
  const fullPx = count * rowPx;
  const bodyPx = Math.min(fullPx, highestBodyPx);
  // By the ways to scroll, so that both ends are reached.
  const scale = fullPx > bodyPx ? (fullPx + rowPx - viewPx) / (bodyPx + rowPx - viewPx) : 1;
  return { bodyPx, scale };
};

/** Which of many rows are in view, and where they stand. */
export const useRows = (count: number, rowPx: number) => {
  const element = useRef<HTMLDivElement>(null);
  const listeners = useRef(new Set<() => void>());
  const tell = useCallback(() => {
    for (const listener of listeners.current) listener();
  }, []);
  useEffect(() => {
    const seen = element.current;
    if (!seen) return undefined;
    const observer = new ResizeObserver(tell);
    observer.observe(seen);
    return () => observer.disconnect();
  }, [tell]);
  const scrollTop = useSyncExternalStore(
    (listener) => {
      listeners.current.add(listener);
      return () => listeners.current.delete(listener);
    },
    () => `${element.current?.scrollTop ?? 0} ${element.current?.clientHeight ?? 0}`,
  );
  const [topPx = 0, viewPx = 0] = scrollTop.split(' ').map(Number);
  const { bodyPx, scale } = scaleFor(count, rowPx, viewPx);
  const offsetPx = topPx * scale;
  const inView = Math.ceil(viewPx / rowPx);
  const start = Math.floor(offsetPx / rowPx);
  const first = Math.max(0, start - overscan);
  const last = Math.min(count - 1, start + inView + overscan);

  const api = useMemo(
    () => ({
      element,
      onScroll: tell,
      /** As little as it takes to see it. */
      show(index: number, rows: number) {
        const seen = element.current;
        if (!seen) return;
        const { scale } = scaleFor(rows, rowPx, seen.clientHeight);
        const offset = seen.scrollTop * scale;
        const roomPx = seen.clientHeight - rowPx;
        if (index * rowPx < offset) seen.scrollTop = (index * rowPx) / scale;
        else if ((index + 1) * rowPx > offset + roomPx)
          seen.scrollTop = ((index + 1) * rowPx - roomPx) / scale;
      },
    }),
    [rowPx, tell],
  );
  return {
    ...api,
    bodyPx,
    window: { first, last, topPx: topPx + first * rowPx - offsetPx } satisfies RowWindow,
    rowsInView: Math.max(1, inView - 2),
  };
};
