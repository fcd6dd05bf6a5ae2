import { recordRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import { accessOf } from '../access.ts';
import type { Nouns } from '../nouns.ts';
import { ownerOf } from '../query.ts';
import { parseWhere } from '../where/parse.ts';

export const countRecords = ({ collections, counts }: Nouns) =>
  route(recordRoutes.countRecords, async ({ params, query, identity }) => {
    const filter = parseWhere(query.where);
    const ownerId = ownerOf(query.mine, identity);
    const collection = await collections.find(identity.project.number, params.collection);
    if (!collection) return { body: { count: 0 } };
    const access = accessOf(collection.access, identity);
    return { body: await counts.count({ collection, access, filter, ownerId }) };
  });
