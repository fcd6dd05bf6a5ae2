import { ApiError, type OnPaidRule, onPaidRoutes, paymentRoutes } from '@backlot/contract';
import { createQueries, type Database } from '@backlot/database';
import type { ConfigStore } from '@backlot/service';
import type { Selectable } from 'kysely';
import type { PaidRecord } from '../payments/payment-row.ts';
import type { OnPaidRule as RuleTable, DB as Tables } from '../tables.ts';

type Pays = OnPaidRule['pays'];

const describePays = (pays: Pays): string => {
  if (pays === 'items') return 'what its own "items" say';
  if ('product' in pays) return `a checkout of the product "${pays.product}"`;
  return `a checkout of ${pays.amount} ${pays.currency} (in the smallest unit) or more`;
};

const isPaidBy = (
  pays: Pays,
  bought: { items: readonly paymentRoutes.Item[]; amount: number; currency: string },
): boolean => {
  if (pays === 'items') return true;
  if ('product' in pays) return bought.items.some(({ product }) => product === pays.product);
  return bought.currency === pays.currency && bought.amount >= pays.amount;
};

const present = (row: Selectable<RuleTable>): OnPaidRule => ({
  name: row.name,
  collection: row.collection,
  set: row.set_fields as OnPaidRule['set'],
  pays: row.pays as OnPaidRule['pays'],
  updatedAt: row.updated_at.toISOString(),
});

/**
 * Before anybody pays for nothing: whether these items can pay for the record. Its own items are compared once the
 * money is there.
 * @throws ApiError invalid_body
 */
export const checkPays = (
  pays: PaidRecord['pays'] = 'items',
  { items, currency }: { items: readonly paymentRoutes.Item[]; currency: string },
): void => {
  if (isPaidBy(pays, { items, currency, amount: paymentRoutes.sumItems(items) })) return;
  throw new ApiError('invalid_body', `"onPaid.rule": ${describePays(pays)} pays for the record.`);
};

export type OnPaidRules = ReturnType<typeof createOnPaidRules>;

/** What the owner lets a payment write into a record, under a name that browsers may use. */
export const createOnPaidRules = (database: Database, now: () => number) => {
  const queries = createQueries<Tables>(database);

  /** Calls of one project go one after the other until the transaction ends, so that the limit is exact. */
  const checkLimit = async (projectNumber: number, name: string) => {
    await database.query(`SELECT pg_advisory_xact_lock(hashtextextended('on_paid_rules', $1))`, [
      projectNumber,
    ]);
    const { others } = await queries
      .selectFrom('on_paid_rules')
      .select(({ fn }) => fn.countAll<number>().as('others'))
      .where('project_number', '=', projectNumber)
      .where('name', '<>', name)
      .executeTakeFirstOrThrow();
    if (others < onPaidRoutes.maxOnPaidRules) return;
    throw new ApiError(
      'rule_limit',
      `A project may have at most ${onPaidRoutes.maxOnPaidRules} rules for paid records.`,
      { hint: 'Delete one that is no longer used.' },
    );
  };

  return {
    /** @throws ApiError rule_limit */
    set: (
      projectNumber: number,
      name: string,
      { collection, set, pays }: Pick<OnPaidRule, 'collection' | 'set' | 'pays'>,
    ): Promise<OnPaidRule> =>
      database.transaction(async () => {
        await checkLimit(projectNumber, name);
        const change = {
          collection,
          set_fields: JSON.stringify(set),
          pays: JSON.stringify(pays),
          updated_at: new Date(now()),
        };
        const row = await queries
          .insertInto('on_paid_rules')
          .values({ project_number: projectNumber, name, ...change })
          .onConflict((conflict) =>
            conflict.columns(['project_number', 'name']).doUpdateSet(change),
          )
          .returningAll()
          .executeTakeFirstOrThrow();
        return present(row);
      }),

    /** What a checkout asks for, as the rule says it now. @throws ApiError invalid_body */
    async find(
      projectNumber: number,
      asked: { rule: string; recordId: string },
    ): Promise<PaidRecord> {
      const row = await queries
        .selectFrom('on_paid_rules')
        .selectAll()
        .where('project_number', '=', projectNumber)
        .where('name', '=', asked.rule)
        .executeTakeFirst();
      if (!row)
        throw new ApiError('invalid_body', `"onPaid.rule": this project has no such rule.`, {
          hint: 'Its owner sets it: PUT /api/platform/projects/<id>/on-paid/<name> {"collection": "orders", "set": {"status": "paid"}, "pays": "items"}',
        });
      const { collection, set, pays } = present(row);
      return { rule: asked.rule, recordId: asked.recordId.toLowerCase(), collection, set, pays };
    },

    /** By name; all of them. */
    async list(projectNumber: number): Promise<OnPaidRule[]> {
      const rows = await queries
        .selectFrom('on_paid_rules')
        .selectAll()
        .where('project_number', '=', projectNumber)
        .orderBy('name')
        .execute();
      return rows.map(present);
    },

    /** @throws ApiError not_found */
    async delete(projectNumber: number, name: string): Promise<void> {
      const isName = onPaidRoutes.onPaidRuleName.safeParse(name).success;
      const { numDeletedRows } = await queries
        .deleteFrom('on_paid_rules')
        .where('project_number', '=', projectNumber)
        .where('name', '=', isName ? name : '')
        .executeTakeFirst();
      if (numDeletedRows === 0n) throw new ApiError('not_found', 'There is no such rule.');
    },

    /** Those that are there. */
    async deleteAll(projectNumber: number, names: readonly string[]): Promise<void> {
      await queries
        .deleteFrom('on_paid_rules')
        .where('project_number', '=', projectNumber)
        .where('name', 'in', names)
        .execute();
    },
  };
};

/** Rules as a project's config has them. */
export const createOnPaidConfig = (rules: OnPaidRules): ConfigStore => ({
  async read(projectNumber) {
    const all = await rules.list(projectNumber);
    return Object.fromEntries(
      all.map(({ name, collection, set, pays }) => [name, { collection, set, pays }]),
    );
  },
  set: ({ number }, name, entry) => rules.set(number, name, entry as OnPaidRule),
  async remove({ number }, names) {
    await rules.deleteAll(number, names);
    return [];
  },
});
