import type { KeyObject } from 'node:crypto';
import { ApiError, recordRoutes } from '@backlot/contract';
import { type Call, type JsonParts, JsonText, LargeJson, route } from '@backlot/http';
import type { Identity } from '@backlot/identity';
import { withAdvice } from '../collections/advice.ts';
import type { Collections } from '../collections/collections.ts';
import { checkVisible } from '../collections/field-rules.ts';
import type { Count, Counts } from '../list/counts.ts';
import type { EmptyHints } from '../list/empty/empty-hints.ts';
import { ExplainedReader } from '../list/explained.ts';
import type { Lists } from '../list/lists.ts';
import { encloseParts } from '../list/shown/large-pages.ts';
import { parseShown, type ShownRecords } from '../list/shown/shown-records.ts';
import { decodePosition, encodePosition } from '../query/cursor.ts';
import { listHints } from '../query/hints.ts';
import type { PlanReport } from '../query/plan.ts';
import type { SearchWords } from '../query/search-query.ts';
import { byRank } from '../query/search-statement.ts';
import { parseMine, selectRecords } from '../query/selection.ts';
import { parseSort } from '../query/sort.ts';
import { parseWhere } from '../where/parse.ts';

/** docs/api.md, "Lists". */
const maxOffset = 10_000;

type ListCall = Call<typeof recordRoutes.listRecords>;

interface ListRoutes {
  collections: Collections;
  lists: Lists;
  counts: Counts;
  emptyHints: EmptyHints;
  parseSearch: (text: string) => Promise<SearchWords>;
  shownRecords: ShownRecords;
}

export const listRecords = (
  { collections, lists, counts, emptyHints, parseSearch, shownRecords }: ListRoutes,
  cursorKeys: readonly KeyObject[],
) =>
  route(recordRoutes.listRecords, async (call) => {
    const { params, query, identity } = call;
    const { where, sort, limit, offset, ownerId, shown } = parseList(query, identity);
    const reader = new ExplainedReader(call, query.explain);
    const scope = {
      projectNumber: identity.project.number,
      collection: params.collection,
      filter: where,
      sort,
      ownerId,
      groupId: query.group?.toLowerCase(),
      search: query.search,
    };
    const { cursor } = query;
    const after = cursor === undefined ? undefined : decodePosition(cursor, scope, cursorKeys);

    const collection = await collections.find(identity.project.number, params.collection);
    const withTotal = isSet(query.total);
    if (!collection) {
      const body = { items: [], hasMore: false, nextCursor: null, ...(withTotal && { total: 0 }) };
      const hint = await missingHint(emptyHints, identity, params.collection);
      return { body: { ...body, ...hint, ...reader.explained() } };
    }
    const asked = { where, group: query.group, ownerId };
    const { selection, filter, place } = selectRecords(collection, identity, asked);
    const sortFields = sort.fields.map(({ field }) => field);
    if (selection.access.fields.hidden.length > 0)
      checkVisible(selection.access, 'sort', sortFields, place);
    if (query.search !== undefined) selection.search = await parseSearch(query.search);

    const page = await lists.page({ ...selection, sort, limit, offset, after }, reader);
    const items = shown ? await shownRecords.list(page.items, shown, identity, reader) : page.items;
    const total = withTotal ? totalJson(await counts.count(selection, reader)) : '';
    const { explain } = reader.explained();
    const hints = listHints(where, sort, query.limit);
    const headers = reader.headers(collection.personal ? withAdvice(hints, place) : hints);

    const { hasMore, last } = page;
    const isFirst = limit > 0 && offset === 0 && !after;
    const named = query.sort === undefined ? [] : sortFields;
    const missing = unseenIn(page.items, [...named, ...(shown?.fields ?? [])]);
    let hint = '';
    if (page.items === '[]' && !hasMore && isFirst && !selection.search)
      hint = hintJson(await emptyHints.find(filter, selection, reader));
    else if (missing.length > 0)
      hint = hintJson(await emptyHints.findMissing(missing, selection, reader));
    const nextCursor = hasMore && last ? encodePosition(last, scope, cursorKeys) : null;
    const rest = `,"hasMore":${hasMore},"nextCursor":${JSON.stringify(nextCursor)}${total}${hint}${explainJson(explain)}}`;
    return {
      headers,
      body:
        typeof items === 'string'
          ? new JsonText('{"items":', items, rest)
          : new LargeJson(encloseParts('{"items":[', items, `]${rest}`)),
    };
  });

