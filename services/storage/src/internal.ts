import {
  ApiError,
  callers,
  type FileDirectory,
  type FilesAsking,
  type ImageAsking,
  type ImageDirectory,
} from '@backlot/contract';
import express, { Router } from 'express';
import { z } from 'zod';

const reader = z.object({
  project: z.object({ id: z.string(), number: z.int().min(0), ownerId: z.string().nullable() }),
  caller: z.enum(callers),
  userId: z.string().nullable(),
  groups: z
    .array(z.object({ id: z.string(), role: z.string() }))
    .max(100)
    .optional(),
  ip: z.string(),
});
const fileId = z.string().max(100);
const imageAsking = reader.extend({ fileId });
const filesAsking = reader.extend({ fileIds: z.array(fileId).max(100) });
const contentAsking = z.object({ projectNumber: z.int().min(0), fileId });

const read = <T>(schema: z.ZodType<T>, body: unknown): T => {
  const { data, success } = schema.safeParse(body);
  if (!success) throw new ApiError('invalid_body', 'Send who asks, and for which files.');
  return data;
};

export interface Directories {
  images: ImageDirectory;
  files: FileDirectory;
}

/** The platform's own questions, as `ImageDirectory` and `FileDirectory` put them, over HTTP. */
export const internalRouter = ({ images, files }: Directories): Router => {
  const router = Router();
  router.post('/images', express.json(), async (req, res) => {
    res.json(await images.readImage(read(imageAsking, req.body) as ImageAsking));
  });
  router.post('/files', express.json(), async (req, res) => {
    res.json(await files.describeFiles(read(filesAsking, req.body) as FilesAsking));
  });
  router.post('/files/content', express.json(), async (req, res) => {
    const { projectNumber, fileId } = read(contentAsking, req.body);
    const bytes = await files.readFile(projectNumber, fileId);
    if (!bytes) throw new ApiError('not_found', 'There is no such file.');
    res.type('application/octet-stream').send(bytes);
  });
  return router;
};
