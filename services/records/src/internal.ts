import {
  ApiError,
  type FileReader,
  type FilterDirectory,
  type RecordChangeAsking,
  type RecordDirectory,
  type RecordPlace,
  type ShapeDirectory,
} from '@backlot/contract';
import { askingCaller } from '@backlot/service';
import express, { Router } from 'express';
import { z } from 'zod';

const shapesAsking = askingCaller.pick({ project: true, ip: true });
const changeAsking = askingCaller.extend({ collection: z.string().max(100), recordId: z.string() });
const readAsking = askingCaller.extend({ collectionId: z.int(), recordId: z.uuid() });

const filterAsking = z.object({ where: z.record(z.string(), z.unknown()) });

const read = <T>(schema: z.ZodType<T>, body: unknown): T => {
  const { data, success } = schema.safeParse(body);
  if (!success) throw new ApiError('invalid_body', 'Send who asks, and for what.');
  return data;
};

export interface RecordDirectories {
  shapes: ShapeDirectory;
  records: RecordDirectory;
  filters: FilterDirectory;
}

/** The platform's own questions, as `ShapeDirectory`, `RecordDirectory` and `FilterDirectory` put them, over HTTP. */
export const internalRouter = ({ shapes, records, filters }: RecordDirectories): Router => {
  const router = Router();
  router.post('/shapes', express.json(), async (req, res) => {
    res.json(await shapes.describe(read(shapesAsking, req.body)));
  });
  router.post('/records/may-change', express.json(), async (req, res) => {
    res.json(await records.mayChange(read(changeAsking, req.body) as RecordChangeAsking));
  });
  router.post('/records/may-read', express.json(), async (req, res) => {
    const asking = read(readAsking, req.body) as FileReader & RecordPlace;
    res.json({ allowed: await records.mayRead(asking) });
  });
  router.post('/filters/check', express.json(), async (req, res) => {
    const { where } = read(filterAsking, req.body);
    res.json({ problem: await filters.checkFilter(where) });
  });
  return router;
};
