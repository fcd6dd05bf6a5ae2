import {
  type CollectionShape,
  defaultBodyLimitBytes,
  maxRecordBytes,
  openApiDocument,
  recordRoutes,
  routes,
  storageRoutes,
} from '@backlot/contract';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createDescription } from '../docs/description.ts';
import {
  createTestBed,
  operatorToken,
  ownerId,
  secretKey,
  type TestBed,
} from '../testing/test-bed.ts';

const base = '/api/runtime/demo';
const documents = ['/openapi.json', '/llms.txt', '/llms-full.txt', '/types.d.ts'];

const todos: CollectionShape = {
  name: 'todo-items',
  access: 'private',
  count: 7,
  sampled: 7,
  hasMoreFields: false,
  fields: [
    { path: 'title', types: ['string'], share: 1 },
    { path: 'status', types: ['string'], share: 0.5, values: ['done', 'open'] },
    { path: 'steps', types: ['array', 'null'], share: 1, itemTypes: ['object'] },
    { path: 'steps.walrusCount', types: ['number'], share: 1 },
    { path: 'due at', types: ['null'], share: 1 },
  ],
};
const empty: CollectionShape = {
  name: 'Project',
  access: 'shared',
  count: 0,
  sampled: 0,
  hasMoreFields: false,
  fields: [],
};
/** About so many a model counts: a journey asks a tokenizer. */
const tokens = (text: string) => {
  const others = text.replace(/\p{ASCII}+/gu, '');
  return (text.length - others.length) / 3.5 + Buffer.byteLength(others) * 0.75;
};

