import type { Database } from '@backlot/database';
import type { NoteFindings } from '@backlot/service';
import { openPersonalFields } from '../collections/advice.ts';
import type { PersonalKind } from '../collections/personal-values.ts';
import { parseAccess } from '../collections/rules.ts';

export interface CountedReads {
  collection: string;
  /** By callers without an account. */
  reads: number;
}

/** Of a project, at once. */
const maxCollections = 100;

interface Row {
  name: string;
  access: string;
  personal: Record<string, PersonalKind>;
}

/** Notes where strangers have read what writes have shown to look personal: no record is read for it. */
export const createNoteOpenReads =
  (database: Database, findings: Pick<NoteFindings, 'note'>) =>
  async (projectNumber: number, counted: readonly CountedReads[]): Promise<void> => {
    if (counted.length === 0) return;
    const reads = new Map(counted.map((one) => [one.collection, one.reads]));
    const rows = await database.query<Row>(
      `SELECT name, access, personal FROM collections
        WHERE project_id = $1 AND name = ANY ($2) AND personal <> '{}' LIMIT ${maxCollections}`,
      [projectNumber, [...reads.keys()]],
    );
    for (const row of rows) {
      const open = openPersonalFields({ ...row, access: parseAccess(row.access) });
      findings.note({
        projectNumber,
        kind: 'exposure',
        subject: row.name,
        signs: open.map(([, kind]) => kind),
        examples: open.map(([field]) => field),
        calls: reads.get(row.name) ?? 1,
      });
    }
  };
