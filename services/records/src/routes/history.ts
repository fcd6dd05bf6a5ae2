import { historyRoutes } from '@backlot/contract';
import type { FairShares } from '@backlot/fair-shares';
import { JsonText, type RouteOptions, route } from '@backlot/http';
import type { Collections } from '../collections/collections.ts';
import type { RecordHistory } from '../history/record-history.ts';
import { CallReader } from '../reader.ts';
import type { Records } from '../record/records.ts';
import type { RecordTarget } from '../record/refusals.ts';
import { toSource } from '../source.ts';
import { holdAnswer } from './held-answer.ts';
import { findTarget } from './records.ts';

export const getHistory = (collections: Collections, history: RecordHistory, answers: FairShares) =>
  route(historyRoutes.getHistory, async (call) => {
    const target = await findTarget(collections, call.identity, call.params);
    const reader = new CallReader(call);
    const page = await history.list(target, call.query, reader);
    return { body: await holdAnswer(JSON.stringify(page), answers, reader) };
  });

export const restoreRecord = (
  collections: Collections,
  records: Pick<Records, 'get'>,
  restore: (target: RecordTarget, seq: number) => Promise<void>,
  turns: RouteOptions,
) =>
  route(
    historyRoutes.restoreRecord,
    async (call) => {
      const { params, body, identity, header } = call;
      const source = toSource(identity, header('x-request-id'));
      const target = await findTarget(collections, identity, params, source);
      await restore(target, body.seq);
      const { json, release } = await records.get(target, new CallReader(call));
      try {
        return { body: new JsonText(json.toString()) };
      } finally {
        release?.();
      }
    },
    turns,
  );
