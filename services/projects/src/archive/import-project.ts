import {
  ApiError,
  type ArchiveKind,
  type ArchiveOutcome,
  archiveLines,
  archiveManifest,
  type ImportedProject,
  MIB,
  projectRoutes,
} from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import {
  configName,
  createOrderCheck,
  type Entry,
  type EntryPlace,
  invalidArchive,
  parseEntry,
  readText,
} from './entry.ts';
import type { ArchiveParts } from './export-project.ts';
import type { FillConfig } from './fill-config.ts';
import type { Importing, Imports, WantedProject } from './imports.ts';

export interface ImportDeps {
  imports: Imports;
  parts: ArchiveParts;
  fillConfig: FillConfig;
}

export interface ImportCall {
  identity: Identity;
  /** Unless stated that of the archive. */
  name?: string | undefined;
  preview?: WantedProject['preview'];
  /** Whose it becomes; of who calls unless stated. */
  ownerId?: string | null;
  signal: AbortSignal;
}

/** Of users, groups and members in all: nobody pays for them. */
const maxAccountBytes = 128 * MIB;
const accountKinds: readonly ArchiveKind[] = ['users', 'groups', 'members'];

type LinesPlace = Extract<EntryPlace, { page: number }>;

/** @throws ApiError unavailable where a service does not answer */
export const asking = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof ApiError) throw cause;
    const message = 'A part of the platform does not answer. No project was made.';
    throw new ApiError('unavailable', message, { cause, retryAfterSeconds: 10 });
  }
};

/** @throws ApiError that names the entry */
const checkOutcome = (name: string, { refused }: ArchiveOutcome): void => {
  if (!refused) return;
  const { code, message, hint } = refused;
  throw new ApiError(code, `"${name}": ${message}`, hint === undefined ? {} : { hint });
};

/** What it has taken of an archive so far. */
interface Filling {
  importing: Importing;
  ip: string;
  accountBytes: number;
  /** Lines of files whose contents may follow, by id. */
  files: Map<string, string>;
  config?: string;
}

/** Makes a project of an archive, whole or not at all. */
export const createImportProject = ({ imports, parts, fillConfig }: ImportDeps) => {
  const listFiles = ({ files }: Filling, name: string, text: string) => {
    files.clear();
    for (const line of text.trimEnd().split('\n'))
      files.set(parseEntry(archiveLines.file, name, line).id, line);
  };

  const takeContent = async (filling: Filling, { name, sizeBytes, content }: Entry, id: string) => {
    const line = filling.files.get(id);
    if (line === undefined) throw invalidArchive(`"${name}" is of no file that was listed.`);
    filling.files.delete(id);
    if (parseEntry(archiveLines.file, name, line).size !== sizeBytes)
      throw invalidArchive(`"${name}" has not the size that was listed.`);
    const { importing: project, ip } = filling;
    const outcome = await asking(() => parts.files.takeContent({ project, line, ip }, content));
    checkOutcome(name, outcome);
  };

  const takeLines = async (filling: Filling, entry: Entry, place: LinesPlace) => {
    const { part: kind, collection } = place;
    const text = await readText(entry, place);
    if (kind === 'files') return listFiles(filling, entry.name, text);
    const isOfAccounts = accountKinds.includes(kind);
    if (isOfAccounts) filling.accountBytes += entry.sizeBytes;
    if (filling.accountBytes > maxAccountBytes)
      throw invalidArchive(`users and groups have more than ${maxAccountBytes} bytes.`);
    const { importing: project, ip } = filling;
    const part = isOfAccounts ? parts.users : parts.records;
    const taking = { project, kind, collection, ip, text };
    checkOutcome(entry.name, await asking(() => part.takeLines(taking)));
  };

  const take = async (filling: Filling, entry: Entry, place: EntryPlace) => {
    if (place.part === 'content') await takeContent(filling, entry, place.fileId);
    else if ('page' in place) await takeLines(filling, entry, place);
    else filling.config = await readText(entry, place);
  };

  return async (
    source: AsyncIterable<Entry>,
    { identity, name, preview, ownerId = identity.userId, signal }: ImportCall,
  ): Promise<ImportedProject> => {
    if (ownerId === null) throw new ApiError('unauthenticated', 'Sign in as an owner first.');
    const entries = source[Symbol.asyncIterator]();
    const check = createOrderCheck();
    try {
      const first = await entries.next();
      if (first.done) throw invalidArchive('it is empty.');
      const text = await readText(first.value, check(first.value.name));
      const { project } = parseEntry(archiveManifest, first.value.name, text);
      const wanted = { ownerId, name: name ?? project.name, preview, signal };
      const made = await imports.run(wanted, async (importing, isLost) => {
        const filling: Filling = { importing, ip: identity.ip, accountBytes: 0, files: new Map() };
        for (let next = await entries.next(); !next.done; next = await entries.next()) {
          isLost.throwIfAborted();
          await take(filling, next.value, check(next.value.name));
        }
        if (filling.config === undefined) throw invalidArchive('it ends too early.');
        const config = parseEntry(projectRoutes.projectConfig, configName, filling.config);
        return asking(() => fillConfig(importing, config, () => isLost.throwIfAborted()));
      });
      return { project: made.project, left: made.done };
    } finally {
      await entries.return?.();
    }
  };
};
