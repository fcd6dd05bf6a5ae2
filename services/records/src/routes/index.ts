import type { MountedRoute } from '@backlot/http';
import type { IdentitySecret } from '@backlot/identity';
import type { Nouns } from '../nouns.ts';
import { countRecords } from './count-records.ts';
import { createRecord } from './create-record.ts';
import { deleteRecord } from './delete-record.ts';
import { getRecord } from './get-record.ts';
import { listCollections } from './list-collections.ts';
import { listRecords } from './list-records.ts';
import { replaceRecord } from './replace-record.ts';
import { setCollectionAccess } from './set-collection-access.ts';
import { updateRecord } from './update-record.ts';

/** `_count` stands before the id that it could be taken for. */
export const routesOf = (nouns: Nouns, cursorSecret: IdentitySecret): MountedRoute[] => [
  countRecords(nouns),
  listRecords(nouns, cursorSecret),
  getRecord(nouns),
  createRecord(nouns),
  updateRecord(nouns),
  replaceRecord(nouns),
  deleteRecord(nouns),
  listCollections(nouns),
  setCollectionAccess(nouns),
];
