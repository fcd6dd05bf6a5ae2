import {
  ApiError,
  budgetKinds,
  mostCallSums,
  mostCallsAtOnce,
  requestRoutes,
} from '@backlot/contract';
import express, { Router } from 'express';
import { z } from 'zod';
import type { Features } from './features.ts';

const uuid = z.uuid();
const projectNumber = z.int().min(1);
const projectUse = z.object({
  projectNumber,
  periods: z.array(z.string().regex(/^\d{4}-\d\d(-\d\d)?$/)).max(4),
});
const keyPath = z.object({
  projectNumber: z.coerce.number<string>().pipe(projectNumber),
  keyId: uuid,
});
const budgetRefusal = z.object({
  projectId: z.string().max(64),
  projectNumber,
  kind: z.enum(budgetKinds),
  address: z.string().max(64),
  route: z.string().max(200),
});

const time = z.iso.datetime();
const sum = z.int().min(0);
const callSum = z.object({
  kind: z.enum(['route', 'address']),
  projectNumber: sum,
  name: z.string().max(100),
  calls: sum,
  errors: sum,
  refusals: sum,
  faults: sum,
  bytes: sum,
  databaseUs: sum,
  threadUs: sum,
});
const callBatch = z.object({
  gateway: uuid,
  number: z.int().min(1),
  projects: z
    .array(
      z.object({
        projectNumber,
        calls: z.array(requestRoutes.loggedCall).max(mostCallsAtOnce),
        lost: z.object({ since: time, until: time, calls: z.int().min(1) }).optional(),
      }),
    )
    // Of as many others it may be said that calls were lost.
    .max(2 * mostCallsAtOnce),
  sums: z.object({ since: time, items: z.array(callSum).max(2 * mostCallSums) }).optional(),
});
/** Lines are cut to 4 KB at most by the gateway. */
const callBatchLimit = '4mb';

/** The directories over HTTP: JSON, or 404 where they say null. */
export const internalRouter = ({
  directory,
  keyDirectory: keys,
  credits,
  budgetNotices,
  owners,
  callLog,
  operatorTokens: operators,
  origins: hosts,
}: Features): Router => {
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
  router.get('/operator-tokens/:hash', async (req, res) => {
    const operator = await operators.findOperator(req.params.hash);
    if (!operator) throw new ApiError('not_found', 'There is no such token.');
    res.json(operator);
  });
  router.get('/hosts/:host', async (req, res) => {
    const found = await hosts.findHost(req.params.host);
    if (!found) throw new ApiError('not_found', 'No project has proven this host name.');
    res.json(found);
  });
  router.get('/live-keys/:projectNumber/:keyId', async (req, res) => {
    const path = keyPath.safeParse(req.params);
    res.json({
      live: path.success && (await keys.isLive(path.data.projectNumber, path.data.keyId)),
    });
  });
  router.get('/owners/:ownerId', async (req, res) => {
    const ownerId = uuid.safeParse(req.params.ownerId);
    res.json({ verified: ownerId.success && (await owners.isVerified(ownerId.data)) });
  });
  router.post('/credits/:ownerId/load', express.json(), async (req, res) => {
    const ownerId = uuid.safeParse(req.params.ownerId);
    if (!ownerId.success) throw new ApiError('not_found', 'There is no such owner.');
    const project = projectUse.optional().safeParse(req.body);
    if (!project.success) throw new ApiError('invalid_body', 'Send a project and its periods.');
    res.json(await credits.loadOwner(ownerId.data, project.data));
  });
  router.post('/credits/:ownerId/refusals', express.json(), async (req, res) => {
    const ownerId = uuid.safeParse(req.params.ownerId);
    const refusal = budgetRefusal.safeParse(req.body);
    if (!ownerId.success || !refusal.success)
      throw new ApiError('invalid_body', 'Send the refusal of a call.');
    await budgetNotices.note(ownerId.data, refusal.data);
    res.json({ ok: true });
  });
  router.post('/calls', express.json({ limit: callBatchLimit }), async (req, res) => {
    const batch = callBatch.safeParse(req.body);
    if (!batch.success) throw new ApiError('invalid_body', 'Send a batch of calls.');
    await callLog.takeCalls(batch.data);
    res.json({ ok: true });
  });
  return router;
};
