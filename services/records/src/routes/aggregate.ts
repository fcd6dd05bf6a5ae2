import { recordRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Collections } from '../collections/collections.ts';
import { checkVisible } from '../collections/field-rules.ts';
import type { Aggregates } from '../list/aggregates.ts';
import type { EmptyHints } from '../list/empty/empty-hints.ts';
import { ExplainedReader } from '../list/explained.ts';
import { type Aggregation, parseAggregation } from '../query/aggregate/aggregation.ts';
import { listHints } from '../query/hints.ts';
import { parseMine, type Selected, selectRecords } from '../query/selection.ts';
import { parseWhere } from '../where/parse.ts';

export const aggregateRecords = (
  collections: Collections,
  aggregates: Aggregates,
  emptyHints: EmptyHints,
) =>
  route(recordRoutes.aggregateRecords, async (call) => {
    const { params, query, identity } = call;
    const where = parseWhere(query.where);
    const asked = parseAggregation(query);
    const ownerId = parseMine(query.mine, identity);
    const reader = new ExplainedReader(call, query.explain);
    const collection = await collections.find(identity.project.number, params.collection);
    const found = collection && selectRecords(collection, identity, { where, ownerId });
    const selection = found?.selection ?? null;
    const aggregation = { ...asked, knowsGroups: selection?.access.compiled.uses.group ?? false };
    if (found) checkFields(aggregation, found);
    const { groups, missing } = await aggregates.groups(selection, aggregation, reader);
    const hint = selection && (await emptyHints.findMissing(missing, selection, reader));
    const body = { groups, ...(hint && { hint }), ...reader.explained() };
    return { body, headers: reader.headers(listHints(where)) };
  });

/** @throws ApiError forbidden, unauthenticated where a field is hidden from the caller */
const checkFields = (
  { groups, measures, distinct }: Aggregation,
  { selection: { access }, place }: Selected,
): void => {
  const groupedBy = groups.map(({ field }) => field);
  if (groups.length > 0) checkVisible(access, 'group', groupedBy, place);
  for (const { name, field } of measures) checkVisible(access, name, [field], place);
  if (distinct !== undefined) checkVisible(access, 'distinct', [distinct], place);
};
