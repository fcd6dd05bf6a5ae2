import { recordRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import { resolveAccess } from '../collections/access.ts';
import type { Collections } from '../collections/collections.ts';
import { checkVisible } from '../collections/field-rules.ts';
import type { Aggregates } from '../list/aggregates.ts';
import type { EmptyHints } from '../list/empty/empty-hints.ts';
import { ExplainedReader } from '../list/explained.ts';
import { parseAggregation } from '../query/aggregate/aggregation.ts';
import { takeGroup } from '../query/group-selection.ts';
import { listHints } from '../query/hints.ts';
import { splitFilter } from '../query/selection.ts';
import { parseMine } from '../record/narrow-filter.ts';
import { fieldsIn } from '../where/filter.ts';
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
    const access = collection && resolveAccess(collection.access, identity);
    const taken = access && takeGroup(where, access, undefined);
    const aggregation = { ...asked, knowsGroups: access?.compiled.uses.group ?? false };
    if (taken) {
      const place = { project: identity.project, collection };
      checkVisible(access, 'where', fieldsIn(taken.filter), place);
      const { groups, measures, distinct } = aggregation;
      const groupedBy = groups.map(({ field }) => field);
      if (groups.length > 0) checkVisible(access, 'group', groupedBy, place);
      for (const { name, field } of measures) checkVisible(access, name, [field], place);
      if (distinct !== undefined) checkVisible(access, 'distinct', [distinct], place);
    }
    const selection = taken && {
      collection,
      access,
      ownerId,
      filter: splitFilter(taken.filter),
      groupId: taken.groupId,
    };
    const { groups, missing } = await aggregates.groups(selection, aggregation, reader);
    const hint = selection && (await emptyHints.findMissing(missing, selection, reader));
    const body = { groups, ...(hint && { hint }), ...reader.explained() };
    return { body, headers: reader.headers(listHints(where)) };
  });
