import {
  ApiError,
  type ArchiveDirectory,
  type ArchivedCollection,
  type ArchivedFile,
  type ArchiveKind,
  type ArchiveLines,
  type ArchiveManifest,
  archivedPieceBytes,
  type FileArchiveDirectory,
} from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import type { ProjectFile } from '../project-file/project-file.ts';
import type { Projects } from '../projects/projects.ts';
import { toScope } from '../projects/scope.ts';
import { configName, contentName, type Entry, linesName, manifestName } from './entry.ts';

/** Who keeps what an archive has. */
export interface ArchiveParts {
  users: ArchiveDirectory;
  records: ArchiveDirectory;
  files: FileArchiveDirectory;
}

export type Included = ArchiveManifest['includes'];

/** What is to be read. */
export interface Wanted extends Included {
  /** Records as they were then. */
  asOfMs?: number | undefined;
}

export interface ExportDeps {
  projects: Projects;
  projectFile: Pick<ProjectFile, 'read'>;
  parts: ArchiveParts;
}

/** A page of lines. */
interface Page extends Entry {
  text: string;
}

const toRefusal = ({ code, message, hint }: NonNullable<ArchiveLines['refused']>): ApiError =>
  new ApiError(code, message, hint === undefined ? {} : { hint });

async function* once(piece: Uint8Array): AsyncGenerator<Uint8Array> {
  yield piece;
}

const textEntry = (name: string, text: string): Page => {
  const bytes = Buffer.from(text);
  return { name, text, sizeBytes: bytes.length, content: once(bytes) };
};

const parseLines = <T>({ text }: Page): T[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as T);

/** Reads a project as the entries of an archive; equal projects have equal ones, but for their ids. */
export const createExportProject = ({ projects, projectFile, parts }: ExportDeps) => {
  const exportFor = (identity: Identity, { passwords, files, asOfMs }: Wanted) => {
    const { id, number, ownerId } = identity.project;
    const project = { id, number, ownerId };

    async function* pages(
      part: Pick<ArchiveDirectory, 'readLines'>,
      kind: ArchiveKind,
      collection?: string,
    ): AsyncGenerator<Page> {
      let after: string | null = null;
      let page = 0;
      do {
        const place = { project, kind, collection, ip: identity.ip };
        const read = await part.readLines({ ...place, after, hasPasswords: passwords, asOfMs });
        if (read.refused) throw toRefusal(read.refused);
        if (read.text !== '') yield textEntry(linesName(kind, ++page, collection), read.text);
        after = read.next;
      } while (after !== null);
    }

    async function* content(fileId: string, size: number, first: Uint8Array) {
      yield first;
      for (let start = archivedPieceBytes; start < size; start += archivedPieceBytes) {
        const piece = await parts.files.readContent({ project, fileId, start });
        if (!piece) throw new Error(`The file ${fileId} was deleted while it was read.`);
        yield piece;
      }
    }

    /** Without those that have just been deleted. */
    async function* contents(listed: Page): AsyncGenerator<Entry> {
      for (const { id: fileId, size } of parseLines<ArchivedFile>(listed)) {
        const first = await parts.files.readContent({ project, fileId, start: 0 });
        if (first)
          yield {
            name: contentName(fileId),
            sizeBytes: size,
            content: content(fileId, size, first),
          };
      }
    }

    async function* all(): AsyncGenerator<Entry> {
      for (const kind of ['users', 'groups', 'members'] as const) yield* pages(parts.users, kind);
      const names: string[] = [];
      for await (const page of pages(parts.records, 'collections')) {
        for (const { name } of parseLines<ArchivedCollection>(page)) names.push(name);
        yield page;
      }
      for (const name of names) yield* pages(parts.records, 'records', name);
      yield* pages(parts.records, 'shares');
      for await (const page of pages(parts.files, 'files')) {
        yield page;
        if (files) yield* contents(page);
      }
    }
    return all;
  };

  /** @throws ApiError where records are not known of that time */
  const checkTime = async ({ project: { id, number, ownerId }, ip }: Identity, asOfMs: number) => {
    const { refused } = await parts.records.readLines({
      project: { id, number, ownerId },
      kind: 'collections',
      after: null,
      hasPasswords: false,
      ip,
      asOfMs,
    });
    if (refused) throw toRefusal(refused);
  };

  /** The first entries are read before it resolves: what is refused is refused at once. @throws ApiError */
  return async (
    identity: Identity,
    { asOfMs, ...includes }: Wanted,
  ): Promise<AsyncIterable<Entry>> => {
    const { id, name } = await projects.get(toScope(identity));
    if (asOfMs !== undefined) await checkTime(identity, asOfMs);
    const { config } = await projectFile.read(identity);
    const manifest: ArchiveManifest = {
      format: 'backlot-project',
      version: 1,
      project: { id, name },
      includes,
    };
    const all = exportFor(identity, { ...includes, asOfMs });
    async function* entries(): AsyncGenerator<Entry> {
      yield textEntry(manifestName, `${JSON.stringify(manifest, null, 2)}\n`);
      if (includes.records) yield* all();
      yield textEntry(configName, `${JSON.stringify(config, null, 2)}\n`);
    }
    return entries();
  };
};
