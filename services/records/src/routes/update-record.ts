import { recordRoutes } from '@backlot/contract';
import { JsonText, route } from '@backlot/http';
import { patchOf } from '../body.ts';
import { acceptedVersions, etagOf } from '../etag.ts';
import type { Nouns } from '../nouns.ts';
import { targetOf } from '../target.ts';

export const updateRecord = ({ collections, records }: Nouns) =>
  route(recordRoutes.updateRecord, async ({ params, sent, identity, header }) => {
    const patch = patchOf(sent);
    const target = await targetOf(collections, identity, params);
    const versions = acceptedVersions(header('if-match'));
    const { json, version } = await records.patch(target, patch, versions);
    return { body: new JsonText(json), headers: { ETag: etagOf(version) } };
  });
