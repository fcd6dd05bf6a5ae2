import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { ApiError, type CollectionShape, callers, type ShapeDirectory } from '@backlot/contract';
import type { Caller } from '../directory/caller.ts';
import type { GatewayProject } from '../directory/gateway-project.ts';
import type { Description } from '../docs/description.ts';
import type { AccessRules } from '../steps/caller/authenticate.ts';
import { describeForAgents } from './llms.ts';
import { describeProject } from './project-description.ts';
import { describeCollectionTypes } from './types.ts';

/** What may be asked of each project beside the contract's routes: served by the gateway itself. */
export interface ProjectDocument {
  operation: string;
  type: string;
  /** As `authenticate` takes it. */
  access: AccessRules;
  /** @param collections undefined where the caller may not see names of fields */
  write(
    project: GatewayProject,
    collections: readonly CollectionShape[] | undefined,
  ): string | readonly Buffer[];
}

export interface DocumentsOptions {
  /** Content of openapi.json. */
  apiDescription: object;
  description: Description;
  shapes: ShapeDirectory;
  publicUrl: string;
}

const byAnybody = { plane: 'runtime', callers } as const;
const byOwnerAndKeys = { plane: 'runtime', callers: ['owner', 'key', 'operator'] } as const;

const readDoc = (name: 'api' | 'owners') =>
  readFileSync(new URL(`../../../docs/${name}.md`, import.meta.url), 'utf8');

export type Documents = ReturnType<typeof createDocuments>;

/** Descriptions of one project; who may see them gets them with the names of its fields. */
export const createDocuments = (options: DocumentsOptions) => {
  const { apiDescription, description, shapes, publicUrl } = options;
  const rules = readDoc('api').replace(/^# .*\n/, '');
  const brief = (project?: GatewayProject, collections?: readonly CollectionShape[]) =>
    describeForAgents({ publicUrl, project, collections });
  const full = (project?: GatewayProject, collections?: readonly CollectionShape[]) =>
    `${brief(project, collections)}\n# The rules in full\n${rules}`;
  const documents: Readonly<Record<string, ProjectDocument>> = {
    '/openapi.json': {
      operation: 'getApiDescription',
      type: 'application/json',
      access: byAnybody,
      write: ({ id }, collections) =>
        collections
          ? JSON.stringify(
              describeProject(
                { ...apiDescription, servers: [{ url: `${publicUrl}/api/runtime/${id}` }] },
                collections,
              ),
            )
          : description.ofProject(id),
    },
    '/types.d.ts': {
      operation: 'getTypes',
      type: 'text/plain',
      access: byOwnerAndKeys,
      write: ({ id }, collections = []) =>
        describeCollectionTypes(`${publicUrl}/api/runtime/${id}`, collections),
    },
    '/llms.txt': { operation: 'getGuide', type: 'text/plain', access: byAnybody, write: brief },
    '/llms-full.txt': {
      operation: 'getFullGuide',
      type: 'text/plain',
      access: byAnybody,
      write: full,
    },
  };

  const maySeeFields = ({ kind }: Caller) => byOwnerAndKeys.callers.some((may) => may === kind);

  return {
    find: (path: string): ProjectDocument | undefined =>
      Object.hasOwn(documents, path) ? documents[path] : undefined,
    /** Of every project. */
    general: { brief: brief(), full: full(), owners: readDoc('owners') },
    /** @throws ApiError forbidden, unavailable */
    async send(
      res: ServerResponse,
      document: ProjectDocument,
      { project, caller, address }: { project: GatewayProject; caller: Caller; address: string },
    ): Promise<void> {
      const isShown = maySeeFields(caller);
      if (!isShown && document.access === byOwnerAndKeys)
        throw new ApiError('forbidden', 'Only the owner and the keys of a project see its fields.');
      const { id, number, ownerId } = project;
      const asking = { project: { id, number, ownerId }, ip: address };
      const collections = isShown ? await shapes.describe(asking).catch(failLookUp) : undefined;
      sendPrivately(res, document.type, document.write(project, collections));
    },
  };
};

const failLookUp = (cause: unknown): never => {
  throw new ApiError(
    'unavailable',
    'The collections can not be looked at right now. Try again shortly.',
    { cause, retryAfterSeconds: 2 },
  );
};

/** Who asks with another credential gets another text. */
const sendPrivately = (res: ServerResponse, type: string, content: string | readonly Buffer[]) => {
  const parts = typeof content === 'string' ? [Buffer.from(content)] : content;
  res.writeHead(200, {
    'Content-Type': `${type}; charset=utf-8`,
    'Content-Length': parts.reduce((sum, { length }) => sum + length, 0),
    'Cache-Control': 'private, no-cache',
    Vary: 'Authorization',
  });
  for (const part of parts) res.write(part);
  res.end();
};
