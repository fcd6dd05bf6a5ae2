import { emailRoutes, type RouteDefinition, recordRoutes } from '@backlot/contract';
import pg from 'pg';
import { load, median, residentMib } from '../load/load.ts';
import { data } from '../prepare.ts';
import type { Program } from '../program.ts';
import type { SignedHeaders } from './callers.ts';

const rounds = 5;
const roundSeconds = 3;
const creditMillicredits = 1000;

export interface SendSubject {
  recordsOrigin: string;
  emailOrigin: string;
  headers: SignedHeaders;
}

/** Both are direct calls of a service process, as the gateway makes them, turn about. */
export const benchSend = async ({ recordsOrigin, emailOrigin, headers }: SendSubject) => {
  const mail = { to: 'ann@example.org', subject: 'Hello', html: `<p>${'x'.repeat(780)}</p>` };
  const post = async (
    definition: RouteDefinition,
    url: string,
    millicredits: number,
    body: unknown,
  ) => {
    const all = { ...headers(definition, millicredits), 'content-type': 'application/json' };
    const request = { url, method: 'POST', headers: all, body: JSON.stringify(body) } as const;
    const result = await load({ ...request, connections: 32 }, roundSeconds);
    if (result.failures > 0) throw new Error(`${url}: ${result.failures} calls failed`);
    return result.requestsPerSecond;
  };
  const create = () => post(recordRoutes.createRecord, `${recordsOrigin}/db/bench`, 0, { data });
  const send = () =>
    post(emailRoutes.sendEmail, `${emailOrigin}/email/send`, creditMillicredits, mail);
  const created: number[] = [];
  const sent: number[] = [];
  await create();
  await send();
  for (let round = 0; round < rounds; round++) {
    created.push(await create());
    sent.push(await send());
  }
  console.log(
    `/email/send ${median(sent).toFixed(0)}/s, records created ${median(created).toFixed(0)}/s, each called directly: ratio ${(median(sent) / median(created)).toFixed(2)} (bound: 0.5)`,
  );
};

const queued = 10_000;
const lookMs = 200;

/** Puts mails into the queue that a service which is about to start will find. */
export const queueMails = async (databaseUrl: string): Promise<void> => {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query('TRUNCATE email.mails, email.outbox');
  await client.query(
    `INSERT INTO email.mails (project_number, id, project_id, recipients, from_name, from_address,
       subject, html, next_attempt_at, created_at)
     SELECT 1000, gen_random_uuid(), 'bench', ARRAY['user' || n || '@example.org'], 'Bench',
       'no-reply@example.org', 'Hello', repeat('x', 800), now(), now()
       FROM generate_series(1, $1::int) AS n`,
    [queued],
  );
  await client.end();
};

/** Waits until every mail has gone out. */
export const benchDrain = async (databaseUrl: string, service: Program): Promise<void> => {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const sentSoFar = async () => {
    const { rows } = await client.query(
      "SELECT count(*) FILTER (WHERE status = 'sent')::int AS sent, count(*) FILTER (WHERE status = 'failed')::int AS failed FROM email.mails",
    );
    if (rows[0].failed > 0) throw new Error(`${rows[0].failed} mails failed.`);
    return rows[0].sent as number;
  };
  const reach = async (count: number) => {
    let sent = await sentSoFar();
    let most = 0;
    while (sent < count) {
      await new Promise((resolve) => setTimeout(resolve, lookMs));
      most = Math.max(most, residentMib(service.pid));
      sent = await sentSoFar();
    }
    return { sent, most, at: performance.now(), mib: residentMib(service.pid) };
  };
  const tenth = await reach(queued / 10);
  const end = await reach(queued);
  await client.end();
  const rate = ((end.sent - tenth.sent) * 1000) / (end.at - tenth.at);
  console.log(
    `${queued} mails by SMTP: ${rate.toFixed(0)}/s; memory ${tenth.mib.toFixed(0)} MiB after a tenth, ${end.mib.toFixed(0)} MiB at the end, ${end.most.toFixed(0)} MiB at most, growth ${(end.most - tenth.mib).toFixed(0)} MiB (bound: 30)`,
  );
};
