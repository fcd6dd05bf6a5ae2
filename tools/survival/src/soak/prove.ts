import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Api, apiAt } from '@backlot/testing/platform-api';
import { until } from '@backlot/testing/until';
import type { Acknowledged, SoakShop } from './load.ts';

interface Line {
  kind: string;
  amountMillicredits: number;
  requestId: string | null;
}

interface Proof {
  origin: string;
  shop: SoakShop;
  models: SoakShop;
  done: Acknowledged;
}

/** Each line of a list, newest first. */
const readAll = async <Row>(call: Api, path: string, token: string): Promise<Row[]> => {
  const rows: Row[] = [];
  for (let cursor = ''; ; ) {
    const { status, body } = await call('GET', `${path}limit=500${cursor}`, { token });
    if (status !== 200) throw new Error(`${path} answered ${status} ${body.code}.`);
    rows.push(...body.items);
    if (!body.hasMore) return rows;
    cursor = `&cursor=${encodeURIComponent(body.nextCursor)}`;
  }
};

const twice = <Value>(values: readonly Value[]): Value[] => {
  const seen = new Set<Value>();
  return values.filter((value) => seen.size === seen.add(value).size);
};

/** What each call of the model costs beside its prompt: that of the first one tells. */
const readNumbers = (debits: readonly Line[]): number[] => {
  const tokens = debits.map(({ amountMillicredits }) => -amountMillicredits);
  const least = Math.min(...tokens);
  return tokens.map((count) => count - least);
};

/** Credits of a call whose gateway was killed are held for six minutes, and the reconciliation comes after five. */
const longestHeldMs = 720_000;

const lookEveryMs = 2000;

const readCredits = async (control: Api, token: string) => {
  const { status, body } = await control('GET', '/credits?limit=1', { token });
  if (status !== 200) throw new Error(`GET /credits answered ${status} ${body.code}.`);
  return body;
};

/** Calls by what they spent: none twice, none that was answered missing, nothing held. */
const proveBooks = async (control: Api, models: SoakShop, answers: ReadonlySet<number>) => {
  const settled = async () => {
    const { reservedMillicredits } = await readCredits(control, models.owner);
    if (reservedMillicredits !== 0) await sleep(lookEveryMs);
    return reservedMillicredits === 0;
  };
  await until(settled, { what: 'no credits held', timeoutMs: longestHeldMs });
  const lines = await readAll<Line>(control, '/credits?', models.owner);
  const debits = lines.filter(({ kind }) => kind === 'debit');
  const booked = new Set(readNumbers(debits));
  const { balanceMillicredits } = await readCredits(control, models.owner);
  const sum = lines.reduce((total, { amountMillicredits }) => total + amountMillicredits, 0);
  return {
    'calls of the model': answers.size,
    debits: debits.length,
    faults: [
      ...[...answers].filter((n) => !booked.has(n)).map((n) => `call ${n} is not booked`),
      ...twice(readNumbers(debits)).map((n) => `call ${n} is booked twice`),
      ...twice(debits.map(({ requestId }) => requestId)).map((id) => `debit ${id} is there twice`),
      ...(sum === balanceMillicredits ? [] : [`lines sum to ${sum}, not ${balanceMillicredits}`]),
    ],
  };
};

const proveRecords = async (call: Api, { key }: SoakShop, records: Acknowledged['records']) => {
  const rows = await readAll<{ id: string; n: number }>(call, '/db/notes?', key);
  const ids = new Set(rows.map(({ id }) => id));
  const lost = [...records].filter(([, id]) => id !== undefined && !ids.has(id));
  return [
    ...lost.map(([n]) => `record ${n} is lost`),
    ...twice(rows.map(({ n }) => n)).map((n) => `record ${n} is there twice`),
  ];
};

const proveMails = async (control: Api, { id, owner }: SoakShop, mails: ReadonlySet<number>) => {
  const rows = await readAll<{ subject: string }>(control, `/projects/${id}/emails?`, owner);
  const sent = rows.map(({ subject }) => Number(subject.replace('Mail ', '')));
  return [
    ...[...mails].filter((n) => !sent.includes(n)).map((n) => `mail ${n} is lost`),
    ...twice(sent).map((n) => `mail ${n} is there twice`),
  ];
};

const proveFiles = async (origin: string, files: Acknowledged['files']) => {
  const faults: string[] = [];
  for (const [path, hash] of files) {
    const answer = await fetch(origin + path);
    const bytes = Buffer.from(await answer.arrayBuffer());
    if (createHash('sha256').update(bytes).digest('hex') !== hash)
      faults.push(`${path} answered ${answer.status} with other bytes`);
  }
  return faults;
};

const provePayments = async (call: Api, { key }: SoakShop, paid: ReadonlySet<string>) => {
  const faults: string[] = [];
  for (const session of paid) {
    const path = `/payments/verify?session_id=${session}`;
    const { body } = await call('GET', path, { token: key });
    if (body.paid !== true) faults.push(`payment ${session} is not paid`);
  }
  return faults;
};

/** Looks for all that was acknowledged. @returns what was counted, and what is wrong */
export const prove = async ({ origin, shop, models, done }: Proof) => {
  const call = apiAt(`${origin}/api/runtime/${shop.id}`);
  const control = apiAt(`${origin}/api/platform`);
  const { faults, ...books } = await proveBooks(control, models, done.answers);
  return {
    counts: {
      records: [...done.records.values()].filter((id) => id !== undefined).length,
      mails: done.mails.size,
      files: done.files.size,
      payments: done.paid.size,
      ...books,
    },
    faults: [
      ...faults,
      ...(await proveRecords(call, shop, done.records)),
      ...(await proveMails(control, shop, done.mails)),
      ...(await proveFiles(origin, done.files)),
      ...(await provePayments(call, shop, done.paid)),
    ],
  };
};
