/** A change of a record since the first one that is to be undone. */
export interface RecordEvent {
  seq: number;
  kind: 'c' | 'u' | 'd';
  /** Whether it is to be undone. */
  matches: boolean;
  /** Whether an earlier undo has written it, which this one leaves: that is what there should be. */
  isUndo: boolean;
}

/** What is to become of a record: what there was before the change `seq`, or nothing. */
export interface Target {
  seq: number;
  isAbsent: boolean;
  /** Whether others have changed the record since. */
  isConflict: boolean;
}

/**
 * Finds what there was before the first change that is to be undone, behind the last undo.
 * @param events in the order in which they happened; creates that are neither to be undone nor of an undo are missing
 * @returns undefined where nothing is to be undone
 */
export const findTarget = (
  events: readonly RecordEvent[],
  isThere: boolean,
): Target | undefined => {
  let target: Target | undefined;
  let wasThere: boolean | undefined;
  const byOthers = () => {
    if (target) target.isConflict = true;
  };
  for (const { seq, kind, matches, isUndo } of events) {
    // Between two changes somebody has made it, or has deleted it while no changes were kept.
    if (wasThere !== undefined && wasThere !== (kind !== 'c')) byOthers();
    if (matches) target ??= { seq, isAbsent: kind === 'c', isConflict: false };
    else if (isUndo) target = undefined;
    else byOthers();
    wasThere = kind !== 'd';
  }
  if (wasThere !== undefined && wasThere !== isThere) byOthers();
  return target;
};
