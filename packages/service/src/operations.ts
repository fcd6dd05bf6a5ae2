import { ApiError, type ServiceOperations } from '@backlot/contract';
import express, { type Request, Router } from 'express';
import { z } from 'zod';

const list = z.object({ limit: z.int().min(1).max(1001), before: z.uuid().optional() });
const one = z.object({ id: z.uuid() });

const read = <T>(schema: z.ZodType<T>, { body }: Request): T => {
  const asked = schema.safeParse(body);
  if (!asked.success) throw new ApiError('invalid_body', 'The question is not understood.');
  return asked.data;
};

/** What the operator does in this service, asked by the control plane over HTTP. */
export const operationsRouter = (operations: ServiceOperations): Router => {
  const router = Router().use(express.json());
  router.post('/list-parked', async (req, res) => {
    res.json({ answer: await operations.listParked(read(list, req)) });
  });
  router.post('/show-parked', async (req, res) => {
    res.json({ answer: await operations.showParked(read(one, req).id) });
  });
  router.post('/replay-parked', async (req, res) => {
    res.json({ answer: await operations.replayParked(read(one, req).id) });
  });
  router.post('/drop-parked', async (req, res) => {
    res.json({ answer: await operations.dropParked(read(one, req).id) });
  });
  router.post('/count-sealed', async (_req, res) => {
    res.json({ answer: await operations.countSealed() });
  });
  router.post('/reseal', async (_req, res) => {
    res.json({ answer: await operations.reseal() });
  });
  return router;
};
