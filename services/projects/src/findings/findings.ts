import {
  ApiError,
  type EventPayloads,
  type FindingKind,
  findingKinds,
  findingRules,
  isUuid,
  type operatorRoutes,
  type RouteQuery,
  type RouteResponse,
  type Suspension,
} from '@backlot/contract';
import type { Database, Outbox } from '@backlot/database';
import { noteAct, type Page, type Position, readPage } from '@backlot/http';
import type { WindowCounts } from '@backlot/service';
import { findBursts } from './bursts.ts';
import { type FoundSigns, forgetFindings, keepFindings } from './keep-findings.ts';

type Finding = RouteResponse<typeof operatorRoutes.tellFinding>;
type ListQuery = RouteQuery<typeof operatorRoutes.listFindings>;

export interface FindingsDeps {
  database: Database;
  outbox: Outbox<EventPayloads>;
  windowCounts: WindowCounts;
  now: () => number;
}

const dayMs = 24 * 60 * 60_000;
/** Mails of findings to an owner in a day: nobody is mailed at without end. */
const noticesPerDay = 10;
const burstsEveryMs = 60_000;

interface Row {
  id: string;
  kind: FindingKind;
  project_number: number;
  project_id: string;
  project_name: string;
  owner_id: string | null;
  suspensions: Suspension[];
  subject: string;
  signs: string[];
  calls: number;
  evidence: FoundSigns['evidence'];
  created_at: Date;
  seen_at: Date;
  told_at: Date | null;
  dismissed_until: Date | null;
}

const selectSql = `SELECT f.id, f.kind, f.project_number, p.id AS project_id, p.name AS project_name, p.owner_id,
    p.suspensions, f.subject, f.signs, f.calls, f.evidence, f.created_at, f.seen_at, f.told_at, f.dismissed_until
  FROM findings f JOIN projects p ON p.number = f.project_number`;

const least = JSON.stringify(
  findingKinds.map((kind) => ({ kind, least: findingRules[kind].least })),
);

const present = (row: Row, now: number): Finding => {
  const { capability } = findingRules[row.kind];
  const { examples = [], usualPerHour, networks } = row.evidence;
  const isOver = row.dismissed_until === null || row.dismissed_until.getTime() <= now;
  return {
    id: row.id,
    kind: row.kind,
    projectId: row.project_id,
    projectName: row.project_name,
    ownerId: row.owner_id,
    subject: row.subject === '' ? null : row.subject,
    signs: row.signs,
    examples: [...examples],
    since: row.created_at.toISOString(),
    lastSeen: row.seen_at.toISOString(),
    calls: row.calls,
    ...(usualPerHour !== undefined && { usualPerHour }),
    ...(networks && { networks: [...networks] }),
    capability,
    isSuspended: row.suspensions.some(
      (suspension) => suspension.capability === 'all' || suspension.capability === capability,
    ),
    toldAt: row.told_at?.toISOString() ?? null,
    dismissedUntil: isOver ? null : (row.dismissed_until?.toISOString() ?? null),
  };
};

const unknown = () => new ApiError('not_found', 'There is no such finding.');

export type Findings = ReturnType<typeof createFindings>;

