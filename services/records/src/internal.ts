import { ApiError, type ShapeDirectory } from '@backlot/contract';
import express, { Router } from 'express';
import { z } from 'zod';

const asking = z.object({
  project: z.object({ id: z.string(), number: z.int().min(0), ownerId: z.string().nullable() }),
  ip: z.string(),
});

/** The platform's own questions, as `ShapeDirectory` puts them, over HTTP. */
export const internalRouter = (shapes: ShapeDirectory): Router => {
  const router = Router();
  router.post('/shapes', express.json(), async (req, res) => {
    const body = asking.safeParse(req.body);
    if (!body.success) throw new ApiError('invalid_body', 'Send "project" and "ip".');
    res.json(await shapes.describe(body.data));
  });
  return router;
};
