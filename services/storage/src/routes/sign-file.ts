import { storageRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import { checkMayChange } from '../access.ts';
import type { Nouns } from '../nouns.ts';

export const signFile = ({ files, links, now }: Nouns) =>
  route(storageRoutes.signFile, async ({ params, body, identity }) => {
    const { id: projectId, number: projectNumber } = identity.project;
    const { id: fileId, name } = checkMayChange(
      identity,
      await files.find(projectNumber, params.id),
    );
    // Whole seconds: what the address says.
    const expiresAt = new Date((Math.floor(now() / 1000) + body.expiresIn) * 1000);
    const url = links.signed({ projectId, projectNumber, fileId, name }, expiresAt);
    return { body: { url, expiresAt: expiresAt.toISOString() } };
  });