/** What looks like abuse, or is open to strangers, over all projects: for the operator. */
export const createFindings = ({ database, outbox, windowCounts, now }: FindingsDeps) => {
  const find = async (id: string, lock = ''): Promise<Row> => {
    const [row] = isUuid(id)
      ? await database.query<Row>(`${selectSql} WHERE f.id = $1 AND p.deleted_at IS NULL ${lock}`, [
          id,
        ])
      : [];
    if (!row) throw unknown();
    return row;
  };

  /** One after the other; the audit log names the project. */
  const change = (id: string, write: (row: Row) => Promise<Partial<Row>>): Promise<Finding> =>
    database.acrossProjects(() =>
      database.transaction(async () => {
        const row = await find(id, 'FOR UPDATE OF f');
        const changed = { ...row, ...(await write(row)) };
        await database.query(
          'UPDATE findings SET told_at = $3, dismissed_until = $4 WHERE id = $1 AND project_number = $2',
          [id, row.project_number, changed.told_at, changed.dismissed_until],
        );
        const shown = ({ told_at: toldAt, dismissed_until: until }: Row) => ({
          toldAt: toldAt?.toISOString() ?? null,
          dismissedUntil: until?.toISOString() ?? null,
        });
        const { kind, subject, project_id: projectId, owner_id: ownerId } = row;
        const after = { kind, subject, ...shown(changed) };
        await noteAct({ projectId, ownerId, before: shown(row), after });
        return present(changed, now());
      }),
    );

  const keepBursts = async () => keepFindings(database, await findBursts(database, now()), now());

  return {
    /** Of one project, as a service has seen them. */
    take: ({ projectNumber, seen }: EventPayloads['finding.seen']): Promise<void> =>
      keepFindings(
        database,
        seen.map(({ examples, ...found }) => ({ ...found, projectNumber, evidence: { examples } })),
        now(),
      ),

    /** Looks for bursts in the calls of all projects. */
    findBursts: keepBursts,

    /** @throws ApiError invalid_cursor */
    list: ({ kind, projectId, dismissed, ...query }: ListQuery): Promise<Page<Finding>> => {
      const at = now();
      const read = (after: Position | undefined, count: number) =>
        database.query<Row>(
          `${selectSql} JOIN jsonb_to_recordset($1) AS rule (kind text, least int8) ON rule.kind = f.kind
            WHERE f.calls >= rule.least AND p.deleted_at IS NULL
              AND coalesce(f.dismissed_until > $2, false) = $3
              AND ($4::text IS NULL OR f.kind = $4) AND ($5::text IS NULL OR p.id = $5)
              AND ($6::timestamptz IS NULL OR (f.created_at, f.id) < ($6, $7::uuid))
            ORDER BY f.created_at DESC, f.id DESC LIMIT $8`,
          [
            least,
            new Date(at),
            dismissed === 'true',
            kind ?? null,
            projectId ?? null,
            after?.createdAt ?? null,
            after?.id ?? null,
            count,
          ],
        );
      const name = ['findings', kind, projectId, dismissed].join(' ');
      return database.acrossProjects(() => readPage(name, query, read, (row) => present(row, at)));
    },

    /** Whose project it is. @throws ApiError not_found */
    findOwner: async (id: string): Promise<string | null> =>
      (await database.acrossProjects(() => find(id))).owner_id,

    /** Has the owner told by mail; of several calls at once one does. @throws ApiError not_found, conflict, limit_reached */
    tell: (id: string): Promise<Finding> =>
      change(id, async (row) => {
        if (row.told_at !== null)
          throw new ApiError('conflict', 'The owner was told of this finding already.');
        if (row.owner_id === null)
          throw new ApiError('conflict', 'This project has no owner who could be told.');
        const bound = { name: `findings of ${row.owner_id}`, windowMs: dayMs, max: noticesPerDay };
        if (!(await windowCounts.take([bound])))
          throw new ApiError(
            'limit_reached',
            `An owner is told of at most ${noticesPerDay} findings in a day.`,
          );
        await outbox.append('finding.told', {
          projectId: row.project_id,
          projectNumber: row.project_number,
          projectName: row.project_name,
          ownerId: row.owner_id,
          kind: row.kind,
          subject: row.subject,
          signs: row.signs,
          calls: row.calls,
          since: row.created_at.toISOString(),
        });
        return { told_at: new Date(now()) };
      }),

    /** @throws ApiError not_found */
    dismiss: (id: string, days: number): Promise<Finding> =>
      change(id, async () => ({ dismissed_until: new Date(now() + days * dayMs) })),

    /** @throws ApiError not_found */
    reopen: (id: string): Promise<Finding> => change(id, async () => ({ dismissed_until: null })),

    sweeps: [
      { run: keepBursts, everyMs: burstsEveryMs },
      { run: () => forgetFindings(database, now()) },
    ],
  };
};
