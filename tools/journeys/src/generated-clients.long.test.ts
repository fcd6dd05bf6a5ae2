import { execFile } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { installPackages } from '@backlot/testing/install-packages';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type PlatformUnderTest, platformUnderTest } from './platform-under-test.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../../', import.meta.url));

describe('the description of a project', () => {
  let platform: PlatformUnderTest;
  let project: Awaited<ReturnType<PlatformUnderTest['newProject']>>;
  let folder: string;
  let text: string;
  beforeAll(async () => {
    platform = await platformUnderTest('in-process');
    project = await platform.newProject();
    for (const data of [{ title: 'Buy milk', priority: 2 }, { title: 'Rest' }])
      await project.api('POST', '/db/todo-items', { body: { data } });
    const { body } = await platform.control('POST', `/projects/${project.id}/keys`, {
      token: project.owner.token,
      body: { name: 'generator', scopes: ['read'] },
    });
    const url = `${platform.url}/api/runtime/${project.id}/openapi.json`;
    text = await (await fetch(url, { headers: { authorization: `Bearer ${body.key}` } })).text();
    folder = await installPackages(new URL('../packages/generated-clients/', import.meta.url));
    await writeFile(join(folder, 'openapi.json'), text);
  });
  afterAll(async () => {
    await platform?.stop();
    await rm(folder, { recursive: true });
  });

  const generate = (command: string, ...args: string[]) =>
    run(join(folder, 'node_modules/.bin', command), args, { cwd: folder });

  /** Checks the types of a module as an app would, then runs it; what it prints. */
  const checkAndRun = async (name: string, code: string) => {
    await writeFile(join(folder, name), code);
    await writeFile(
      join(folder, 'tsconfig.json'),
      JSON.stringify({
        compilerOptions: {
          strict: true,
          noEmit: true,
          module: 'nodenext',
          target: 'es2024',
          types: [],
          lib: ['es2024', 'dom', 'dom.iterable'],
          allowImportingTsExtensions: true,
        },
        files: [name],
      }),
    );
    const checked = await run(join(root, 'node_modules/.bin/tsc'), ['-p', folder]).catch(
      ({ stdout }: { stdout: string }) => ({ stdout }),
    );
    expect(checked.stdout).toBe('');
    return (await run(process.execPath, ['--no-warnings', join(folder, name)])).stdout;
  };

  it('has nothing that a linter finds, nor has the general one', async () => {
    for (const description of [join(folder, 'openapi.json'), join(root, 'openapi.json')]) {
      const { stdout } = await run(process.execPath, [join(folder, 'lint.js'), description]);
      expect(JSON.parse(stdout)).toEqual([]);
    }
  });

  it('names every object that is sent or answered', async () => {
    const { paths } = JSON.parse(text) as { paths: Record<string, Record<string, unknown>> };
    const nameless = Object.entries(paths).flatMap(([path, operations]) =>
      Object.entries(operations)
        .filter(([, operation]) =>
          /"(application\/json|multipart\/form-data)":\{"schema":\{"(type":"object|anyOf)/.test(
            JSON.stringify(operation),
          ),
        )
        .map(([method]) => `${method} ${path}`),
    );
    expect(nameless).toEqual([]);
  });

  it('makes a client of openapi-typescript and openapi-fetch', async () => {
    await generate('openapi-typescript', 'openapi.json', '--output', 'schema.d.ts');
    const printed = await checkAndRun(
      'fetch.mts',
      `import createClient from 'openapi-fetch';
import type { components, paths } from './schema.d.ts';

type Todo = components['schemas']['TodoItems'];
const client = createClient<paths>({ baseUrl: '${platform.url}/api/runtime/${project.id}' });
const { data: made } = await client.POST('/db/todo-items', { body: { data: { title: 'Call Bob', priority: 5 } } });
const todo: Todo | undefined = made;
const { data: page } = await client.GET('/db/todo-items', {
  params: { query: { where: JSON.stringify({ priority: { $gte: 2 } }), sort: '-priority', limit: 2 } },
});
console.log(todo?.title, page?.items.map(({ title, priority }) => [title, priority?.toFixed(1)]));
const { data, error } = await client.POST('/auth/signin', { body: { email: 'nobody@example.org', password: 'x' } });
const user: components['schemas']['User'] | undefined = data?.user;
console.log(user, error?.code);
// @ts-expect-error
void (() => client.POST('/db/todo-items', { body: { data: { title: 1 } } }));
// @ts-expect-error
void (() => client.POST('/db/todo-items', { body: { title: 'Without data' } }));
`,
    );
    expect(printed).toBe(
      "Call Bob [ [ 'Call Bob', '5.0' ], [ 'Buy milk', '2.0' ] ]\nundefined invalid_credentials\n",
    );
  });

  it('makes a client of oazapfts', async () => {
    await generate('oazapfts', '--optimistic', 'openapi.json', 'api.ts');
    const printed = await checkAndRun(
      'functions.mts',
      `import * as api from './api.ts';

api.defaults.baseUrl = '${platform.url}/api/runtime/${project.id}';
const session = await api.signUp({ email: 'ada@example.org', password: 'a good long password' });
const user: api.User = session.user;
api.defaults.headers = { Authorization: \`Bearer \${session.token}\` };
const todo: api.TodoItems = await api.createRecordTodoItems({ data: { title: 'Call Bob', priority: 5 } });
const { items } = await api.listRecordsTodoItems({ mine: '1', limit: 5 });
console.log(todo.ownerId === user.id, items.map(({ title }) => title));
console.log(await api.getRecord('todo-items', user.id).catch(({ status }) => status));
// @ts-expect-error
void (() => api.createRecordTodoItems({ data: { title: 1 } }));
`,
    );
    expect(printed).toBe("true [ 'Call Bob' ]\n404\n");
  });
});
