// Loads 200,000 records, lists them by fields that nobody has declared and prints how long that takes,
// until the index that made itself answers.
//   BASE=http://localhost:8080/api PROJECT=<id> OWNER=<the owner's token> node examples/indexes/load.js
const { BASE = 'http://localhost:8080/api', PROJECT, OWNER, RECORDS = '200000' } = process.env;
if (!PROJECT || !OWNER) throw new Error('PROJECT and OWNER are missing.');
const collection = process.env.COLLECTION ?? 'parts';
const records = Number(RECORDS);

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Waits where the platform asks for it. */
async function call(path, options = {}) {
  for (;;) {
    const response = await fetch(`${BASE}${path}`, {
      ...options,
      headers: { Authorization: `Bearer ${OWNER}`, 'Content-Type': 'application/json' },
    });
    const body = await response.json();
    if (response.status !== 429 && response.status !== 503)
      return { status: response.status, body };
    await sleep(1000 * Number(response.headers.get('retry-after') ?? 1));
  }
}

const db = `/runtime/${PROJECT}/db/${collection}`;
const data = (n) => ({
  n,
  part: `part-${(n * 7919) % 10007}`,
  price: (n * 31) % 99991,
  note: 'x'.repeat(200),
});

async function load() {
  for (let start = 0; start < records; start += 500) {
    const count = Math.min(500, records - start);
    const create = Array.from({ length: count }, (_, i) => ({ data: data(start + i) }));
    const { status, body } = await call(`${db}/_batch`, {
      method: 'POST',
      body: JSON.stringify({ create }),
    });
    if (status !== 200) throw new Error(body.error);
    if (start % 20000 === 0) console.log(`${start} of ${records} records`);
  }
}

async function list(query) {
  const startedAt = performance.now();
  const { status, body } = await call(`${db}?${new URLSearchParams(query)}`);
  const ms = (performance.now() - startedAt).toFixed(1);
  return `${JSON.stringify(query)}: ${ms} ms, ${status === 200 ? `${body.items.length} records` : body.code}`;
}

async function indexes() {
  const { body } = await call(`/platform/projects/${PROJECT}/collections`);
  return body.items.find(({ name }) => name === collection)?.indexes ?? [];
}

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
console.log(`indexed after ${((performance.now() - startedAt) / 1000).toFixed(0)} s`);
