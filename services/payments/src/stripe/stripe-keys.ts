import { ApiError } from '@backlot/contract';
import { createQueries, type Database } from '@backlot/database';
import type { IdentityProject } from '@backlot/identity';
import { SealBroken, type Sealer } from '@backlot/sealing';
import type { Modes } from '../provider/modes.ts';
import type { OwnerCheck } from '../provider/owner-check.ts';
import { checkoutClosed } from '../provider/provider.ts';
import type { Secret, DB as Tables } from '../tables.ts';
import { checkWithStripe } from './check-with-stripe.ts';
import {
  isLiveKey,
  type NewKeys,
  openKeys,
  replaceKeys,
  type StripeKeys,
  sealKeys,
  withoutOutdated,
} from './sealed-keys.ts';
import type { Stripe } from './stripe-client.ts';

export { isLiveKey };

type KeysProject = Pick<IdentityProject, 'number' | 'ownerId' | 'isPreview'>;

const secretColumns = ['sealed', 'hint', 'mode', 'updated_at'] as const;
interface SecretValues {
  mode: 'test' | 'live';
}
type SecretRow = Pick<Secret, (typeof secretColumns)[number]> & SecretValues;

/** The answer to a choice of the test checkout in the place of keys. */
interface TestCheckoutChoice {
  name: 'stripe';
  testCheckout: true;
}

interface WithoutKeys {
  name: 'stripe';
  testCheckout: boolean;
}

interface StripeSecret {
  name: 'stripe';
  hint: string;
  mode: 'test' | 'live';
  updatedAt: string;
}

const presentSecret = (row: SecretRow): StripeSecret => ({
  name: 'stripe',
  hint: row.hint,
  mode: row.mode,
  updatedAt: row.updated_at.toISOString(),
});
const secretNotFound = () => new ApiError('not_found', 'The project has no keys of its own.');

const notInPreview = () =>
  new ApiError('forbidden', '"secretKey": a preview takes test keys only.', {
    hint: 'Send one that begins with sk_test_ or rk_test_.',
  });

export interface StripeKeyStoreDeps {
  database: Database;
  sealer: Sealer;
  stripe: Stripe;
  now: () => number;
  isTestCheckoutOn: boolean;
  checkOwner: OwnerCheck;
  modes: Modes;
}

export type StripeKeyStore = ReturnType<typeof createStripeKeyStore>;

