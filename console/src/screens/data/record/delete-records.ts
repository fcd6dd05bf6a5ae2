import { call, send } from '../../../api/call.ts';
import type { Where } from '../collection/address.ts';

export interface Deletion {
  count: number;
  /** Takes back what was deleted; how many records are there again, and how many are not. */
  undo(): Promise<{ created: number; conflictCount: number }>;
}

/** As many as `$in` takes. */
const idsInCall = 100;
const pollMs = 300;
/** Before the server's time: its clock and that of the database may differ. */
const slackMs = 60_000;

interface From {
  projectId: string;
  collection: string;
}

/** Deletes what fits, in as many calls as that takes; each call can be taken back by its request. */
const deleteWhere = async ({ projectId, collection }: From, where: Where) => {
  const calls: { requestId: string; since: string }[] = [];
  let count = 0;
  let cursor: string | undefined;
  do {
    const answer = await send('deleteRecords', {
      project: projectId,
      params: { collection },
      query: { where, ...(cursor !== undefined && { cursor }) },
    });
    const part = (await answer.json()) as { count: number; nextCursor: string | null };
    const at = Date.parse(answer.headers.get('date') ?? '') || Date.now();
    calls.push({
      requestId: answer.headers.get('x-request-id') ?? '',
      since: new Date(at - slackMs).toISOString(),
    });
    count += part.count;
    cursor = part.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return { count, calls };
};

const undoCall = async (
  { projectId, collection }: From,
  { requestId, since }: { requestId: string; since: string },
) => {
  const params = { projectId };
  let undo = await call('undoChanges', {
    params,
    body: { since, requestId, collections: [collection] },
  });
  while (undo.state === 'running') {
    await new Promise((resolve) => setTimeout(resolve, pollMs));
    undo = await call('getUndo', { params: { projectId, undoId: undo.id } });
  }
  if (undo.state === 'failed') throw new Error(undo.error ?? 'The undo has failed.');
  return undo;
};

/** @param chosen ids, or a filter @throws BacklotError */
export const deleteRecords = async (
  from: From,
  chosen: { ids: readonly string[] } | { where: Where },
): Promise<Deletion> => {
  const filters: Where[] = [];
  if ('where' in chosen) filters.push(chosen.where);
  else
    for (let at = 0; at < chosen.ids.length; at += idsInCall)
      filters.push({ id: { $in: chosen.ids.slice(at, at + idsInCall) } });
  let count = 0;
  const calls: { requestId: string; since: string }[] = [];
  for (const where of filters) {
    const done = await deleteWhere(from, where);
    count += done.count;
    calls.push(...done.calls);
  }
  return {
    count,
    async undo() {
      const sum = { created: 0, conflictCount: 0 };
      for (const made of calls) {
        const { created, conflictCount } = await undoCall(from, made);
        sum.created += created;
        sum.conflictCount += conflictCount;
      }
      return sum;
    },
  };
};
