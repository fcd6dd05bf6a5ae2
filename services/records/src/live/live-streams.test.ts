import type { Database } from '@backlot/database';
import { connections } from '@backlot/fair-shares';
import { deriveOwnKeys, type Identity } from '@backlot/identity';
import { anonymous, asUser, testIdentityKeys, testProject, until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createChannels } from '../channels/channels.ts';
import type { Collection } from '../collections/collections.ts';
import { ada, createTestBed, type TestBed } from '../testing/test-bed.ts';
import { parseAskedEvents } from './asked-events.ts';
import { createLiveStreams } from './live-streams.ts';

const noChannels = () =>
  createChannels({
    publish: async () => {},
    process: 'one',
    now: Date.now,
    clock: performance.now.bind(performance),
    isWatchedElsewhere: () => false,
    onFailure() {},
  });

describe('streams that have missed some', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());

  it('are told of it in turn, and come back later where too many are', async () => {
    for (let n = 0; n < 3; n++) await bed.create('missed', { n });
    const [{ id } = { id: 0 }] = await bed.database.query<{ id: number }>(
      'SELECT coll_id AS id FROM collections WHERE project_id = $1',
      [testProject.number],
    );
    const projectNumber = testProject.number;
    const found = { id, projectNumber, name: 'missed', access: 'shared' } as Collection;
    const catchUps = connections({ places: 1, maxWaiting: 1 });
    const failures: unknown[] = [];
    const streams = createLiveStreams({
      database: bed.database,
      find: async () => found,
      forget() {},
      cursorKeys: deriveOwnKeys(testIdentityKeys('records'), 'records', 'list cursor'),
      now: bed.clock.now,
      catchUps,
      onFailure: (error) => void failures.push(error),
      onWatch() {},
      channels: noChannels(),
    });
    const identity = asUser(ada);
    const gone = new AbortController();
    const open = async (lastEventId?: string) => {
      const asked = parseAskedEvents({ collections: 'missed' }, identity);
      const stream = await streams.open(identity, asked, lastEventId, gone.signal);
      return stream[Symbol.asyncIterator]();
    };
    const read = async (stream: AsyncIterator<string>) => (await stream.next()).value as string;
    // Transactions of other tests hold the log back, and what they held back is told behind `ready`.
    const readTo = async (stream: AsyncIterator<string>, text: string) => {
      const looks = setInterval(() => void streams.lookAtAll(), 50);
      try {
        while (!(await read(stream)).includes(text));
      } finally {
        clearInterval(looks);
      }
    };
    const first = await open();
    const [, lastEventId] = /id: (.*)/.exec(await read(first)) ?? [];
    await bed.create('missed', { n: 4 });
    await readTo(first, '"n": 4}');

    const release = await catchUps.take(['owner', 'project', 'address']);
    const late = await open(lastEventId);
    expect(await read(late)).not.toContain('event: change');
    const refused = await open(lastEventId);
    const told = [await read(refused)];
    if (!told[0]?.includes('event: end')) told.push(await read(refused));
    expect(told.join('')).toContain('{"reason":"restart"}');
    release();
    await readTo(late, '"n": 4}');
    gone.abort();
    for (const stream of [first, late, refused]) await stream.return?.();
    expect([streams.watched(), failures]).toEqual([[], []]);
  });

  it('who joins while the log is read misses nothing of what nobody else watches', async () => {
    for (const name of ['watched', 'alone']) await bed.create(name, { n: 0 });
    const projectNumber = testProject.number;
    let hold: Promise<void> | undefined;
    let held = 0;
    // As a statement that waits for a connection: it sees what was committed meanwhile.
    const database: Database = {
      ...bed.database,
      async query<Row>(text: string, values?: readonly unknown[]) {
        const waits = hold;
        hold = undefined;
        if (waits !== undefined) held += 1;
        await waits;
        return bed.database.query<Row>(text, values);
      },
    };
    const streams = createLiveStreams({
      database,
      async find(_project, name) {
        const [row] = await bed.database.query<{ id: number }>(
          'SELECT coll_id AS id FROM collections WHERE project_id = $1 AND name = $2',
          [projectNumber, name],
        );
        return { id: row?.id, projectNumber, name, access: 'shared' } as Collection;
      },
      forget() {},
      cursorKeys: deriveOwnKeys(testIdentityKeys('records'), 'records', 'list cursor'),
      now: bed.clock.now,
      catchUps: connections({ places: 1, maxWaiting: 1 }),
      onFailure() {},
      onWatch() {},
      channels: noChannels(),
    });
    const gone = new AbortController();
    const open = async (collections: string) => {
      const asked = parseAskedEvents({ collections }, asUser(ada));
      const stream = await streams.open(asUser(ada), asked, undefined, gone.signal);
      return stream[Symbol.asyncIterator]();
    };
    const first = await open('watched');
    await streams.lookAtAll();
    let release = () => {};
    hold = new Promise((resolve) => {
      release = resolve;
    });
    await until(() => {
      void streams.lookAtAll();
      return held === 1;
    });
    const late = await open('alone');
    await bed.create('alone', { n: 1 });
    // Other tests hold the log back; what it has is told then.
    await until(async () => {
      const rows = await bed.database.query(
        `SELECT FROM changes WHERE project_id = $1 AND xid >= pg_snapshot_xmin(pg_current_snapshot())`,
        [projectNumber],
      );
      return rows.length === 0;
    });
    release();
    const looks = setInterval(() => void streams.lookAtAll(), 50);
    const texts: string[] = [];
    while (!texts.join('').includes('"n": 1}')) {
      const { value } = await late.next();
      texts.push(value);
    }
    clearInterval(looks);
    gone.abort();
    for (const stream of [first, late]) await stream.return?.();
  });

  it('are told the first record of a collection before they hear that it was made', async () => {
    const { number: projectNumber } = testProject;
    const known = new Map<string, Collection | null>();
    const find = async (_project: number, name: string) => {
      const [row] = await bed.database.query<{ id: number }>(
        'SELECT coll_id AS id FROM collections WHERE project_id = $1 AND name = $2',
        [projectNumber, name],
      );
      if (!known.has(name))
        known.set(
          name,
          row ? ({ id: row.id, projectNumber, name, access: 'shared' } as never) : null,
        );
      return known.get(name) ?? null;
    };
    const streams = createLiveStreams({
      database: bed.database,
      find,
      forget: (_project, name) => void known.delete(name),
      cursorKeys: deriveOwnKeys(testIdentityKeys('records'), 'records', 'list cursor'),
      now: bed.clock.now,
      catchUps: connections({ places: 1, maxWaiting: 1 }),
      onFailure() {},
      onWatch() {},
      channels: noChannels(),
    });
    const gone = new AbortController();
    const open = async (name: string, lastEventId?: string) => {
      const asked = parseAskedEvents({ collections: name }, asUser(ada));
      const stream = await streams.open(asUser(ada), asked, lastEventId, gone.signal);
      return stream[Symbol.asyncIterator]();
    };
    const readTo = async (stream: AsyncIterator<string>, text: string) => {
      const looks = setInterval(() => void streams.lookAtAll(), 50);
      let told = '';
      while (!told.includes(text)) told = (await stream.next()).value;
      clearInterval(looks);
      return told;
    };
    const early = await open('early');
    const [, lastEventId] = /id: (.*)/.exec(await readTo(early, 'event: ready')) ?? [];
    await bed.create('early', { n: 1 });
    await readTo(early, '"n": 1}');
    known.set('early', null);
    const resumed = await open('early', lastEventId);
    await readTo(resumed, '"n": 1}');
    gone.abort();
    for (const stream of [early, resumed]) await stream.return?.();
  });

  it('begin anew under other rules of which nobody has told them, and end where nothing is left', async () => {
    const { number: projectNumber } = testProject;
    let access: Collection['access'] = 'shared';
    const streams = createLiveStreams({
      database: bed.database,
      find: async (_project, name) => ({ id: 1, projectNumber, name, access }) as Collection,
      forget() {},
      cursorKeys: deriveOwnKeys(testIdentityKeys('records'), 'records', 'list cursor'),
      now: bed.clock.now,
      catchUps: connections({ places: 1, maxWaiting: 1 }),
      onFailure() {},
      onWatch() {},
      channels: noChannels(),
    });
    const gone = new AbortController();
    const open = async (identity: Identity) => {
      const asked = parseAskedEvents({ collections: 'quiet' }, identity);
      const stream = await streams.open(identity, asked, undefined, gone.signal);
      return stream[Symbol.asyncIterator]();
    };
    const read = async (stream: AsyncIterator<string>) => {
      const looks = setInterval(() => void streams.lookAtAll(), 20);
      try {
        for (;;) {
          const text = (await stream.next()).value as string;
          if (!text.startsWith(':')) return text;
        }
      } finally {
        clearInterval(looks);
      }
    };
    const [user, visitor] = [await open(asUser(ada)), await open(anonymous())];
    for (const stream of [user, visitor]) expect(await read(stream)).toContain('event: ready');
    access = 'private';
    bed.clock.pass(10_000);
    expect(await read(user)).toContain('event: reset\ndata: {"reason":"access"}');
    expect(await read(visitor)).toContain('event: end\ndata: {"reason":"access"}');
    gone.abort();
    for (const stream of [user, visitor]) await stream.return?.();
  });
});
