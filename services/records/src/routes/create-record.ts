import { recordRoutes } from '@backlot/contract';
import { JsonText, route } from '@backlot/http';
import { accessOf } from '../access.ts';
import { dataOf } from '../body.ts';
import { etagOf } from '../etag.ts';
import type { Nouns } from '../nouns.ts';

export const createRecord = ({ collections, records }: Nouns) =>
  route(recordRoutes.createRecord, async ({ params, sent, identity }) => {
    const data = dataOf(sent);
    const collection = await collections.findOrCreate(identity, params.collection);
    const { json, version } = await records.create(
      collection,
      accessOf(collection.access, identity),
      data,
    );
    return { body: new JsonText(json), headers: { ETag: etagOf(version) } };
  });
