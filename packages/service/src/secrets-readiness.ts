import type { Database } from '@backlot/database';
import { type Finding, shareLook } from '@backlot/http';
import type { Logger } from '@backlot/telemetry';

const lookEveryMs = 60_000;

export interface SecretsReadinessOptions {
  database: Database;
  /** SQL of what has the column `sealed`; the table `secrets` unless stated. */
  kept?: string;
  sealer: { keyNames: readonly Buffer[] };
  log: Pick<Logger, 'error'>;
}

/**
 * Whether the secrets that were entrusted to a service open under its master keys: missing where none does,
 * degraded where some do not. Looked at once a minute.
 */
export const createSecretsReadiness = ({
  database,
  sealer: { keyNames },
  kept: source = 'secrets',
  log,
}: SecretsReadinessOptions): (() => Promise<Finding>) =>
  shareLook(
    async () => {
      const [found] = await database.query<{ lost: number; kept: number }>(
        `SELECT count(*) FILTER (WHERE NOT opens) AS lost, count(*) FILTER (WHERE opens) AS kept
           FROM (SELECT substring(sealed FROM 1 FOR $2) = ANY ($1::bytea[]) AS opens FROM ${source}) AS looked`,
        [keyNames, keyNames[0]?.length],
      );
      const { lost = 0, kept = 0 } = found ?? {};
      if (lost === 0) return { name: 'secrets', state: 'works' };
      log.error({ lost, kept }, 'secrets do not open under BACKLOT_SECRETS_KEYS');
      const state = kept === 0 ? 'missing' : 'degraded';
      return { name: 'secrets', state, reason: 'other_master_key' };
    },
    performance.now.bind(performance),
    lookEveryMs,
  );
