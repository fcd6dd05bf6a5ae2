import {
  ApiError,
  type FileArchiveDirectory,
  type FileDirectory,
  type FilesAsking,
  type ImageAsking,
  type ImageDirectory,
} from '@backlot/contract';
import { discardBody } from '@backlot/http';
import { archiveRouter, askingCaller } from '@backlot/service';
import express, { Router } from 'express';
import { z } from 'zod';

const fileId = z.string().max(100);
const imageAsking = askingCaller.extend({ fileId });
const filesAsking = askingCaller.extend({ fileIds: z.array(fileId).max(100) });
const contentAsking = z.object({ projectNumber: z.int().min(0), fileId });

const project = askingCaller.shape.project;
const archivedContent = z.object({ project, fileId, start: z.int().min(0) });
const archivedFile = z.object({ project, line: z.string(), ip: z.string() });

const read = <T>(schema: z.ZodType<T>, body: unknown): T => {
  const { data, success } = schema.safeParse(body);
  if (!success) throw new ApiError('invalid_body', 'Send who asks, and for which files.');
  return data;
};

export interface Directories {
  images: ImageDirectory;
  files: FileDirectory;
  filesArchive: FileArchiveDirectory;
}

/** The platform's own questions, as `ImageDirectory` and `FileDirectory` put them, over HTTP. */
export const internalRouter = ({ images, files, filesArchive }: Directories): Router => {
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
  router.post('/archive/content', express.json(), async (req, res) => {
    const bytes = await filesArchive.readContent(read(archivedContent, req.body));
    if (!bytes) throw new ApiError('not_found', 'There is no such file.');
    res.type('application/octet-stream').send(bytes);
  });
  router.post('/archive/take-content', async (req, res) => {
    const taking = read(archivedFile, JSON.parse(String(req.query.taking)));
    res.json(await filesArchive.takeContent(taking, req));
    void discardBody(req);
  });
  return router.use(archiveRouter(filesArchive));
};
