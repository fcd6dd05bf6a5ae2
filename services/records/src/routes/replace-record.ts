import { recordRoutes } from '@backlot/contract';
import { JsonText, route } from '@backlot/http';
import { dataOf } from '../body.ts';
import { acceptedVersions, etagOf } from '../etag.ts';
import type { Nouns } from '../nouns.ts';
import { targetOf } from '../target.ts';

export const replaceRecord = ({ collections, records }: Nouns) =>
  route(recordRoutes.replaceRecord, async ({ params, sent, identity, header }) => {
    const data = dataOf(sent);
    const target = await targetOf(collections, identity, params);
    const versions = acceptedVersions(header('if-match'));
    const { json, version } = await records.replace(target, data, versions);
    return { body: new JsonText(json), headers: { ETag: etagOf(version) } };
  });
