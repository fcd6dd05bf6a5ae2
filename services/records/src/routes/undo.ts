import { setTimeout as pause } from 'node:timers/promises';
import { undoRoutes } from '@backlot/contract';
import { type FairShares, toRequester } from '@backlot/fair-shares';
import { type RouteOptions, route } from '@backlot/http';
import type { Collections } from '../collections/collections.ts';
import type { Trash } from '../history/trash.ts';
import { CallReader } from '../reader.ts';
import type { RestorePoints } from '../undo/restore-points.ts';
import type { UndoJobs } from '../undo/undo-jobs.ts';
import { holdAnswer } from './held-answer.ts';
import { inTurn } from './turns.ts';

/** An undo that ends by then is answered as a whole. */
const patienceMs = 5000;
const lookEveryMs = 200;

export const listTrash = (trash: Trash, answers: FairShares) =>
  route(undoRoutes.listTrash, async (call) => {
    const reader = new CallReader(call);
    const page = await trash.list(call.identity.project.number, call.query, reader);
    return { body: await holdAnswer(JSON.stringify(page), answers, reader) };
  });

export const listTrashedCollections = (collections: Collections, reads: FairShares) =>
  route(
    undoRoutes.listTrashedCollections,
    async ({ identity }) => {
      const items = await collections.listKept(identity.project.number);
      return { body: { items, hasMore: false, nextCursor: null } };
    },
    inTurn(reads),
  );

export const restoreCollection = (collections: Collections, turns: RouteOptions) =>
  route(
    undoRoutes.restoreCollection,
    async ({ params, body, identity }) => ({
      body: await collections.restore(identity.project, params.collection, body),
    }),
    turns,
  );

export const eraseTrashedCollection = (collections: Collections, turns: RouteOptions) =>
  route(
    undoRoutes.eraseTrashedCollection,
    async ({ params, query, identity }) => {
      const { number } = identity.project;
      const count = await collections.eraseKept(number, params.collection, query.deletedAt);
      return { body: { ok: true as const, count } };
    },
    turns,
  );

export const createRestorePoint = (points: RestorePoints, turns: RouteOptions) =>
  route(
    undoRoutes.createRestorePoint,
    async ({ identity, body }) => ({
      status: 201,
      body: await points.create(identity.project.number, body.name),
    }),
    turns,
  );

export const listRestorePoints = (points: RestorePoints, reads: FairShares) =>
  route(
    undoRoutes.listRestorePoints,
    async ({ identity }) => {
      const items = await points.list(identity.project.number);
      return { body: { items, hasMore: false, nextCursor: null } };
    },
    inTurn(reads),
  );

export const deleteRestorePoint = (points: RestorePoints, turns: RouteOptions) =>
  route(
    undoRoutes.deleteRestorePoint,
    async ({ identity, params }) => {
      await points.remove(identity.project.number, params.name);
      return { body: { ok: true as const } };
    },
    turns,
  );

export const undoChanges = (undos: UndoJobs, reads: FairShares) =>
  route(
    undoRoutes.undoChanges,
    async (call) => {
      const { identity, body, signal } = call;
      const { number } = identity.project;
      const requester = toRequester(identity);
      const id = await reads.run(requester, () => undos.start(identity, body), { signal });
      const untilMs = performance.now() + patienceMs;
      for (;;) {
        const undo = await undos.read(number, id);
        if (undo.state !== 'running' || performance.now() > untilMs || signal.aborted)
          return { body: undo };
        await pause(lookEveryMs);
      }
    },
    { notesItself: true },
  );

export const getUndo = (undos: UndoJobs, reads: FairShares) =>
  route(
    undoRoutes.getUndo,
    async ({ identity, params }) => ({
      body: await undos.read(identity.project.number, params.undoId),
    }),
    inTurn(reads),
  );
