import type { Database } from '@backlot/database';
import { LRUCache } from 'lru-cache';
import { inCollection } from '../sql.ts';
import type { Collection, Collections } from './collections.ts';
import { personalKind } from './personal-values.ts';

export interface PersonalFields {
  /** Remembers which fields of written documents look personal, beside the call: nobody waits for it. */
  notice(collection: Collection, documents: readonly unknown[]): void;
}

const maxFields = 10;
const maxFieldLength = 100;
const maxRemembered = 10_000;

const noticeSql = `UPDATE collections SET personal = personal || $3::jsonb
  WHERE ${inCollection} AND NOT personal ? $4 AND records.key_count(personal) < ${maxFields}`;

/** Each process tells of a field once: a collection costs a few writes in its life. */
export const createPersonalFields = (
  database: Database,
  { invalidate }: Pick<Collections, 'invalidate'>,
): PersonalFields => {
  const noticed = new LRUCache<string, true>({ max: maxRemembered });

  const remember = async ({ projectNumber, id, name }: Collection, field: string, kind: string) => {
    await database.detached(() =>
      database.query(noticeSql, [projectNumber, id, JSON.stringify({ [field]: kind }), field]),
    );
    invalidate(projectNumber, name);
  };

  return {
    notice(collection, documents) {
      const { projectNumber, id, personal = {} } = collection;
      if (Object.keys(personal).length >= maxFields) return;
      for (const document of documents) {
        for (const [field, value] of Object.entries(document ?? {})) {
          const key = `${projectNumber}/${id}/${field}`;
          if (Object.hasOwn(personal, field) || field.length > maxFieldLength) continue;
          const kind = personalKind(value);
          if (kind === undefined || noticed.has(key)) continue;
          noticed.set(key, true);
          // Where it fails the advice is missing until another process notices.
          remember(collection, field, kind).catch(() => noticed.delete(key));
        }
      }
    },
  };
};
