import {
  ApiError,
  type ConfigAsking,
  type ConfigDirectory,
  type ConfigEntries,
  type ConfigOutcome,
  type ConfigProject,
  type ConfigSectionName,
  projectRoutes,
} from '@backlot/contract';
import type { Database } from '@backlot/database';
import express, { Router } from 'express';
import { z } from 'zod';

interface ConfigStoreBase {
  /** From names to entries; what an entry leaves out has its default. */
  read(projectNumber: number): Promise<ConfigEntries>;
  /** Those that are not there count as removed. Returns those that stay, because they have records. @throws ApiError */
  remove(project: ConfigProject, names: readonly string[]): Promise<readonly string[]>;
}

interface SetsEach {
  /** Creates or replaces. @throws ApiError */
  set(project: ConfigProject, name: string, entry: unknown): Promise<unknown>;
}

interface SetsAll {
  /** Creates or replaces, where there can be thousands. @throws ApiError that names the entry */
  setAll(project: ConfigProject, entries: readonly (readonly [string, unknown])[]): Promise<void>;
}

/** How a service keeps one section of what owners set. All of it runs in one transaction. */
export type ConfigStore = ConfigStoreBase & (SetsEach | SetsAll);

type Stores = Partial<Record<ConfigSectionName, ConfigStore>>;

class TrialEnded extends Error {
  override readonly name = 'TrialEnded';
}

const firstFaultStatus = 500;
export const isRefusal = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.status < firstFaultStatus;

type Change = ConfigAsking['changes'][number];

/** A refusal names the entry. @throws ApiError */
export const namingEntry = async <T>(place: string, work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    if (!isRefusal(error)) throw error;
    const { code, message, hint } = error;
    const options = hint === undefined ? {} : { hint };
    throw new ApiError(code, `"${place}": ${message}`, options);
  }
};

const applySection = async (
  store: ConfigStore | undefined,
  project: ConfigProject,
  changes: readonly Change[],
): Promise<readonly string[]> => {
  if (!store) throw new Error(`This service keeps no section "${changes[0]?.section}".`);
  const byName = changes.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const removed = byName.filter(({ to }) => to === null).map(({ name }) => name);
  const set = byName.filter(({ to }) => to !== null);
  const left = removed.length === 0 ? [] : await store.remove(project, removed);
  if ('set' in store)
    for (const { section, name, to } of set)
      await namingEntry(`${section}.${name}`, () => store.set(project, name, to));
  else if (set.length > 0)
    await store.setAll(
      project,
      set.map(({ name, to }) => [name, to] as const),
    );
  return left;
};

/** What a service keeps of a project's config: changes are applied in one transaction, a trial is rolled back. */
export const createConfigPart = (
  database: Pick<Database, 'transaction' | 'inProject'>,
  stores: Stores,
): ConfigDirectory => ({
  async readConfig(projectNumber) {
    const read = async ([section, store]: [string, ConfigStore]) => [
      section,
      await database.inProject(projectNumber, () => store.read(projectNumber)),
    ];
    return Object.fromEntries(await Promise.all(Object.entries(stores).map(read)));
  },

  async applyConfig({ project, changes, isTrial }) {
    const left: ConfigOutcome['left'][number][] = [];
    const bySection = Map.groupBy(changes, ({ section }) => section);
    const work = async () => {
      for (const [section, ofSection] of bySection)
        for (const name of await applySection(stores[section], project, ofSection))
          left.push({ section, name });
      if (isTrial) throw new TrialEnded();
    };
    try {
      await database.inProject(project.number, () => database.transaction(work));
    } catch (error) {
      if (isRefusal(error)) {
        const { code, message, hint } = error;
        return { refused: { code, message, ...(hint !== undefined && { hint }) }, left: [] };
      }
      if (!(error instanceof TrialEnded)) throw error;
    }
    return { left };
  },
});

const projectNumber = z.int().min(0);
const reading = z.object({ projectNumber });
const asking = z.object({
  project: z.object({
    id: z.string(),
    number: projectNumber,
    ownerId: z.string().nullable(),
    allowedOrigins: z.array(z.string()).max(100),
  }),
  changes: z
    .array(
      z.object({
        section: z.enum(projectRoutes.configSectionNames),
        name: z.string().max(200),
        to: z.unknown(),
      }),
    )
    .max(12_000),
  isTrial: z.boolean(),
});

/** What is put back can be more than a file. */
const maxAskingBytes = 2 * projectRoutes.maxConfigBytes;

/** A part of the config over HTTP, as `ConfigDirectory` puts it. */
export const configRouter = (part: ConfigDirectory): Router => {
  const router = Router();
  router.post('/config/read', express.json(), async (req, res) => {
    const body = reading.safeParse(req.body);
    if (!body.success) throw new ApiError('invalid_body', 'Send "projectNumber".');
    res.json(await part.readConfig(body.data.projectNumber));
  });
  router.post('/config/apply', express.json({ limit: maxAskingBytes }), async (req, res) => {
    const body = asking.safeParse(req.body);
    if (!body.success) throw new ApiError('invalid_body', 'Send a project and its changes.');
    res.json(await part.applyConfig(body.data));
  });
  return router;
};
