import type { KeyObject } from 'node:crypto';
import { ApiError, recordRoutes } from '@backlot/contract';
import type { FairShares } from '@backlot/fair-shares';
import { type Call, route } from '@backlot/http';
import type { Feed, ToldChange } from '../change-log/feed.ts';
import { decodeLogPosition, encodeLogPosition, type LogPosition } from '../change-log/position.ts';
import { isMarked, toWatch, watchMark } from '../change-log/watched-collection.ts';
import type { Collections } from '../collections/collections.ts';
import { parseMine } from '../query/selection.ts';
import { CallReader } from '../reader.ts';
import { toIso } from '../timestamps.ts';
import { parseWhere } from '../where/parse.ts';
import { holdAnswer } from './held-answer.ts';

interface ChangeRoutes {
  feed: Feed;
  collections: Collections;
  smallReads: FairShares;
  answers: FairShares;
  now: () => number;
}

type ChangesCall = Pick<Call<typeof recordRoutes.listChanges>, 'params' | 'query' | 'identity'>;

const cursorGone = (why: string) =>
  new ApiError('cursor_gone', `The changes behind this cursor ${why}.`, {
    hint: 'Take a cursor with since=now, read the list anew, and go on from that cursor.',
  });

/** JSON, of which the record is some already. */
const toJson = ({ seq, type, id, record, changedAt }: ToldChange): string => {
  const rest = { seq, type, id, changedAt: toIso(changedAt) };
  const text = JSON.stringify(rest);
  return record === undefined ? text : `${text.slice(0, -1)},"record":${record}}`;
};

export const listChanges = (
  { feed, collections, smallReads, answers, now }: ChangeRoutes,
  cursorKeys: readonly KeyObject[],
) => {
  const read = async ({ params, query, identity }: ChangesCall): Promise<string> => {
    const { since } = query;
    const limit = Math.min(query.limit, recordRoutes.maxPageChanges);
    const projectNumber = identity.project.number;
    const ownerId = parseMine(query.mine, identity);
    const group = query.group?.toLowerCase();
    const filter = parseWhere(query.where);
    const reads = [params.collection, filter, ownerId, group];
    const scope = { projectNumber, reads };
    const from = since === 'now' ? undefined : decodeLogPosition(since, scope, cursorKeys);

    const collection = await collections.find(projectNumber, params.collection);
    const mark = watchMark(collection, identity);
    const watch =
      collection &&
      toWatch(collection, { name: params.collection, filter, ownerId, group }, identity);
    const answer = (items: readonly ToldChange[], end: LogPosition, hasMore: boolean) => {
      const cursor = JSON.stringify(encodeLogPosition(end, now(), scope, cursorKeys, mark));
      const list = items.map(toJson).join(',');
      return `{"items":[${list}],"cursor":${cursor},"hasMore":${hasMore}}`;
    };
    if (!from) return answer([], await feed.end(projectNumber), false);
    if (!isMarked(from.mark, mark))
      throw cursorGone('are not all that there is: the collection, its rules or you are others');
    if (!collection || !watch || limit === 0) return answer([], from.position, false);
    const page = await feed.read(collection, watch, { after: from.position, limit });
    if (page.isGone) throw cursorGone('are no longer kept');
    return answer(page.items, page.end, page.hasMore);
  };

  return route(recordRoutes.listChanges, async (call) => {
    const reader = new CallReader(call);
    const { requester, signal } = reader;
    const json = await smallReads.run(requester, () => read(call), { signal });
    return { body: await holdAnswer(json, answers, reader) };
  });
};
