import { ApiError, type ProjectDirectory } from '@backlot/contract';
import { gatewayOnly } from '@backlot/http';
import type { IdentitySecret } from '@backlot/identity';
import { Router } from 'express';

/** The directory over HTTP: JSON, or 404 where it says null. */
export const internalRouter = (
  directory: ProjectDirectory,
  secret: IdentitySecret,
  now: () => number,
): Router => {
  const router = Router();
  router.use(gatewayOnly(secret, now));
  router.get('/projects/:id', async (req, res) => {
    const project = await directory.findProject(req.params.id);
    if (!project) throw new ApiError('not_found', 'There is no such project.');
    res.json(project);
  });
  router.get('/keys/:hash', async (req, res) => {
    const key = await directory.findKey(req.params.hash);
    if (!key) throw new ApiError('not_found', 'There is no such key.');
    res.json(key);
  });
  return router;
};
