import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from '@jest/globals';

const compiler = join(
  dirname(createRequire(import.meta.url).resolve('typescript/package.json')),
  'bin/tsc',
);
const client = dirname(fileURLToPath(import.meta.resolve('@backlot/client/sdk.js')));

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'backlot-types-'));
  for (const name of ['sdk', 'sdk-uploads'])
    for (const ending of ['js', 'd.ts'])
      await copyFile(join(client, `${name}.${ending}`), join(folder, `${name}.${ending}`));
});
afterAll(() => rm(folder, { recursive: true }));

it('the declarations beside sdk.js check names and values of who has downloaded both', async () => {
  const file = join(folder, 'app.mts');
  await writeFile(
    file,
    `import { BacklotError, createClient, type User } from './sdk.js';
import { uploadInParts } from './sdk-uploads.js';
interface Todo { title: string; priority: number }
const client = createClient<{ todos: Todo }>('https://api.example.org/api/runtime/demo');
const user: User | null = await client.auth.me();
void user?.email?.trim();
const { items } = await client.db('todos').list({ where: { priority: { $gte: 1 } }, total: true });
items[0]?.title.trim();
for await (const text of client.ai.stream({ messages: [{ role: 'user', content: 'Hi' }] })) text.trim();
const stop: () => void = client.db('todos').live(
  { where: { priority: { $gte: 1 } }, sort: '-priority', limit: 5 },
  (todos, { pending, hasMore }) => void [todos[0]?.title.trim(), pending.has('x'), hasMore],
);
stop();
client.db('todos').subscribe({ where: { title: 'x' } }, (change) => {
  if (change.type === 'create') change.record.priority.toFixed();
  else if (change.type !== 'reset') change.id.trim();
});
const { url } = await uploadInParts(client, new Blob(['x']));
url.trim();
try {} catch (error) { if (error instanceof BacklotError) error.hint?.trim(); }
// @ts-expect-error
void client.db('todo');
// @ts-expect-error
void client.db('todos').create({ title: 1, priority: 1 });
// @ts-expect-error
client.db('todos').live({ where: { title: 1 } }, () => {});
// @ts-expect-error
void client.auth.login({});
`,
  );
  const flags =
    '--noEmit --strict --target es2024 --module nodenext --lib es2024,dom --ignoreConfig';
  const checked = promisify(execFile)(
    process.execPath,
    [compiler, file, ...flags.split(' '), '--types', ''],
    { cwd: folder },
  );
  await expect(checked.catch(({ stdout }) => ({ stdout }))).resolves.toMatchObject({ stdout: '' });
});
