import { burstKinds, type FindingKind } from '@backlot/contract';
import { type Database, deleteExpired, type workLeft } from '@backlot/database';

export interface FoundSigns {
  projectNumber: number;
  kind: FindingKind;
  subject: string;
  signs: readonly string[];
  calls: number;
  evidence: {
    examples?: readonly string[];
    usualPerHour?: number;
    networks?: readonly { address: string; calls: number }[];
  };
}

const hourMs = 60 * 60_000;
/** What is not seen again for so long is gone; what comes after it is another finding. */
const keptMs = { bursts: 24 * hourMs, others: 14 * 24 * hourMs };
/** Exposures are of collections, of which a project may have many. */
const mostOfProject = 100;

/** A further sign begins it anew: its owner may be told again, and it is dismissed no more. */
const keepSql = `INSERT INTO findings AS known (id, project_number, kind, subject, signs, calls, evidence, created_at, seen_at)
  SELECT gen_random_uuid(), number, kind, subject, signs, calls, evidence, $2, $2
    FROM jsonb_to_recordset($1) AS found ("projectNumber" int8, kind text, subject text, signs text[], calls int8, evidence jsonb)
    JOIN projects ON number = "projectNumber"
   WHERE number > 1 AND ${mostOfProject} > (SELECT count(*) FROM findings AS others
     WHERE project_number = number AND (others.kind, others.subject) <> (found.kind, found.subject))
   ORDER BY number, kind, subject
  ON CONFLICT ON CONSTRAINT findings_subject DO UPDATE SET
    signs = ARRAY(SELECT DISTINCT unnest(known.signs || excluded.signs) ORDER BY 1),
    calls = CASE WHEN known.kind = ANY ($3) THEN greatest(known.calls, excluded.calls)
                 ELSE known.calls + excluded.calls END,
    evidence = known.evidence || excluded.evidence,
    seen_at = greatest(known.seen_at, excluded.seen_at),
    told_at = CASE WHEN excluded.signs <@ known.signs THEN known.told_at END,
    dismissed_until = CASE WHEN excluded.signs <@ known.signs THEN known.dismissed_until END`;

/** Adds to what is known, each subject of a project once. */
export const keepFindings = async (
  database: Database,
  found: readonly FoundSigns[],
  now: number,
): Promise<void> => {
  if (found.length === 0) return;
  await database.query(keepSql, [JSON.stringify(found), new Date(now), burstKinds]);
};

export const forgetFindings = (
  database: Database,
  now: number,
): Promise<typeof workLeft | undefined> =>
  deleteExpired(database, [
    {
      table: 'findings',
      condition: 'seen_at < $1 AND kind = ANY ($2)',
      values: [new Date(now - keptMs.bursts), burstKinds],
    },
    { table: 'findings', condition: 'seen_at < $1', values: [new Date(now - keptMs.others)] },
  ]);
