import type { Database } from '@backlot/database';
import type { FairShares } from '@backlot/fair-shares';
import type { JsonPart, JsonParts } from '@backlot/http';
import { visibleRecordsSql } from '../../collections/field-rules.ts';
import { toSearchTerms } from '../../query/search-query.ts';
import { stillFoundSql } from '../../query/search-statement.ts';
import { conditionsSql, type Selection } from '../../query/selection.ts';
import type { Reader } from '../../reader.ts';
import { and, inCollection, recordJsonSql, startParameters } from '../../sql.ts';

/** Documents of a part, in bytes; a larger one is a part of its own. */
const partBytes = 512 * 1024;

export interface LargePagesDeps {
  database: Database;
  /** A slot for each part while PostgreSQL is at it. */
  largeReads: FairShares;
  /** A slot for each part of an answer that is read or not yet taken. */
  answers: FairShares;
}

/** What stands between the records of a part, and behind the last of them. */
interface Frame {
  between: string;
  behind: string;
}

const inList: Frame = { between: ',', behind: '' };
export const inLines: Frame = { between: '\n', behind: '\n' };

interface Part {
  ids: string[];
  bytes: number;
}

/**
 * The records of a page as JSON, part by part. Each part tests once more what the page was
 * found by; records that have gone meanwhile are left out. One that is begun goes on where others only begin.
 */
export const createLargePages = ({ database, largeReads, answers }: LargePagesDeps) => {
  const readPart = async (
    selection: Selection,
    { ids }: Part,
    { between, behind }: Frame,
    { requester, signal }: Reader,
  ) => {
    const { collection, access, search } = selection;
    const parameters = startParameters(collection);
    const page = `unnest(${parameters.add(ids, 'uuid[]')}) WITH ORDINALITY page(id, n)`;
    const conditions = and([
      inCollection,
      ...conditionsSql(selection, parameters),
      search && stillFoundSql(toSearchTerms(collection, access, search), parameters),
    ]);
    const all = `string_agg(json, ${parameters.add(between, 'text')} ORDER BY n)`;
    const text = `SELECT ${all} || ${parameters.add(behind, 'text')} FROM (
      SELECT n, ${recordJsonSql()} AS json FROM ${page} JOIN ${visibleRecordsSql(selection, parameters)} USING (id) WHERE ${conditions}) records`;
    const read = () => database.bytes(text, parameters.values);
    const [row] = await largeReads.run(requester, read, { signal });
    return row?.[0];
  };

  return (
    selection: Selection,
    { ids, sizes }: { ids: readonly string[]; sizes: readonly number[] },
    reader: Reader,
    frame = inList,
    isBegun = false,
  ): JsonParts => {
    const left = toParts(ids, sizes);
    let continues = isBegun;
    let release = () => {};
    const next = async (): Promise<Buffer | undefined> => {
      release();
      const part = left.shift();
      if (!part) return undefined;
      release = await answers.take(reader.requester, { signal: reader.signal, continues });
      continues = true;
      return (await readPart(selection, part, frame, reader)) ?? next();
    };
    return { next, close: () => release() };
  };
};

const toParts = (ids: readonly string[], sizes: readonly number[]): Part[] => {
  const parts: Part[] = [];
  for (const [i, id] of ids.entries()) {
    const size = sizes[i] ?? 0;
    const part = parts.at(-1);
    if (part && part.bytes + size <= partBytes) {
      part.ids.push(id);
      part.bytes += size;
    } else parts.push({ ids: [id], bytes: size });
  }
  return parts;
};

/** The parts with a text before the first and one behind the last, as parts of their own: joined, V8 would copy them. */
export const encloseParts = (before: string, parts: JsonParts, behind: string): JsonParts => {
  let start = before;
  let held: JsonPart | undefined;
  let isOver = false;
  return {
    async next() {
      const part = held;
      held = undefined;
      if (part !== undefined || isOver) return part;
      held = await parts.next();
      isOver = held === undefined;
      const between = isOver ? start + behind : start || ',';
      start = '';
      return between;
    },
    close: parts.close,
  };
};

/** One part, whose slot is given back when it was taken. */
export const wholePart = (part: JsonPart, release: () => void): JsonParts => {
  let left: JsonPart | undefined = part;
  return {
    async next() {
      const whole = left;
      left = undefined;
      return whole;
    },
    close: release,
  };
};