describe('documents of a project', () => {
  let bed: TestBed;
  beforeEach(async () => {
    bed = await createTestBed({
      deps: { apiDescription: openApiDocument(routes) },
      config: { publicUrl: 'https://api.example.org' },
    });
    bed.fake.collections.set(1001, [todos, empty]);
  });
  afterEach(() => bed.close());

  const owner = () => bed.token({ aud: 'platform', sub: ownerId });
  const text = ({ body }: { body: unknown }) =>
    typeof body === 'string' ? body : JSON.stringify(body);

  it.each(documents)('%s shows the names of fields to the owner and to keys', async (path) => {
    for (const token of [owner(), secretKey, operatorToken]) {
      const answer = await bed.call('GET', base + path, { token });
      expect(answer.status).toBe(200);
      expect(text(answer)).toContain('todo-items');
      expect(text(answer)).toContain('walrusCount');
      expect(answer.headers.get('cache-control')).toBe('private, no-cache');
      expect(answer.headers.get('vary')).toContain('Authorization');
    }
  });

  it.each(documents)('%s shows no name to anybody else, and looks none up', async (path) => {
    const isForAll = path !== '/types.d.ts';
    const byNobody = await bed.call('GET', base + path);
    const byUser = await bed.call('GET', base + path, { token: bed.token() });
    expect([byNobody.status, byUser.status]).toEqual(isForAll ? [200, 200] : [401, 403]);
    for (const answer of [byNobody, byUser]) {
      expect(text(answer)).not.toContain('todo-items');
      expect(text(answer)).not.toContain('walrusCount');
    }
    if (isForAll) expect(byNobody.headers.get('vary')).toContain('Authorization');
    for (const token of [
      'bad',
      `bk_${'x'.repeat(43)}`,
      bed.token({ aud: 'other' }),
      bed.token({ aud: 'platform', sub: 'another' }),
    ])
      expect((await bed.call('GET', base + path, { token })).body.code).toBe('invalid_token');
    const elsewhere = await bed.call('GET', `/api/runtime/other${path}`, { token: secretKey });
    expect(elsewhere.body.code).toBe('invalid_token');
    expect(bed.fake.asked.filter((question) => question.startsWith('describe'))).toEqual([]);
  });

  const orders: CollectionShape = {
    ...empty,
    name: 'orders',
    fields: [{ path: 'quokkaCount', types: ['string'], share: 1 }],
    schema: {
      properties: {
        state: { enum: ['open', 'done'], default: 'open' },
        title: { type: 'string', description: 'What is */ ordered' },
        items: {
          type: 'array',
          items: { properties: { n: { type: 'integer' } }, required: ['n'] },
        },
        by: { 'x-set': 'owner' },
        buyer: { type: ['string', 'null'], 'x-ref': 'people' },
      },
      required: ['title', 'by', 'state'],
      additionalProperties: false,
    },
  };

  it('follow the schema of a collection that has one, and not its sample', async () => {
    bed.fake.collections.set(1001, [orders]);
    const read = async (path: string) =>
      text(await bed.call('GET', base + path, { token: owner() }));
    for (const path of documents) expect(await read(path)).not.toContain('quokkaCount');
    expect(await read('/types.d.ts')).toContain(`export type Orders = {
  state?: "open" | "done";
  /** What is * / ordered */
  title: string;
  items?: ({
    n: number;
  })[];
  /** Written by the server. */
  by?: string;
  /** Id of a record of people. */
  buyer?: string | null;
};`);
    expect(await read('/llms.txt')).toContain(
      '"state": "open" or "done"; "title": string; "items"?: array; "items.n": number; "by": string; "buyer"?: string or null',
    );
    const { schemas } = JSON.parse(await read('/openapi.json')).components;
    expect(schemas.OrdersData.properties).toMatchObject({ by: { readOnly: true }, title: {} });
    expect(schemas.OrdersData.additionalProperties).toBe(false);
    expect(schemas.OrdersRequest.properties.data).toEqual({
      allOf: [{ $ref: '#/components/schemas/OrdersData' }, { required: ['title'] }],
    });
    expect(schemas.Orders.properties).toMatchObject({ id: {}, title: {} });
  });

  it('are counted as reads', async () => {
    const { headers } = await bed.call('GET', `${base}/llms.txt`);
    expect(headers.get('ratelimit')).toMatch(/^"caller";r=1199;/);
  });

  it('wait for the records service no longer than it answers', async () => {
    const failing = await createTestBed({
      deps: { shapes: { describe: () => Promise.reject(new Error('down')) } },
    });
    const answer = await failing.call('GET', `${base}/types.d.ts`, { token: secretKey });
    expect([answer.status, answer.body.code]).toEqual([503, 'unavailable']);
    expect((await failing.call('GET', `${base}/llms.txt`)).status).toBe(200);
    await failing.close();
  });

  it('describe the collections as TypeScript', async () => {
    const { body } = await bed.call('GET', `${base}/types.d.ts`, { token: secretKey });
    expect(
      body,
    ).toBe(`// The collections of https://api.example.org/api/runtime/demo, as their schemas say, or a sample of their records shows.
// A record has id, ownerId, createdAt and updatedAt besides, which createClient<Project>() adds.

export interface Project {
  /** private, 7 records */
  "todo-items": TodoItems;
  /** shared, 0 records */
  Project: Project2;
}

export interface TodoItems {
  title: string;
  status?: "done" | "open" | (string & {});
  steps: ({
    walrusCount: number;
  })[] | null;
  "due at": unknown;
}

export type Project2 = { [name: string]: unknown };
`);
  });

  it('say of a collection with rules of its own no more than that', async () => {
    const rules = { read: 'anyone', create: 'users' } as unknown as CollectionShape['access'];
    bed.fake.collections.set(1001, [{ ...todos, access: rules }]);
    for (const path of ['/types.d.ts', '/llms.txt']) {
      const { body } = await bed.call('GET', base + path, { token: secretKey });
      expect(body).toContain('rules of its own, 7 records');
    }
  });

  it('describe the collections in OpenAPI, with named schemas, beside the general paths', async () => {
    const { body } = await bed.call('GET', `${base}/openapi.json`, { token: secretKey });
    expect(body.servers).toEqual([{ url: 'https://api.example.org/api/runtime/demo' }]);
    expect(Object.keys(body.paths)).toEqual(
      expect.arrayContaining(['/db/todo-items', '/db/todo-items/{id}', '/db/{collection}']),
    );
    expect(body.components.schemas.TodoItemsData.properties).toEqual({
      title: { type: 'string' },
      status: { type: 'string', examples: ['done', 'open'] },
      steps: {
        anyOf: [
          {
            type: 'array',
            items: { type: 'object', properties: { walrusCount: { type: 'number' } } },
          },
          { type: 'null' },
        ],
      },
      'due at': { type: 'null' },
    });
    const { get, post } = body.paths['/db/todo-items'];
    const place = '#/components/schemas/';
    expect(get.responses['200'].content['application/json'].schema.$ref).toBe(
      `${place}TodoItemsPage`,
    );
    expect(post.requestBody.content['application/json'].schema.$ref).toBe(
      `${place}TodoItemsRequest`,
    );
    const { TodoItemsPage, TodoItemsRequest } = body.components.schemas;
    expect(TodoItemsPage.properties.items.items.$ref).toBe(`${place}TodoItems`);
    expect(TodoItemsRequest.properties.data.$ref).toBe(`${place}TodoItemsData`);
    const operationIds = Object.values<object>(body.paths)
      .flatMap((methods) => Object.values<{ operationId?: string }>(methods as never))
      .flatMap(({ operationId }) => operationId ?? []);
    expect(new Set(operationIds).size).toBe(operationIds.length);
  });

  it('for agents name every collection, and as many fields of each as there is room for', async () => {
    const fields = Array.from({ length: 50 }, (_, n) => ({
      path: `field${n}`,
      types: ['string' as const],
      share: 1,
    }));
    const many = Array.from({ length: 50 }, (_, n) => ({
      ...empty,
      name: `things${n}`,
      count: 9,
      sampled: 9,
      fields: n % 2 ? fields : [],
    }));
    const notSampled = { ...empty, name: 'late', count: 9 };
    bed.fake.collections.set(1001, [todos, ...many, notSampled]);
    const { body } = await bed.call('GET', `${base}/llms.txt`, { token: secretKey });
    const lines = body.match(/^- `.* records\).*/gm);
    expect(lines[0]).toBe(
      '- `todo-items` (private, 7 records): "title": string; "status"?: "done" or "open"; 3 more',
    );
    expect(lines[1]).toBe('- `things0` (shared, 9 records)');
    for (const line of [lines[2], lines[50]])
      expect(line).toMatch(
        /^- `things\d+` \(shared, 9 records\): "field0": string; ("field\d": string; )+4\d more$/,
      );
    expect(lines[51]).toBe('- `late` (shared, 9 records): more');
    expect(body).toContain('GET https://api.example.org/api/platform/projects/demo/collections/');
  });

  it('for agents stay below 4,000 and 20,000 tokens, whatever the project holds', async () => {
    const project = (letters: string) =>
      Array.from({ length: 100 }, (_, n) => ({
        name: `collection${n}`.padEnd(63, '_'),
        access: 'shared' as const,
        count: 1e6,
        sampled: 1000,
        hasMoreFields: true,
        fields: Array.from({ length: n % 2 ? 200 : 5 }, (_, m) => ({
          path: `${letters.repeat(n % 20)}${m}`,
          types: ['string' as const],
          share: 0.5,
        })),
      }));
    for (const letters of ['long', '名前', '𠀀𠀁']) {
      bed.fake.collections.set(1001, project(letters));
      const brief = await bed.call('GET', `${base}/llms.txt`, { token: secretKey });
      const full = await bed.call('GET', `${base}/llms-full.txt`, { token: secretKey });
      expect(brief.body).toMatch(/^- \d+ more collections$/m);
      expect(tokens(brief.body)).toBeLessThan(4000);
      expect(tokens(full.body)).toBeLessThan(20_000);
    }
  });

  it('for agents name what lists, shares, mails and images can, and sizes as the contract has them', async () => {
    const { body } = await bed.call('GET', '/llms.txt');
    for (const name of Object.keys(recordRoutes.listRecords.query.shape))
      expect(body).toMatch(new RegExp(`takes \`[a-z ]*\\b${name}\\b`));
    for (const words of ['_aggregate', '_count', '_shares', 'to: "owner"', '?width=320', '"image"'])
      expect(body).toContain(words);
    const megabytes = (bytes: number) => `${bytes / 2 ** 20} MB`;
    for (const size of [
      `at most ${defaultBodyLimitBytes / 1024} KB`,
      `records ${megabytes(recordRoutes.createRecord.bodyLimitBytes)}`,
      `a batch ${megabytes(recordRoutes.writeBatch.bodyLimitBytes)}`,
      `a record ${megabytes(maxRecordBytes)}`,
      `a file ${megabytes(storageRoutes.defaultUploadBytes)}`,
      `at most ${recordRoutes.maxBatchOperations}, all or none`,
    ])
      expect(body).toContain(size);
    expect(body).toContain('npm install https://api.example.org/packages/backlot-client.tgz');
    expect(body).toContain('npx https://api.example.org/packages/backlot-cli.tgz');
  });

  it('for agents are there for every project, at the root', async () => {
    const { status, headers, body } = await bed.call('GET', '/llms.txt');
    expect([status, headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
    expect(body).toContain('https://api.example.org/api/runtime/<project>');
    expect(tokens(body)).toBeLessThan(4000);
    const full = await bed.call('GET', '/llms-full.txt');
    expect(full.body).toContain('### Access');
    expect(tokens(full.body)).toBeLessThan(20_000);
    const owners = await bed.call('GET', '/llms-owners.txt');
    expect(owners.body).toContain('## Secret keys');
    expect(tokens(owners.body)).toBeLessThan(20_000);
  });
});

it('the description of the API is one copy of bytes for all who do not read it', () => {
  const description = createDescription({ openapi: '3.1.0' }, 'https://api.example.org');
  const [one, other] = [description.ofProject('one'), description.ofProject('other')];
  expect(one[0]).toBe(other[0]);
  expect(one.at(-1)).toBe(other.at(-1));
  const { servers } = JSON.parse(Buffer.concat(one).toString());
  expect(servers).toEqual([{ url: 'https://api.example.org/api/runtime/one' }]);
});
