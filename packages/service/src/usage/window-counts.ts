import { createHash } from 'node:crypto';
import { type Database, deleteExpired } from '@backlot/database';

export interface Bound {
  /** What is counted, and of whom. */
  name: string;
  windowMs: number;
  max: number;
}

/** The window that is open now, as the table names it. */
export const currentWindow = ({ name, windowMs }: Omit<Bound, 'max'>, now: number) => ({
  hash: createHash('sha256').update(`${windowMs} ${name}`).digest(),
  endsAt: new Date((Math.floor(now / windowMs) + 1) * windowMs),
});

export type WindowCounts = ReturnType<typeof createWindowCounts>;

/** Undoes the counts that a refused one has raised. */
class BoundReached extends Error {
  override readonly name = 'BoundReached';
}

/**
 * Counts of fixed windows, exact among parallel calls and processes; in the table `window_counts`, which
 * each schema with such bounds has.
 */
export const createWindowCounts = (database: Database, now: () => number) => ({
  /** Counts one under all of these bounds, or under none of them: then it answers false. */
  async take(bounds: readonly Bound[]): Promise<boolean> {
    const windows = bounds.map(({ max, ...window }) => ({ ...currentWindow(window, now()), max }));
    const count = () =>
      database.transaction(async () => {
        // In one order, against deadlocks.
        const counted = await database.query(
          `INSERT INTO window_counts AS kept (name_hash, ends_at, count)
           SELECT name_hash, ends_at, 1
             FROM unnest($1::bytea[], $2::timestamptz[], $3::int[]) AS bound (name_hash, ends_at, max)
            WHERE max > 0 ORDER BY name_hash
           ON CONFLICT (name_hash, ends_at) DO UPDATE SET count = kept.count + 1
             WHERE kept.count < ($3::int[])[array_position($1::bytea[], kept.name_hash)]
           RETURNING true`,
          [
            windows.map(({ hash }) => hash),
            windows.map(({ endsAt }) => endsAt),
            windows.map(({ max }) => max),
          ],
        );
        if (counted.length < windows.length) throw new BoundReached();
      });
    try {
      await count();
      return true;
    } catch (error) {
      if (error instanceof BoundReached) return false;
      throw error;
    }
  },

  /** Whether one more would be under all of these bounds; counts none. */
  async hasRoom(bounds: readonly Bound[]): Promise<boolean> {
    const windows = bounds.map(({ max, ...window }) => ({ ...currentWindow(window, now()), max }));
    const full = await database.query(
      `SELECT true FROM window_counts
         JOIN unnest($1::bytea[], $2::timestamptz[], $3::int[]) AS bound (name_hash, ends_at, max)
           USING (name_hash, ends_at)
        WHERE count >= max LIMIT 1`,
      [
        windows.map(({ hash }) => hash),
        windows.map(({ endsAt }) => endsAt),
        windows.map(({ max }) => max),
      ],
    );
    return full.length === 0;
  },

  /** Deletes windows that have ended. */
  sweep: () =>
    deleteExpired(database, [
      { table: 'window_counts', condition: 'ends_at < $1', values: [new Date(now())] },
    ]),
});
