import type { AuditLine, PlatformActed } from '@backlot/contract';
import type { Database } from '@backlot/database';
import { type Page, type PageQuery, type Position, readPage } from '@backlot/http';
import { platformChain } from './chain.ts';

/** Null: of all owners. */
export type Reader = { ownerId: string } | null;

export interface AuditFilter {
  ownerId?: string | undefined;
  projectId?: string | undefined;
  action?: string | undefined;
  target?: string | undefined;
  actor?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
}

interface Row {
  chain: string;
  seq: number;
  id: string;
  created_at: Date;
  content: string;
  hash: Buffer;
  details: string | null;
}

type Details = Pick<PlatformActed, 'address' | 'userAgent' | 'before' | 'after'> & {
  keyName: string | null;
};

const kinds = new Set(['owner', 'key', 'operator']);

const present =
  (reader: Reader) =>
  ({ chain, seq, content, hash, details }: Row): AuditLine => {
    const { details: _hash, ...line }: PlatformActed & { details: string } = JSON.parse(content);
    const known: Details | undefined = details === null ? undefined : JSON.parse(details);
    const { address = null, userAgent = null, keyName = null, ...change } = known ?? {};
    const isOperators = line.actor.kind === 'operator';
    const where =
      reader && isOperators ? { address: null, userAgent: null } : { address, userAgent };
    return {
      ...line,
      ownerId: chain === platformChain ? null : chain,
      seq,
      actor: { ...line.actor, keyName },
      before: null,
      after: null,
      ...change,
      ...where,
      erased: known === undefined,
      hash: hash.toString('hex'),
    };
  };

/** Conditions of SQL with their values. */
const conditionsFor = (reader: Reader, filter: AuditFilter, after: Position | undefined) => {
  const values: unknown[] = [];
  const conditions: string[] = [];
  const add = (value: unknown, toSql: (parameter: string) => string) => {
    if (value !== undefined) conditions.push(toSql(`$${values.push(value)}`));
  };
  const owner = reader?.ownerId ?? filter.ownerId?.toLowerCase();
  add(owner, (chain) => `chain = ${chain}`);
  add(filter.projectId, (project) => `project = ${project}`);
  add(filter.action, (action) => `action = ${action}`);
  add(filter.target, (target) => `starts_with(target, ${target})`);
  const { actor } = filter;
  add(actor, (name) => (kinds.has(actor ?? '') ? `actor_kind = ${name}` : `actor = ${name}`));
  add(filter.from && new Date(filter.from), (from) => `audit_lines.at >= ${from}`);
  add(filter.to && new Date(filter.to), (to) => `audit_lines.at < ${to}`);
  if (after)
    conditions.push(
      `(audit_lines.at, audit_lines.id) < ($${values.push(after.createdAt)}, $${values.push(after.id)})`,
    );
  return { where: conditions.length === 0 ? 'true' : conditions.join(' AND '), values };
};

/** Reads the log, newest first. */
export const createListActs = (database: Database) => {
  const read = (
    reader: Reader,
    filter: AuditFilter,
    after: Position | undefined,
    count: number,
  ) => {
    const { where, values } = conditionsFor(reader, filter, after);
    return database.query<Row>(
      `SELECT chain, seq, audit_lines.id, audit_lines.at AS created_at, content, hash, details
         FROM audit_lines LEFT JOIN audit_details USING (id)
        WHERE ${where} ORDER BY audit_lines.at DESC, audit_lines.id DESC LIMIT $${values.push(count)}`,
      values,
    );
  };

  return {
    list: (reader: Reader, { limit, cursor, ...filter }: AuditFilter & PageQuery) =>
      readPage(
        'audit',
        { limit, cursor },
        (after, count) => read(reader, filter, after, count),
        present(reader),
      ) as Promise<Page<AuditLine>>,

    /** Lines behind a position, with the last one's. */
    async batch(reader: Reader, filter: AuditFilter, after: Position | undefined, count: number) {
      const rows = await read(reader, filter, after, count);
      const last = rows.at(-1);
      return {
        lines: rows.map(present(reader)),
        last: last && { createdAt: last.created_at, id: last.id },
      };
    },
  };
};
