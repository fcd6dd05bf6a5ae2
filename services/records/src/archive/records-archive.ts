import type { ArchiveLines, ArchivePlace, ArchiveReading } from '@backlot/contract';
import { type Database, violatedConstraint } from '@backlot/database';
import { type FairShares, toRequester } from '@backlot/fair-shares';
import { type ArchiveStore, invalidArchive } from '@backlot/service';
import type { Collection, Collections } from '../collections/collections.ts';
import { onCurrentSlots, StaleSlots } from '../collections/current-slots.ts';
import type { SendChange } from '../record/change/send-change.ts';
import { mostSideBytes } from '../record/change/side-effects.ts';
import type { Quota } from '../record/quota/quota.ts';
import { inCollection, recordJsonSql } from '../sql.ts';
import { type ArchivedRecord, parseRecord } from './archived-record.ts';
import { createRecordsAsOf } from './records-as-of.ts';

const pageRows = 500;
const pageBytes = 1024 * 1024;
const firstId = '00000000-0000-0000-0000-000000000000';

export interface RecordsArchiveDeps {
  database: Database;
  collections: Pick<Collections, 'find' | 'refresh'>;
  send: SendChange;
  quota: Quota;
  scans: FairShares;
  batches: FairShares;
  now: () => number;
}

interface Found {
  id: string;
  size_bytes: number;
}

/** As many as fit, and one at least. */
const takeUpTo = (found: readonly Found[], bytes: number): Found[] => {
  let sum = 0;
  return found.filter(({ size_bytes }, n) => {
    sum += size_bytes;
    return n === 0 || sum <= bytes;
  });
};

/** @throws ApiError that names the line */
const parseLines = (lines: readonly string[], nowMs: number): ArchivedRecord[] =>
  lines.map((line, at) => {
    try {
      return parseRecord(line, nowMs);
    } catch (error) {
      throw invalidArchive(`line ${at + 1}: ${(error as Error).message}`);
    }
  });

/** Records of one collection as a project's archive has them: all that the owner sees, in the order of their ids. */
export const createRecordsArchive = (deps: RecordsArchiveDeps): ArchiveStore => {
  const { database, collections, send, quota, scans, batches, now } = deps;

  const find = async ({ project, collection: name = '' }: ArchivePlace): Promise<Collection> => {
    const collection = await collections.find(project.number, name);
    if (!collection) throw invalidArchive(`there is no collection ${JSON.stringify(name)}`);
    return collection;
  };

  const insert = (collection: Collection, records: readonly ArchivedRecord[]) =>
    onCurrentSlots(collections.refresh, { collection }, async ({ collection }) => {
      const made = await send({ kind: 'create', collection, records }).catch((error: unknown) => {
        if (violatedConstraint(error) !== 'records_pkey') throw error;
        throw invalidArchive('two records have one id');
      });
      if (made.length === 0) throw new StaleSlots();
    });

  /** Of those that a page looks at, the first that fit. */
  const readAsOf = async (reading: ArchiveReading, asOfMs: number): Promise<ArchiveLines> => {
    const requester = toRequester(reading);
    const { projectNumber, id } = await find(reading);
    const records = createRecordsAsOf(database, [projectNumber, id], asOfMs);
    const looked = await scans.run(requester, () =>
      records.candidates(reading.after ?? firstId, pageRows + 1),
    );
    const page = looked.slice(0, pageRows);
    const found = await scans.run(requester, () => records.sizes(page));
    const shown = takeUpTo(found, pageBytes);
    const rows = await scans.run(requester, () => records.json(shown.map(({ id }) => id)));
    const isCut = shown.length < found.length;
    const last = isCut ? shown.at(-1)?.id : page.at(-1);
    return {
      text: rows.map(({ json }) => `${json}\n`).join(''),
      next: isCut || looked.length > page.length ? (last ?? null) : null,
    };
  };

  return {
    async read(reading) {
      if (reading.asOfMs !== undefined) return readAsOf(reading, reading.asOfMs);
      const requester = toRequester(reading);
      const { projectNumber, id } = await find(reading);
      const key = [projectNumber, id];
      const look = () =>
        database.scan<Found>(
          `SELECT id, size_bytes FROM records WHERE ${inCollection} AND id > $3 ORDER BY id LIMIT ${pageRows + 1}`,
          [...key, reading.after ?? firstId],
        );
      const found = await scans.run(requester, look);
      const shown = takeUpTo(found.slice(0, pageRows), pageBytes);
      const rows = await scans.run(requester, () =>
        database.query<{ json: string }>(
          `SELECT ${recordJsonSql()} AS json FROM records WHERE ${inCollection} AND id = ANY ($3::uuid[]) ORDER BY id`,
          [...key, shown.map(({ id }) => id)],
        ),
      );
      return {
        text: rows.map(({ json }) => `${json}\n`).join(''),
        next: found.length > shown.length ? (shown.at(-1)?.id ?? null) : null,
      };
    },

    async take(place, lines) {
      const records = parseLines(lines, now());
      const collection = await find(place);
      const creating = { kind: 'create', collection } as const;
      const bytes = records.reduce(
        (sum, { sizeBytes }) => sum + sizeBytes + mostSideBytes(creating, sizeBytes),
        0,
      );
      const project = { ...place.project, name: '', settings: {} };
      await batches.run(toRequester(place), () =>
        quota.add(project, { records: records.length, bytes }, () => insert(collection, records)),
      );
    },
  };
};
