import { ApiError, callers, type ImageAsking, type ImageDirectory } from '@backlot/contract';
import express, { Router } from 'express';
import { z } from 'zod';

const asking = z.object({
  project: z.object({ id: z.string(), number: z.int().min(0), ownerId: z.string().nullable() }),
  caller: z.enum(callers),
  userId: z.string().nullable(),
  groups: z
    .array(z.object({ id: z.string(), role: z.string() }))
    .max(100)
    .optional(),
  ip: z.string(),
  fileId: z.string().max(100),
});

/** The platform's own questions, as `ImageDirectory` puts them, over HTTP. */
export const internalRouter = (images: ImageDirectory): Router => {
  const router = Router();
  router.post('/images', express.json(), async (req, res) => {
    const body = asking.safeParse(req.body);
    if (!body.success) throw new ApiError('invalid_body', 'Send who asks, and "fileId".');
    res.json(await images.readImage(body.data as ImageAsking));
  });
  return router;
};
