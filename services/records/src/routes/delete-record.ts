import { recordRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import { acceptedVersions } from '../etag.ts';
import type { Nouns } from '../nouns.ts';
import { targetOf } from '../target.ts';

export const deleteRecord = ({ collections, records }: Nouns) =>
  route(recordRoutes.deleteRecord, async ({ params, identity, header }) => {
    const target = await targetOf(collections, identity, params);
    await records.remove(target, acceptedVersions(header('if-match')));
    return { body: { ok: true as const } };
  });
