import { ApiError, recordRoutes } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import { resolveAccess } from '../../collections/access.ts';
import type { Collection, Collections } from '../../collections/collections.ts';
import type { PersonalFields } from '../../collections/personal-fields.ts';
import type { Reader } from '../../reader.ts';
import type { Source } from '../../source.ts';
import type { Types } from './column-types.ts';
import { type ImportOf, toNewRecord } from './given-fields.ts';
import type { Owners } from './owners.ts';
import type { ReadLine } from './read-line.ts';
import { type FailedLine, type NewLine, toFailed, type WriteLines } from './write-lines.ts';

/** For so long a call writes: the gateway waits 30 seconds for its answer. */
const writeMs = 22_000;

export interface ImportOptions {
  /** A UUIDv7. */
  id: string;
  collection: string;
  format: 'ndjson' | 'csv';
  /** Lines before it are passed over. */
  from: number;
  /** The number of the body's first line. */
  firstLine: number | undefined;
  types: Types;
  idField: string | undefined;
  dropsUnknownOwners: boolean;
  isDryRun: boolean;
  /** What the log says of the records. */
  source: Source;
}

export interface Imported {
  created: number;
  skipped: number;
  /** The first of them. */
  failed: FailedLine[];
  failedCount: number;
  /** The first line that is not done; null where all are. */
  next: number | null;
  stopped?: ApiError;
  types?: Types;
}

export interface ImportCallDeps {
  collections: Collections;
  lines: WriteLines;
  owners: Owners;
  personal: PersonalFields;
  now: () => number;
}

/** What one call has made of its lines so far. */
export class ImportCall {
  readonly result: Imported = { created: 0, skipped: 0, failed: [], failedCount: 0, next: null };
  readonly #deps: ImportCallDeps;
  readonly #identity: Identity;
  readonly #options: ImportOptions;
  readonly #reader: Reader;
  readonly #untilMs = performance.now() + writeMs;

  constructor(deps: ImportCallDeps, identity: Identity, options: ImportOptions, reader: Reader) {
    this.#deps = deps;
    this.#identity = identity;
    this.#options = options;
    this.#reader = reader;
  }

  stop(line: number, error?: ApiError): void {
    this.result.next = line;
    if (error) this.result.stopped = error;
  }

  get isOver(): boolean {
    return this.result.next !== null;
  }

  async write(lines: readonly ReadLine[]): Promise<void> {
    const { isDryRun, collection: name } = this.#options;
    const found = await this.#findCollection(name);
    const { source } = this.#options;
    const access = resolveAccess(found?.access ?? 'shared', this.#identity, source);
    const { made, failed } = await this.#parse(lines, access.compiled.uses.group);
    if (!found) {
      this.result.created += made.length;
      return this.#fail(failed);
    }
    const target = { project: this.#identity.project, collection: found, access };
    const options = { untilMs: this.#untilMs, isDryRun };
    const written = await this.#deps.lines.write(target, made, options, this.#reader);
    this.result.created += written.created;
    this.result.skipped += written.skipped;
    this.#fail([...failed, ...written.failed]);
    if (written.stopped) this.stop(written.stopped.line, written.stopped.error);
    const documents = made.map(({ data }) => data.value);
    if (!isDryRun) this.#deps.personal.notice(found, documents);
  }

  #fail(failed: readonly FailedLine[]): void {
    const { result } = this;
    const inOrder = failed.toSorted((a, b) => a.line - b.line);
    result.failedCount += failed.length;
    result.failed.push(...inOrder.slice(0, recordRoutes.maxFailedLines - result.failed.length));
  }

  #findCollection(name: string): Promise<Collection | null> {
    const { collections } = this.#deps;
    return this.#options.isDryRun
      ? collections.find(this.#identity.project.number, name)
      : collections.findOrCreate(this.#identity, name);
  }

  /** Those that say a record; the others have failed. */
  async #parse(lines: readonly ReadLine[], hasGroups: boolean) {
    const { id, idField, dropsUnknownOwners } = this.#options;
    const projectNumber = this.#identity.project.number;
    const of: ImportOf = { projectNumber, id, idField, hasGroups, now: this.#deps.now() };
    const failed: FailedLine[] = [];
    const made: NewLine[] = [];
    for (const { line, read } of lines) {
      try {
        made.push({ line, data: toNewRecord(read(), line, of) });
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        failed.push(toFailed(line, error));
      }
    }
    const asked = new Set(made.flatMap(({ data }) => data.given.ownerId ?? []));
    const known = await this.#deps.owners.find(projectNumber, asked);
    const kept = made.filter(({ line, data: { given } }) => {
      if (given.ownerId === null || known.has(given.ownerId)) return true;
      if (dropsUnknownOwners) given.ownerId = null;
      else
        failed.push({ line, code: 'invalid_data', error: 'ownerId: is no user of this project.' });
      return dropsUnknownOwners;
    });
    return { made: kept, failed };
  }
}
