import type { Database } from '@backlot/database';
import type { Sealer } from '@backlot/sealing';
import { type SealStore, sealedColumn } from '@backlot/service';
import { toContext } from './factors/totp.ts';
import { sealContext as flowContext } from './oauth/flows.ts';
import { sealContext as clientContext } from './oauth/provider-clients.ts';

/** What is sealed under BACKLOT_SECRETS_KEYS. */
export const createSealStores = (database: Database, sealer: Sealer): SealStore[] => [
  sealedColumn<{ project_number: number; user_id: string }>({
    database,
    sealer,
    table: 'factors',
    column: 'sealed_secret',
    keys: ['project_number', 'user_id'],
    context: ({ project_number, user_id }) => toContext(project_number, user_id),
  }),
  sealedColumn<{ project_number: number; name: string }>({
    database,
    sealer,
    table: 'auth_providers',
    column: 'sealed',
    keys: ['project_number', 'name'],
    context: ({ project_number, name }) => clientContext(project_number, name),
  }),
  sealedColumn<{ project_number: number; state_hash: Buffer }>({
    database,
    sealer,
    table: 'oauth_flows',
    column: 'sealed',
    keys: ['project_number', 'state_hash'],
    context: ({ state_hash }) => flowContext(state_hash),
  }),
];
