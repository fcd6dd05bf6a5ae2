import type {
  ArchiveDirectory,
  ArchiveLines,
  ArchivePlace,
  ArchiveReading,
  ArchiveTaking,
  FileArchiveDirectory,
} from '@backlot/contract';

export interface FakeArchive extends ArchiveDirectory {
  /** Lines by project, kind and collection. */
  kept: Map<string, string>;
  /** Before any are taken. */
  onTake: (taking: ArchiveTaking) => Promise<void>;
}

const keyFor = ({ project, kind, collection = '' }: ArchivePlace) =>
  `${project.number}/${kind}/${collection}`;

/** Two lines a page. */
const readPage = (text: string, after: string | null): ArchiveLines => {
  const lines = text.split('\n').slice(0, -1);
  const start = Number(after ?? 0);
  const shown = lines.slice(start, start + 2);
  const next = start + 2 < lines.length ? String(start + 2) : null;
  return { text: shown.map((line) => `${line}\n`).join(''), next };
};

/** Another service's part of an archive, in memory. */
const createFakeArchive = (): FakeArchive => {
  const archive: FakeArchive = {
    kept: new Map(),
    onTake: async () => {},
    readLines: async (reading: ArchiveReading) =>
      readPage(archive.kept.get(keyFor(reading)) ?? '', reading.after),
    async takeLines(taking) {
      await archive.onTake(taking);
      const key = keyFor(taking);
      archive.kept.set(key, (archive.kept.get(key) ?? '') + taking.text);
      return {};
    },
  };
  return archive;
};

const createFakeFiles = () => {
  const lines = createFakeArchive();
  const contents = new Map<string, Buffer>();
  const files: FileArchiveDirectory & Pick<FakeArchive, 'kept'> = {
    kept: lines.kept,
    readLines: lines.readLines,
    readContent: async ({ project, fileId, start }) =>
      contents.get(`${project.number}/${fileId}`)?.subarray(start) ?? null,
    async takeContent({ project, line, ip }, content) {
      const pieces: Buffer[] = [];
      for await (const piece of content) pieces.push(Buffer.from(piece));
      const { id } = JSON.parse(line) as { id: string };
      contents.set(`${project.number}/${id}`, Buffer.concat(pieces));
      return lines.takeLines({ project, kind: 'files', ip, text: `${line}\n` });
    },
  };
  return { ...files, contents };
};

export const createFakeArchives = () => ({
  usersArchive: createFakeArchive(),
  recordsArchive: createFakeArchive(),
  filesArchive: createFakeFiles(),
});

export type FakeArchives = ReturnType<typeof createFakeArchives>;
