import { ApiError } from '@backlot/contract';
import { createQueries, type Database } from '@backlot/database';
import type { IdentityProject } from '@backlot/identity';
import type { Sealer } from '@backlot/sealing';
import { z } from 'zod';
import type { OwnerCheck } from '../checkout/owner-check.ts';
import { checkoutClosed, ProviderFailed } from '../checkout/provider.ts';
import type { Secret, DB as Tables } from '../tables.ts';
import type { Stripe } from './stripe-client.ts';

const sealedKeys = z.object({
  secretKey: z.string(),
  webhookSecret: z.string().nullable(),
  /** Replaced, and valid until then: epoch milliseconds. */
  previous: z.object({ webhookSecret: z.string(), validUntil: z.number() }).nullable(),
});
type StripeKeys = z.infer<typeof sealedKeys>;

type KeysProject = Pick<IdentityProject, 'number' | 'ownerId'>;

interface NewKeys {
  secretKey: string;
  webhookSecret?: string | undefined;
}

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

interface StripeSecret {
  name: 'stripe';
  hint: string;
  mode: 'test' | 'live';
  updatedAt: string;
}

/** How long both webhook secrets count, so that the other side can be changed meanwhile. */
const overlapMs = 24 * 60 * 60 * 1000;

const presentSecret = (row: SecretRow): StripeSecret => ({
  name: 'stripe',
  hint: row.hint,
  mode: row.mode,
  updatedAt: row.updated_at.toISOString(),
});
/** Secret and restricted keys say in their prefix which money they move. */
export const isLiveKey = (secretKey: string): boolean => /^[rs]k_live_/.test(secretKey);
const secretNotFound = () => new ApiError('not_found', 'The project has no keys of its own.');
const sealContext = (projectNumber: number) => `${projectNumber}/stripe`;

/** @throws ApiError invalid_secret, upstream_failed, timeout */
const checkWithStripe = async (stripe: Stripe, secretKey: string): Promise<void> => {
  try {
    await stripe.check(secretKey);
  } catch (cause) {
    const reason = cause instanceof ProviderFailed ? cause.reason : 'failed';
    if (reason === 'credentials') {
      throw new ApiError(
        'invalid_secret',
        '"secretKey": Stripe does not accept it for checkouts.',
        {
          cause,
          hint: 'A restricted key needs to write Checkout Sessions and Refunds, and to read Payment Intents and Charges.',
        },
      );
    }
    throw new ApiError(
      reason === 'timeout' ? 'timeout' : 'upstream_failed',
      'Stripe could not be asked about this key. Try again shortly.',
      { cause },
    );
  }
};

export interface StripeKeyStoreDeps {
  database: Database;
  sealer: Sealer;
  stripe: Stripe;
  now: () => number;
  isTestCheckoutOn: boolean;
  checkOwner: OwnerCheck;
}

export type StripeKeyStore = ReturnType<typeof createStripeKeyStore>;

/** Keys of projects' own accounts at Stripe, sealed; they never leave the service. */
export const createStripeKeyStore = (deps: StripeKeyStoreDeps) => {
  const { database, sealer, stripe, now, isTestCheckoutOn, checkOwner } = deps;
  const queries = createQueries<Tables>(database);
  const secrets = (projectNumber: number) =>
    queries
      .selectFrom('secrets')
      .select(secretColumns)
      .where('project_number', '=', projectNumber)
      .$narrowType<SecretValues>();
  const find = (projectNumber: number) => secrets(projectNumber).executeTakeFirst();
  const open = (projectNumber: number, sealed: Buffer): StripeKeys =>
    sealedKeys.parse(JSON.parse(sealer.open(sealed, sealContext(projectNumber))));
  const seal = (projectNumber: number, keys: StripeKeys) =>
    sealer.seal(JSON.stringify(keys), sealContext(projectNumber));

  /** Undefined where the project has none. Keys under an older master key are sealed again. */
  const read = async (projectNumber: number): Promise<StripeKeys | undefined> => {
    const row = await find(projectNumber);
    if (!row) return undefined;
    const keys = open(projectNumber, row.sealed);
    if (!sealer.isCurrent(row.sealed)) {
      await queries
        .updateTable('secrets')
        .set({ sealed: seal(projectNumber, keys) })
        .where('project_number', '=', projectNumber)
        .where('sealed', '=', row.sealed)
        .execute();
    }
    return keys;
  };

  return {
    read,

    /** Those that may have signed an event. */
    async readWebhookSecrets(projectNumber: number): Promise<string[]> {
      const keys = await read(projectNumber);
      const isOverlapping = keys?.previous && keys.previous.validUntil > now();
      return [keys?.webhookSecret, isOverlapping && keys?.previous?.webhookSecret].filter(
        (secret) => typeof secret === 'string',
      );
    },

    /** @throws ApiError not_found */
    async get(projectNumber: number): Promise<StripeSecret> {
      const row = await find(projectNumber);
      if (!row) throw secretNotFound();
      return presentSecret(row);
    },

    /**
     * Asks Stripe first. A webhook secret that is left out stays as it is.
     * @throws ApiError invalid_secret, owner_unverified, upstream_failed, timeout
     */
    async set(project: KeysProject, newKeys: NewKeys): Promise<StripeSecret> {
      const { secretKey } = newKeys;
      const projectNumber = project.number;
      if (isLiveKey(secretKey)) await checkOwner(project);
      await checkWithStripe(stripe, secretKey);
      return database.transaction(async () => {
        const stored = await secrets(projectNumber).forUpdate().executeTakeFirst();
        const before = stored && open(projectNumber, stored.sealed);
        const replaced = before?.webhookSecret ?? null;
        const webhookSecret = newKeys.webhookSecret ?? replaced;
        const previous =
          replaced === null || replaced === webhookSecret
            ? (before?.previous ?? null)
            : { webhookSecret: replaced, validUntil: now() + overlapMs };
        const row: SecretRow = {
          sealed: seal(projectNumber, { secretKey, webhookSecret, previous }),
          hint: `…${secretKey.slice(-4)}`,
          mode: isLiveKey(secretKey) ? 'live' : 'test',
          updated_at: new Date(now()),
        };
        await queries
          .insertInto('secrets')
          .values({ project_number: projectNumber, ...row })
          .onConflict((conflict) => conflict.column('project_number').doUpdateSet(row))
          .execute();
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

    /** Whether the project's keys were deleted, and nothing chosen in their place. */
    async isCheckoutClosed(projectNumber: number): Promise<boolean> {
      const row = await queries
        .selectFrom('closed_checkouts')
        .select('project_number')
        .where('project_number', '=', projectNumber)
        .executeTakeFirst();
      return row !== undefined;
    },

    /** For a project without keys. @throws ApiError checkout_closed, conflict */
    async chooseTestCheckout(projectNumber: number): Promise<TestCheckoutChoice> {
      if (!isTestCheckoutOn) throw checkoutClosed('The test checkout is switched off here.');
      if (await find(projectNumber))
        throw new ApiError('conflict', 'The project has keys of its own.', {
          hint: 'Delete them first: DELETE …/secrets/stripe.',
        });
      await queries
        .deleteFrom('closed_checkouts')
        .where('project_number', '=', projectNumber)
        .execute();
      return { name: 'stripe', testCheckout: true };
    },
  };
};