export const countRecords = ({
  collections,
  counts,
  emptyHints,
  parseSearch,
}: Pick<ListRoutes, 'collections' | 'counts' | 'emptyHints' | 'parseSearch'>) =>
  route(recordRoutes.countRecords, async (call) => {
    const { params, query, identity } = call;
    const where = parseWhere(query.where);
    const ownerId = parseMine(query.mine, identity);
    const reader = new ExplainedReader(call, query.explain);
    const collection = await collections.find(identity.project.number, params.collection);
    if (!collection) {
      const hint = await missingHint(emptyHints, identity, params.collection);
      return { body: { count: 0, ...hint, ...reader.explained() } };
    }
    const asked = { where, group: query.group, ownerId };
    const { selection, filter, place } = selectRecords(collection, identity, asked);
    if (query.search !== undefined) selection.search = await parseSearch(query.search);
    const count = await counts.count(selection, reader);
    const isEmpty = count.count === 0 && !count.approximate && !selection.search;
    const hint = isEmpty ? await emptyHints.find(filter, selection, reader) : undefined;
    const body = { ...count, ...(hint !== undefined && { hint }), ...reader.explained() };
    return { body, headers: reader.headers(withAdvice(listHints(where), place)) };
  });

const isSet = (flag: string | undefined) => flag === '1' || flag === 'true';

/**
 * What a list's query says, whatever its collection is.
 * @throws ApiError invalid_where, invalid_sort, invalid_query, unauthenticated
 */
const parseList = (query: ListCall['query'], identity: Identity) => {
  const { offset, cursor } = query;
  const where = parseWhere(query.where);
  const isRanked = query.search !== undefined && query.sort === undefined;
  const sort = isRanked ? byRank : parseSort(query.sort);
  checkOffset(offset, cursor);
  const ownerId = parseMine(query.mine, identity);
  const isCut = query.fields !== undefined || query.include !== undefined;
  const limit = Math.min(query.limit, recordRoutes.maxPageRecords);
  return { where, sort, limit, offset, ownerId, shown: isCut ? parseShown(query) : undefined };
};

/** Of the fields those that no record of the page has, where it has any. */
const unseenIn = (items: string | JsonParts, fields: readonly string[]): string[] => {
  if (typeof items !== 'string' || items === '[]') return [];
  return fields.filter((field) => !items.includes(`${JSON.stringify(field.split('.')[0])}:`));
};

const totalJson = ({ count, approximate }: Count) =>
  `,"total":${count}${approximate ? ',"approximate":true' : ''}`;

const missingHint = async (emptyHints: EmptyHints, identity: Identity, name: string) => {
  const hint = await emptyHints.findCollection(identity, name);
  return hint === undefined ? {} : { hint };
};

const explainJson = (explain: readonly PlanReport[] | undefined) =>
  explain ? `,"explain":${JSON.stringify(explain)}` : '';

const hintJson = (hint: string | undefined) =>
  hint === undefined ? '' : `,"hint":${JSON.stringify(hint)}`;

/** @throws ApiError invalid_query */
const checkOffset = (offset: number, cursor: string | undefined): void => {
  if (offset > maxOffset) {
    throw new ApiError(
      'invalid_query',
      `"offset": at most ${maxOffset}; use cursor to go further.`,
      { hint: 'Send the "nextCursor" of a page as "cursor" to get the next one.' },
    );
  }
  if (offset > 0 && cursor !== undefined) {
    throw new ApiError(
      'invalid_query',
      '"offset": can not be combined with "cursor", which says where the page begins.',
    );
  }
};
