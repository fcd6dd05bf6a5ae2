import type { ListOptions, Selection, Stored } from './record-types.ts';

export interface Watching {
  /** Told of what keeps a list from being true; a page without it finds that in the console. */
  onError?: (error: Error) => void;
}

/** As of `list`; a live list has no pages: `limit` says how much of its beginning is kept. */
export interface LiveOptions<T>
  extends Omit<ListOptions<T>, 'cursor' | 'offset' | 'total' | 'signal'>,
    Watching {}

export interface LiveState {
  /** Ids of the records whose change is on its way: they are shown as if it was done already. */
  pending: ReadonlySet<string>;
  /** Whether there are more records than `limit`. */
  hasMore: boolean;
}

export type OnItems<T> = (items: Stored<T>[], state: LiveState) => void;

export interface SubscribeOptions<T> extends Omit<Selection<T>, 'search' | 'signal'>, Watching {}

interface ChangeOf<Type extends string> {
  type: Type;
  id: string;
  changedAt: string;
}

/**
 * `leave`: the record is there, and does not fit `where`, or may not be read by the caller, any more.
 * `reset`: later changes will be told, and earlier ones may have been missed: read anew. It comes first of all too.
 */
export type Change<T> =
  | (ChangeOf<'create' | 'update'> & { record: Stored<T> })
  | ChangeOf<'delete' | 'leave'>
  | { type: 'reset' };

export type OnChange<T> = (change: Change<T>) => void;
