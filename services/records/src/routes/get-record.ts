import { recordRoutes } from '@backlot/contract';
import { JsonText, route } from '@backlot/http';
import { etagOf } from '../etag.ts';
import type { Nouns } from '../nouns.ts';
import { targetOf } from '../target.ts';

export const getRecord = ({ collections, records }: Nouns) =>
  route(recordRoutes.getRecord, async ({ params, identity }) => {
    const target = await targetOf(collections, identity, params);
    const { json, version } = await records.get(target);
    return { body: new JsonText(json), headers: { ETag: etagOf(version) } };
  });
