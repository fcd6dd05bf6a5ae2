import { until } from '@backlot/testing';
import { beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { ask, later, type Outcome, tally } from '../ai-calls.ts';
import { untilDrained } from '../broker.ts';
import { type Books, readBooks, sumAmounts } from '../ledger.ts';
import { randomFrom } from '../random.ts';
import { isWhole, type Shop, type StackUnderTest, type VictimName } from '../stack-under-test.ts';

/** The relay is part of the service: it dies while events wait in the outbox. */
const kinds = ['gateway', 'ai', 'relay', 'projects', 'redis', 'rabbitmq', 'postgres'] as const;
type Kind = (typeof kinds)[number];

const rounds = Number(process.env.BACKLOT_SURVIVAL_ROUNDS ?? kinds.length);
const seed = Number(process.env.BACKLOT_SURVIVAL_SEED ?? Date.now() % 1_000_000);
const callsARound = 40;
const windowMs = 1000;
const aroundMs = 40;
const longestDownMs = 500;
/** What Redis has lost of bookings is found by the reconciliation, every five minutes. */
const longestHeldMs = 330_000;
const credits = 1_000_000;
const fewCredits = 20;
/** A call says by its length, and so by its price, which one it is. */
const tokensOfFirst = 1000;
const promptNumber = (n: number) => 'four'.repeat(tokensOfFirst + n);

interface Sent {
  n: number;
  outcome: Outcome;
}

export const describeCrashes = (getStack: () => StackUnderTest) =>
  describe(`the ledger after ${rounds} crashes (seed ${seed})`, () => {
    const random = randomFrom(seed);
    const sent: Sent[] = [];
    const story: string[] = [];
    let stack: StackUnderTest;
    let shop: Shop;
    beforeAll(async () => {
      stack = getStack();
      shop = await stack.newShop(credits);
    });

    const send = async (gateway: number): Promise<Outcome> => {
      const call: Sent = { n: sent.length, outcome: { kind: 'unanswered' } };
      sent.push(call);
      call.outcome = await ask(stack.gateways[gateway % 2] ?? '', shop.id, promptNumber(call.n));
      return call.outcome;
    };

    const untilEventsWait = async () => {
      const database = new pg.Client(stack.databaseUrl);
      await database.connect();
      const waits = async () =>
        (await database.query('SELECT FROM ai.outbox LIMIT 1')).rowCount === 1;
      // Where none ever does, the crash comes at the end of the window.
      await until(waits, { timeoutMs: windowMs }).catch(() => {});
      await database.end();
    };

    const crash = async (kind: Kind) => {
      const name: VictimName = kind === 'relay' ? 'ai' : kind;
      const victim = stack.victims[name];
      if (kind === 'relay') await untilEventsWait();
      await victim.kill();
      await later(random() * longestDownMs, victim.restart);
    };

    const served = async () => {
      for (const gateway of [0, 1]) {
        if (!(await isWhole(stack.gateways[gateway] ?? ''))) return false;
        const { kind } = await later(50, () => send(gateway));
        if (kind !== 'served') return false;
      }
      return true;
    };

    /** Half of the calls come at any time, half are under way when it happens. */
    const round = async (kind: Kind) => {
      const crashMs = kind === 'relay' ? aroundMs : random() * windowMs;
      const calls = Array.from({ length: callsARound }, (_, n) => {
        const near = Math.max(0, crashMs + (random() * 2 - 1) * aroundMs);
        return later(n < callsARound / 2 ? random() * windowMs : near, () => send(n));
      });
      await later(kind === 'relay' ? 0 : crashMs, () => crash(kind));
      const backAt = performance.now();
      await until(served, { what: `recovery from the loss of ${kind}` });
      const recoveredMs = Math.round(performance.now() - backAt);
      const outcomes = await Promise.all(calls);
      story.push(`${kind}: ${JSON.stringify(tally(outcomes))}, whole after ${recoveredMs} ms`);
    };

    const settled = async (): Promise<Books> => {
      await untilDrained(stack);
      const read = () => readBooks(stack, shop.owner);
      const isFree = async () => (await read()).reservedMillicredits === 0;
      // What is held all the same is named with the rest of the books.
      await until(isFree, { timeoutMs: longestHeldMs }).catch(() => {});
      return read();
    };

    it(
      'has each call once, nothing else, and holds no credits',
      async () => {
        await send(0);
        const first = await until(async () => (await readBooks(stack, shop.owner)).debits[0], {
          what: 'the first booking',
        });
        const overheadTokens = -first.amountMillicredits - tokensOfFirst;

        for (let done = 0; done < rounds; done++) await round(kinds[done % kinds.length] ?? 'ai');

        const settledSince = performance.now();
        const { debits, lines, ...sums } = await settled();
        const settledMs = Math.round(performance.now() - settledSince);
        const booked = debits.map(
          (line) => -line.amountMillicredits - tokensOfFirst - overheadTokens,
        );
        const answered = sent.filter(({ outcome }) => outcome.kind === 'served').map(({ n }) => n);
        const unseen = booked.length - answered.length;
        const all = tally(sent.map(({ outcome }) => outcome));
        story.push(`all: ${JSON.stringify(all)}, settled after ${settledMs} ms`);
        story.push(`booked ${booked.length}, of them unseen ${unseen}`);
        console.info(story.join('\n'));

        expect(new Set(booked).size).toBe(booked.length);
        expect(new Set(debits.map(({ requestId }) => requestId)).size).toBe(debits.length);
        expect(answered.filter((n) => !booked.includes(n))).toEqual([]);
        expect(booked.filter((n) => sent[n] === undefined)).toEqual([]);
        expect(lines).toHaveLength(booked.length + 1);
        expect(sums).toEqual({
          balanceMillicredits: credits * 1000 + sumAmounts(debits),
          reservedMillicredits: 0,
        });
        const refused = sent.flatMap(({ outcome }) =>
          outcome.kind === 'refused' ? [outcome] : [],
        );
        expect(
          refused.filter((answer) => answer.status !== 503 || answer.retryAfter === null),
        ).toEqual([]);
      },
      300_000 + rounds * 20_000,
    );

    it('spends each of few credits once', async () => {
      const shops: [Kind, Shop][] = [];
      for (const kind of kinds) {
        const scarce = await stack.newShop(fewCredits);
        shops.push([kind, scarce]);
        const calls = Array.from({ length: 3 * fewCredits }, (_, n) =>
          later(random() * windowMs, () => ask(stack.gateways[n % 2] ?? '', scarce.id, 'Hello')),
        );
        await later(kind === 'relay' ? 0 : random() * windowMs, () => crash(kind));
        for (const url of stack.gateways) await until(() => isWhole(url));
        const served = (await Promise.all(calls)).filter((outcome) => outcome.kind === 'served');
        expect(served.length).toBeLessThanOrEqual(fewCredits);
      }
      for (const [kind, { id, owner }] of shops) {
        const isFree = async () => (await readBooks(stack, owner)).reservedMillicredits === 0;
        await until(isFree, { what: `${kind}: no credits held`, timeoutMs: longestHeldMs });
        const isSpent = async () => {
          const outcome = await ask(stack.gateways[0], id, 'Hello');
          return outcome.kind === 'refused' && outcome.status === 402;
        };
        await until(isSpent, { what: `${kind}: all credits spent` });
        await until(isFree, { what: `${kind}: all booked`, timeoutMs: longestHeldMs });
        const { lines, debits, balanceMillicredits } = await readBooks(stack, owner);
        const corrections = lines.filter((line) => line.kind === 'correction').length;
        expect({ kind, balanceMillicredits, corrections, debits: debits.length }).toEqual({
          kind,
          balanceMillicredits: 0,
          debits: fewCredits + corrections,
          // A service that lost PostgreSQL over a commit can't say whether it was one: the call is
          // refunded, and where it was booked after all and nothing is left, the platform pays.
          corrections: kind === 'postgres' ? corrections : 0,
        });
      }
    }, 600_000);
  });
