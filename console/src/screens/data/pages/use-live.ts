import type { Change } from '@backlot/client';
import { useEffect, useRef, useState } from 'react';
import { projectClient } from '../../../api/session.ts';
import type { Where } from '../collection/address.ts';
import type { Row } from './cell-values.ts';
import type { RecordPages } from './record-pages.ts';

interface Live {
  projectId: string;
  collection: string;
  where: Where | undefined;
  pages: RecordPages;
  /** Not where one looks as somebody else: streams are the owner's. */
  isOn: boolean;
  /** A record that is shown has changed, or is gone. */
  onChange(id: string): void;
}

/** How long a changed row is marked. */
const freshMs = 6000;
const mostOwn = 1000;

/** What others change shows in its place; what they add is counted, so that no row moves under the mouse. */
export const useLive = ({ projectId, collection, where, pages, isOn, onChange }: Live) => {
  const [added, setAdded] = useState(0);
  const [isStale, setStale] = useState(false);
  const [fresh, setFresh] = useState<ReadonlySet<string>>(new Set());
  const own = useRef(new Set<string>());
  const tell = useRef(onChange);
  tell.current = onChange;
  const whereText = JSON.stringify(where);

  useEffect(() => {
    setAdded(0);
    setStale(false);
    if (!isOn) return undefined;
    let hasBegun = false;
    const timers = new Set<ReturnType<typeof setTimeout>>();
    const mark = (id: string) => {
      setFresh((marked) => new Set(marked).add(id));
      const timer = setTimeout(() => {
        timers.delete(timer);
        setFresh((marked) => new Set([...marked].filter((other) => other !== id)));
      }, freshMs);
      timers.add(timer);
    };
    const stop = projectClient(projectId)
      .db(collection)
      .subscribe(
        {
          ...(whereText !== undefined && { where: JSON.parse(whereText) as never }),
          // Without it the grid is as true as when it was read.
          onError: () => setStale(true),
        },
        (change: Change<Row>) => {
          if (change.type === 'reset') {
            if (hasBegun) setStale(true);
            hasBegun = true;
            return;
          }
          const isOwn = own.current.delete(change.id);
          if (change.type === 'create') {
            if (!isOwn) setAdded((count) => count + 1);
            return;
          }
          const isGone = change.type !== 'update';
          pages.put(change.id, isGone ? null : change.record);
          if (!isOwn && !isGone) mark(change.id);
          if (!isOwn) tell.current(change.id);
        },
      );
    return () => {
      stop();
      for (const timer of timers) clearTimeout(timer);
    };
  }, [projectId, collection, whereText, pages, isOn]);

  return {
    added,
    isStale,
    fresh,
    /** What is written here needs no sign. */
    isMine(id: string) {
      if (own.current.size >= mostOwn) own.current.clear();
      own.current.add(id);
    },
  };
};
