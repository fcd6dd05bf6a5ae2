// Loads 200,000 records, lists them by fields that nobody has declared and prints how long that takes,
// until the indexes that make themselves answer.
//   PASSWORD=<of the owner, as pnpm dev prints it> node examples/indexes/load.js
// BASE, PROJECT and EMAIL name another installation, project and owner; COLLECTION and RECORDS what is loaded.
const { env } = process;
const { BASE = 'http://localhost:8080/api', PROJECT = 'demo', COLLECTION = 'parts' } = env;
const { EMAIL = 'owner@backlot.example', PASSWORD } = env;
if (!PASSWORD) throw new Error('PASSWORD is missing: the one of the owner that pnpm dev prints.');
const records = Number(env.RECORDS ?? 200_000);

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const secondsSince = (startedAt) => ((performance.now() - startedAt) / 1000).toFixed(0);

let token;
/** Waits where the platform asks for it. */
async function call(path, options = {}) {
  for (;;) {
    const response = await fetch(`${BASE}${path}`, {
      ...options,
      headers: {
        'Content-Type': 'application/json',
        ...(token && { Authorization: `Bearer ${token}` }),
      },
    });
    const body = await response.json();
    if (response.status !== 429 && response.status !== 503)
      return { status: response.status, body };
    const seconds = Number(response.headers.get('retry-after') ?? 1);
    console.log(`${body.code}: again in ${seconds} s`);
    await sleep(1000 * seconds);
  }
}

async function post(path, body) {
  const answer = await call(path, { method: 'POST', body: JSON.stringify(body) });
  if (answer.status >= 300) throw new Error(answer.body.error);
  return answer.body;
}

const db = `/runtime/${PROJECT}/db/${COLLECTION}`;
const data = (n) => ({
  n,
  part: `part-${(n * 7919) % 10007}`,
  price: (n * 31) % 99991,
  note: 'x'.repeat(200),
});

async function load() {
  const startedAt = performance.now();
  for (let start = 0; start < records; start += 500) {
    const count = Math.min(500, records - start);
    await post(`${db}/_batch`, {
      create: Array.from({ length: count }, (_, i) => ({ data: data(start + i) })),
    });
    const loaded = start + count;
    if (loaded % 20_000 === 0 || loaded === records)
      console.log(`${loaded} of ${records} records after ${secondsSince(startedAt)} s`);
  }
}

async function list(query) {
  const startedAt = performance.now();
  const { status, body } = await call(`${db}?${new URLSearchParams(query)}`);
  const ms = (performance.now() - startedAt).toFixed(1);
  return `${JSON.stringify(query)}: ${ms} ms, ${status === 200 ? `${body.items.length} records` : `${status} ${body.code}`}`;
}

async function indexes() {
  const { body } = await call(`/platform/projects/${PROJECT}/collections`);
  return body.items.find(({ name }) => name === COLLECTION)?.indexes ?? [];
}

({ token } = await post('/runtime/platform/auth/signin', { email: EMAIL, password: PASSWORD }));
// With a key of an hour: it may write as often as the project, an owner's session as often as any caller.
const key = {
  name: 'load.js',
  scopes: ['read', 'write', 'admin'],
  expiresAt: new Date(Date.now() + 3_600_000).toISOString(),
};
({ key: token } = await post(`/platform/projects/${PROJECT}/keys`, key));
await load();
const queries = [{ where: '{"part":"part-42"}' }, { sort: '-price', limit: '20' }];
const startedAt = performance.now();
for (;;) {
  for (const query of queries) console.log(await list(query));
  const made = await indexes();
  for (const { field, state, uses } of made)
    console.log(`  index on ${field}: ${state}, used ${uses} times`);
  if (made.filter(({ state, uses }) => state === 'ready' && uses > 0).length === queries.length)
    break;
  await sleep(2000);
}
console.log(`indexed and used after ${secondsSince(startedAt)} s`);
