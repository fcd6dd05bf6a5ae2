import { ApiError, type ProjectDirectory } from '@backlot/contract';
import { Router } from 'express';
import { z } from 'zod';
import type { Credits } from './ledger/credits.ts';
import type { Owners } from './owners.ts';

const uuid = z.uuid();

/** The directories over HTTP: JSON, or 404 where they say null. */
export const internalRouter = (
  directory: ProjectDirectory,
  credits: Credits,
  owners: Owners,
): Router => {
  const router = Router();
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
  router.get('/owners/:ownerId', async (req, res) => {
    const ownerId = uuid.safeParse(req.params.ownerId);
    res.json({ verified: ownerId.success && (await owners.isVerified(ownerId.data)) });
  });
  router.post('/credits/:ownerId/load', async (req, res) => {
    const ownerId = uuid.safeParse(req.params.ownerId);
    if (!ownerId.success) throw new ApiError('not_found', 'There is no such owner.');
    res.json(await credits.loadOwner(ownerId.data));
  });
  return router;
};
