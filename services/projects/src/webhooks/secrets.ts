import { createHmac, randomBytes } from 'node:crypto';
import type { Database } from '@backlot/database';
import type { Sealer } from '@backlot/sealing';
import { type SealStore, sealedColumn } from '@backlot/service';

const prefix = 'whsec_';
const secretBytes = 32;

export interface SealedSecrets {
  projectNumber: number;
  name: string;
  sealedSecret: Buffer;
  /** Signs too. */
  sealedPrevious: Buffer | null;
}

/** As Standard Webhooks writes it. */
export const newSecret = () => `${prefix}${randomBytes(secretBytes).toString('base64')}`;

/** Of both columns of a webhook. */
export const sealedSecrets = (database: Database, sealer: Sealer): SealStore[] =>
  ['sealed_secret', 'sealed_previous'].map((column) =>
    sealedColumn<{ project_number: number; name: string }>({
      database,
      sealer,
      table: 'webhooks',
      column,
      keys: ['project_number', 'name'],
      context: ({ project_number: projectNumber, name }) => context({ projectNumber, name }),
    }),
  );

const context = ({ projectNumber, name }: Pick<SealedSecrets, 'projectNumber' | 'name'>) =>
  `${projectNumber}/webhook/${name}`;

export const sealSecret = (sealer: Sealer, projectNumber: number, name: string, secret: string) =>
  sealer.seal(secret, context({ projectNumber, name }));

/**
 * The headers of Standard Webhooks 1.0.0: https://github.com/standard-webhooks/standard-webhooks
 * @param at epoch milliseconds
 * @throws SealBroken
 */
export const signingHeaders = (
  sealer: Sealer,
  secrets: SealedSecrets,
  { id, body, at }: { id: string; body: string; at: number },
): Record<string, string> => {
  const timestamp = String(Math.floor(at / 1000));
  const sealed = [secrets.sealedSecret, secrets.sealedPrevious].filter((one) => one !== null);
  const signatures = sealed.map((one) => {
    const key = sealer.open(one, context(secrets)).slice(prefix.length);
    const hmac = createHmac('sha256', Buffer.from(key, 'base64'));
    return `v1,${hmac.update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  });
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  };
};
