import type { Database } from '@backlot/database';
import { nothingMissing, type Readiness, shareLook } from '@backlot/http';
import type { Logger } from '@backlot/telemetry';

const lookEveryMs = 60_000;

export interface SecretsReadinessOptions {
  /** Has the table `secrets` with the column `sealed`. */
  database: Database;
  sealer: { keyNames: readonly Buffer[] };
  log: Pick<Logger, 'error'>;
}

/**
 * Whether the secrets that projects entrusted to a service open under its master keys: missing where none does,
 * degraded where some do not. Looked at once a minute.
 */
export const createSecretsReadiness = ({
  database,
  sealer: { keyNames },
  log,
}: SecretsReadinessOptions): (() => Promise<Readiness>) =>
  shareLook(
    async () => {
      const [found] = await database.query<{ lost: number; kept: number }>(
        `SELECT count(*) FILTER (WHERE NOT opens) AS lost, count(*) FILTER (WHERE opens) AS kept
           FROM (SELECT substring(sealed FROM 1 FOR $2) = ANY ($1::bytea[]) AS opens FROM secrets) AS looked`,
        [keyNames, keyNames[0]?.length],
      );
      const { lost = 0, kept = 0 } = found ?? {};
      if (lost === 0) return nothingMissing;
      log.error({ lost, kept }, 'secrets of projects do not open under BACKLOT_SECRETS_KEYS');
      const where = kept === 0 ? 'missing' : 'degraded';
      return { ...nothingMissing, [where]: ['secrets'], reasons: { secrets: 'other_master_key' } };
    },
    performance.now.bind(performance),
    lookEveryMs,
  );
