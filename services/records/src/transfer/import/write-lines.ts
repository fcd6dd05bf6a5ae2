import type { ApiError, ErrorCode } from '@backlot/contract';
import { type Database, violatedConstraint } from '@backlot/database';
import type { FairShares } from '@backlot/fair-shares';
import { toApiError } from '@backlot/http';
import type { Reader } from '../../reader.ts';
import type { Batches } from '../../record/batch/batch.ts';
import type { BatchTarget } from '../../record/batch/operations.ts';
import type { CheckedData } from '../../record/data.ts';
import { checkNewSize } from '../../record/record-size.ts';
import type { WriteChecks } from '../../record/schema/write-checks.ts';
import { inCollection, startParameters } from '../../sql.ts';

/** A line that says which record it makes. */
export interface NewLine {
  line: number;
  data: CheckedData & { given: { id: string; ownerId: string | null } };
}

export interface FailedLine {
  line: number;
  code: ErrorCode;
  error: string;
}

export interface WrittenLines {
  created: number;
  skipped: number;
  failed: FailedLine[];
  /** The first line that was not tried, and why: undefined where the time is over. */
  stopped?: { line: number; error: ApiError | undefined };
}

export interface WriteLines {
  /** Makes records of lines, in their order; those whose id is there are left out. A dry run looks and writes nothing. */
  write(
    target: BatchTarget,
    lines: readonly NewLine[],
    options: { untilMs: number; isDryRun: boolean },
    reader: Reader,
  ): Promise<WrittenLines>;
}

export interface WriteLinesDeps {
  database: Database;
  batches: Batches;
  checks: WriteChecks;
  /** Turns among the batches. */
  turns: FairShares;
}

/** What keeps other lines from being made too. */
const stopping: ReadonlySet<ErrorCode> = new Set([
  'collection_limit',
  'collection_creation_off',
  'not_found',
  'conflict',
  'unavailable',
  'overloaded',
]);

/** Tries where another call makes records of the same lines. */
const maxTries = 5;

export const toFailed = (line: number, { code, message }: ApiError): FailedLine => ({
  line,
  code,
  error: message.replaceAll(/create\[0\][:.]? ?/g, ''),
});

/** A line is written with others, and where one of them is refused with fewer, until it is the one. */
export const createWriteLines = ({
  database,
  batches,
  checks,
  turns,
}: WriteLinesDeps): WriteLines => {
  const findMissing = async ({ collection }: BatchTarget, lines: readonly NewLine[]) => {
    const ids = lines.map(({ data }) => data.given.id);
    const rows = await database.query<{ id: string }>(
      `SELECT id FROM records WHERE ${inCollection} AND id = ANY ($3::uuid[])`,
      startParameters(collection, ids).values,
    );
    const seen = new Set(rows.map(({ id }) => id));
    return lines.filter(({ data: { given } }) => {
      const isMissing = !seen.has(given.id);
      seen.add(given.id);
      return isMissing;
    });
  };

  /** @returns how many it has made */
  const writeMissing = async (target: BatchTarget, lines: readonly NewLine[]): Promise<number> => {
    const { project, collection, access } = target;
    for (let tries = 1; ; tries++) {
      const missing = await findMissing(target, lines);
      if (missing.length === 0) return 0;
      const create = missing.map(({ data }) => data);
      try {
        await batches.write(project, collection, access, { create, update: [], delete: [] });
        return missing.length;
      } catch (error) {
        if (violatedConstraint(error) !== 'records_pkey' || tries === maxTries) throw error;
      }
    }
  };

  const check = async (target: BatchTarget, lines: readonly NewLine[]): Promise<number> => {
    const missing = await findMissing(target, lines);
    const { create } = await checks.batch(target, {
      create: missing.map(({ data }) => data),
      update: [],
    });
    for (const data of create) checkNewSize(target, data);
    return missing.length;
  };

  return {
    async write(target, lines, { untilMs, isDryRun }, { requester, signal }) {
      const written: WrittenLines = { created: 0, skipped: 0, failed: [] };
      const work = isDryRun ? check : writeMissing;
      const writeAll = async (some: readonly NewLine[]): Promise<void> => {
        const [first] = some;
        if (!first || written.stopped) return;
        if (performance.now() > untilMs) {
          written.stopped = { line: first.line, error: undefined };
          return;
        }
        try {
          const made = await turns.run(
            requester,
            (yieldSlot) => database.retryLocked(() => work(target, some), yieldSlot),
            { signal },
          );
          written.created += made;
          written.skipped += some.length - made;
        } catch (cause) {
          const error = toApiError(cause);
          if (error.code === 'internal') throw cause;
          const isOne = some.length === 1;
          if (stopping.has(error.code) || (isOne && error.code === 'quota_reached')) {
            written.stopped = { line: first.line, error };
            return;
          }
          if (isOne) {
            written.failed.push(toFailed(first.line, error));
            return;
          }
          const middle = Math.ceil(some.length / 2);
          await writeAll(some.slice(0, middle));
          await writeAll(some.slice(middle));
        }
      };
      await writeAll(lines);
      return written;
    },
  };
};
