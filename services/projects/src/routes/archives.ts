import type { IncomingMessage } from 'node:http';
import { ApiError, projectRoutes } from '@backlot/contract';
import { toRequester, WaitedTooLong } from '@backlot/fair-shares';
import { discardBody, LargeJson, type MountedRoute, type RouteOptions, route } from '@backlot/http';
import type { Archives } from '../archive/archives.ts';
import type { Wanted } from '../archive/export-project.ts';
import { paced } from '../archive/paced.ts';
import { readTar, writeTar } from '../archive/tar.ts';

const maxWaitMs = 10_000;
interface WantedParts {
  records?: boolean | undefined;
  files?: boolean | undefined;
  passwords?: boolean | undefined;
  asOf?: string | undefined;
}

const toMs = (time: string | undefined) => (time === undefined ? undefined : Date.parse(time));

const isSet = (flag: string | undefined) => flag === '1' || flag === 'true';

/** How calls wait that read or write an archive. */
export const inTurnOf = ({ shares }: Archives): RouteOptions => ({
  isSlow: true,
  notesItself: true,
  async inTurn({ identity: { project, userId, ip }, signal }, work) {
    try {
      // An import is a call about no project yet.
      const requester = toRequester({
        project: { id: project.id, ownerId: userId ?? project.ownerId },
        ip,
      });
      await shares.run(requester, work, { signal, maxWaitMs });
    } catch (cause) {
      if (!(cause instanceof WaitedTooLong)) throw cause;
      throw new ApiError('overloaded', 'Too many archives are read and written just now.', {
        cause,
        retryAfterSeconds: 30,
      });
    }
  },
});

/** @throws ApiError invalid_body */
export const readWanted = (wanted: WantedParts): Wanted => {
  const { records = false, files = false, passwords = false, asOf } = wanted;
  if (!records && (files || passwords || asOf !== undefined))
    throw new ApiError('invalid_body', '"files", "passwords" and "asOf" come with "records".');
  return { records, files, passwords, asOfMs: toMs(asOf) };
};

/** A project as one file, and others made of it. */
export const routesForArchives = (archives: Archives): MountedRoute[] => {
  const { exportProject, importProject } = archives;
  const options = inTurnOf(archives);
  return [
    route(
      projectRoutes.exportProject,
      async ({ identity, query }) => {
        const [files, passwords] = [isSet(query.files), isSet(query.passwords)];
        const asOfMs = toMs(query.asOf);
        const entries = await exportProject(identity, { records: true, files, passwords, asOfMs });
        const headers = {
          'Content-Type': 'application/x-tar',
          'Content-Disposition': `attachment; filename="${identity.project.id}.tar"`,
          'Cache-Control': 'no-store',
        };
        return { headers, body: new LargeJson(writeTar(entries)) };
      },
      options,
    ),
    route(
      projectRoutes.importProject,
      async ({ identity, query: { name }, rawBody, signal }) => {
        const body = paced(rawBody.value as IncomingMessage);
        return { body: await importProject(readTar(body), { identity, name, signal }) };
      },
      {
        ...options,
        receive: async (req) => ({
          value: req,
          text: JSON.stringify([req.url, req.headers['content-length']]),
          // The rest of one that is refused; the answer must not wait for it.
          release: async () => void discardBody(req),
        }),
      },
    ),
    route(
      projectRoutes.copyProject,
      async ({ identity, body, signal }) => {
        const entries = await exportProject(identity, readWanted(body));
        const { ownerId } = identity.project;
        return {
          body: await importProject(entries, { identity, name: body.name, ownerId, signal }),
        };
      },
      options,
    ),
  ];
};
