import type { Database } from '@backlot/database';

export interface AwaitedDeps {
  database: Database;
  /** What is known of a collection is read anew. */
  forget: (projectNumber: number, name: string) => void;
}

/**
 * Which of the collections that streams wait for are those of entries that nobody has asked for: an entry may be read
 * before this process hears that its collection was made.
 */
export const findAwaited = async (
  { database, forget }: AwaitedDeps,
  projectNumber: number,
  { names, collectionIds }: { names: ReadonlySet<string>; collectionIds: readonly number[] },
): Promise<string[]> => {
  if (names.size === 0 || collectionIds.length === 0) return [];
  const rows = await database.query<{ name: string }>(
    'SELECT name FROM collections WHERE project_id = $1 AND coll_id = ANY ($2) AND deleted_at IS NULL',
    [projectNumber, collectionIds],
  );
  const made = rows.map(({ name }) => name).filter((name) => names.has(name));
  for (const name of made) forget(projectNumber, name);
  return made;
};
