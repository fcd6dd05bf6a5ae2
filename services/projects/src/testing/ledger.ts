import { randomUUID } from 'node:crypto';
import type { EventPayloads, Payload } from '@backlot/contract';
import { createOutbox } from '@backlot/database';
import { createLogger } from '@backlot/telemetry';
import { createCredits } from '../ledger/credits.ts';
import type { TestBed } from './test-bed.ts';

export type UsageEvent = Payload<'usage.recorded'>;

/** One credit, of a project that the ledger need not know, at the test's time. */
export const usageEvent = (
  bed: TestBed,
  ownerId: string,
  changes: Partial<UsageEvent> = {},
): UsageEvent => ({
  callId: randomUUID(),
  projectId: 'someproject',
  projectNumber: 4711,
  ownerId,
  route: 'generateText',
  millicredits: 1000,
  units: { tokens: 1000 },
  occurredAt: new Date(bed.now()).toISOString(),
  ...changes,
});

/** Delivers as the bus does; resolves when it was handled or given up. */
export const deliver = (bed: TestBed, payload: unknown): Promise<void> =>
  bed.publish({ id: randomUUID(), topic: 'usage.recorded', payload });

export interface Item {
  id: string;
  kind: string;
  amountMillicredits: number;
  requestId: string | null;
}

/** The owner's whole statement, oldest first, and the balance. */
export const creditHistory = async (
  bed: TestBed,
  ownerId: string,
): Promise<{ balance: number; items: Item[] }> => {
  const identity = await bed.owner(ownerId);
  const { body } = await bed.call('GET', '/platform/credits?limit=1000', { identity });
  return { balance: body.balanceMillicredits, items: body.items.reverse() };
};

export const kindsAndAmounts = (items: readonly Item[]) =>
  items.map((item) => [item.kind, item.amountMillicredits]);
export const sumItems = (items: readonly Item[]) =>
  items.reduce((sum, item) => sum + item.amountMillicredits, 0);

export const grant = async (
  bed: TestBed,
  ownerId: string,
  credits: number,
  expiresAtMs?: number,
) => {
  const expiry =
    expiresAtMs === undefined ? {} : { expiresAt: new Date(expiresAtMs).toISOString() };
  const answer = await bed.call('POST', '/platform/credits/grants', {
    identity: await bed.operator(),
    body: { ownerId, credits, reason: 'Test', ...expiry },
  });
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
};

/** Consumers as in so many processes: they share the database and nothing else. */
export const consumers = (bed: TestBed, count: number): ((payload: unknown) => Promise<void>)[] =>
  Array.from({ length: count }, () => {
    const { database, counters, now } = bed;
    const outbox = createOutbox<EventPayloads>(database, () => {});
    const log = createLogger({ service: 'projects', level: 'silent' });
    const owners = { isVerified: async () => true, check: async () => {}, find: async () => null };
    const settings = { monthlyCredits: 0, isOwnerVerificationOn: false, reconcileSeconds: 300 };
    const addCosts = async () => {};
    return createCredits({ database, outbox, counters, owners, addCosts, log, now, ...settings })
      .consume;
  });
