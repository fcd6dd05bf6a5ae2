import { recordRoutes } from '@backlot/contract';
import { JsonText, route } from '@backlot/http';
import type { IdentitySecret } from '@backlot/identity';
import { accessOf } from '../access.ts';
import { decodeCursor, encodeCursor } from '../cursor.ts';
import type { Nouns } from '../nouns.ts';
import { checkOffset, ownerOf } from '../query.ts';
import { parseSort } from '../sort.ts';
import { parseWhere } from '../where/parse.ts';

export const listRecords = ({ collections, lists }: Nouns, secret: IdentitySecret) =>
  route(recordRoutes.listRecords, async ({ params, query, identity }) => {
    const { limit, offset, cursor } = query;
    const filter = parseWhere(query.where);
    const sort = parseSort(query.sort);
    checkOffset(offset, cursor);
    const ownerId = ownerOf(query.mine, identity);
    const projectNumber = identity.project.number;
    const scope = { projectNumber, collection: params.collection, filter, sort, ownerId };
    const after = cursor === undefined ? undefined : decodeCursor(cursor, scope, secret);

    const collection = await collections.find(projectNumber, params.collection);
    if (!collection) return { body: { items: [], hasMore: false, nextCursor: null } };
    const access = accessOf(collection.access, identity);
    const selection = { collection, access, filter, ownerId };
    const { itemsJson, hasMore, last } = await lists.page({
      ...selection,
      sort,
      limit,
      offset,
      after,
    });
    const nextCursor = hasMore && last ? encodeCursor(last, scope, secret) : null;
    return {
      body: new JsonText(
        `{"items":${itemsJson},"hasMore":${hasMore},"nextCursor":${JSON.stringify(nextCursor)}}`,
      ),
    };
  });