/** Keys of projects' own accounts at Stripe, sealed; they never leave the service. */
export const createStripeKeyStore = (deps: StripeKeyStoreDeps) => {
  const { database, sealer, stripe, now, isTestCheckoutOn, checkOwner, modes } = deps;
  const queries = createQueries<Tables>(database);
  const secrets = (projectNumber: number) =>
    queries
      .selectFrom('secrets')
      .select(secretColumns)
      .where('project_number', '=', projectNumber)
      .$narrowType<SecretValues>();
  const find = (projectNumber: number) => secrets(projectNumber).executeTakeFirst();
  /** Keys that no master key opens any more are replaced like any others. */
  const openOrForget = (projectNumber: number, sealed: Buffer): StripeKeys | undefined => {
    try {
      return openKeys(sealer, projectNumber, sealed);
    } catch (error) {
      if (error instanceof SealBroken) return undefined;
      throw error;
    }
  };

  /** Undefined where the project has none. What is outdated goes. */
  const read = async (projectNumber: number): Promise<StripeKeys | undefined> => {
    const row = await find(projectNumber);
    if (!row) return undefined;
    const stored = openKeys(sealer, projectNumber, row.sealed);
    const keys = withoutOutdated(stored, now());
    const isOutdated = keys.previous !== stored.previous || keys.previousKey !== stored.previousKey;
    if (isOutdated) {
      await queries
        .updateTable('secrets')
        .set({ sealed: sealKeys(sealer, projectNumber, keys) })
        .where('project_number', '=', projectNumber)
        .where('sealed', '=', row.sealed)
        .execute();
    }
    return keys;
  };

  /** Whether the project's keys were deleted, and nothing chosen in their place. */
  const isCheckoutClosed = async (projectNumber: number): Promise<boolean> => {
    const row = await queries
      .selectFrom('closed_checkouts')
      .select('project_number')
      .where('project_number', '=', projectNumber)
      .executeTakeFirst();
    return row !== undefined;
  };

  return {
    read,

    /** The present one, and the one replaced within the last day. */
    async readSecretKeys(projectNumber: number): Promise<string[]> {
      const keys = await read(projectNumber);
      if (!keys) return [];
      return [keys.secretKey, ...(keys.previousKey ? [keys.previousKey.secretKey] : [])];
    },

    /** Those that may have signed an event: the present one, and the one replaced within the last day. */
    async readWebhookSecrets(projectNumber: number) {
      const keys = await read(projectNumber);
      return {
        current: keys?.webhookSecret ?? null,
        replaced: keys?.previous?.webhookSecret ?? null,
      };
    },

    async get(projectNumber: number): Promise<StripeSecret | WithoutKeys> {
      const row = await find(projectNumber);
      if (row) return presentSecret(row);
      const testCheckout = isTestCheckoutOn && !(await isCheckoutClosed(projectNumber));
      return { name: 'stripe', testCheckout };
    },

    /**
     * Asks Stripe first. A webhook secret that is left out stays as it is, where the keys are of the same mode.
     * @throws ApiError invalid_secret, forbidden, owner_unverified, upstream_failed, timeout
     */
    async set(project: KeysProject, newKeys: NewKeys): Promise<StripeSecret> {
      const { secretKey } = newKeys;
      const projectNumber = project.number;
      if (isLiveKey(secretKey) && project.isPreview) throw notInPreview();
      if (isLiveKey(secretKey)) await checkOwner(project);
      await checkWithStripe(stripe, secretKey);
      return database.transaction(async () => {
        const stored = await secrets(projectNumber).forUpdate().executeTakeFirst();
        const before = stored && openOrForget(projectNumber, stored.sealed);
        const isLive = isLiveKey(secretKey);
        const row: SecretRow = {
          sealed: sealKeys(sealer, projectNumber, replaceKeys(before, newKeys, now())),
          hint: `…${secretKey.slice(-4)}`,
          mode: isLive ? 'live' : 'test',
          updated_at: new Date(now()),
        };
        await queries
          .insertInto('secrets')
          .values({ project_number: projectNumber, ...row })
          .onConflict((conflict) => conflict.column('project_number').doUpdateSet(row))
          .execute();
        await modes.closeOthers(projectNumber, { provider: 'stripe', livemode: isLive });
        return presentSecret(row);
      });
    },

    /** Closes the checkout: a shop never turns to play money by itself. @throws ApiError not_found */
    async remove(projectNumber: number): Promise<void> {
      const { numInsertedOrUpdatedRows: closed } = await queries
        .with('removed', (query) =>
          query
            .deleteFrom('secrets')
            .where('project_number', '=', projectNumber)
            .returning('project_number'),
        )
        .insertInto('closed_checkouts')
        .columns(['project_number'])
        .expression(({ selectFrom }) => selectFrom('removed').select('project_number'))
        .onConflict((conflict) =>
          conflict.column('project_number').doUpdateSet({ project_number: projectNumber }),
        )
        .executeTakeFirstOrThrow();
      if (closed === 0n) throw secretNotFound();
    },

    isCheckoutClosed,

    /** For a project without keys. @throws ApiError checkout_closed, conflict */
    async chooseTestCheckout(projectNumber: number): Promise<TestCheckoutChoice> {
      if (!isTestCheckoutOn) throw checkoutClosed('The test checkout is switched off here.');
      if (await find(projectNumber))
        throw new ApiError('conflict', 'The project has keys of its own.', {
          hint: 'Delete them first: DELETE …/secrets/stripe.',
        });
      await database.transaction(async () => {
        await queries
          .deleteFrom('closed_checkouts')
          .where('project_number', '=', projectNumber)
          .execute();
        const mode = { provider: 'test-checkout', livemode: false } as const;
        await modes.closeOthers(projectNumber, mode);
      });
      return { name: 'stripe', testCheckout: true };
    },
  };
};
