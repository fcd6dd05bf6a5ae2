import type { Database } from '@backlot/database';
import { connections } from '@backlot/fair-shares';
import { deriveOwnKeys, type Identity } from '@backlot/identity';
import { anonymous, asUser, testIdentityKeys, testProject, until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createChannels } from '../channels/channels.ts';
import type { Collection } from '../collections/collections.ts';
import { ada, createTestBed, type TestBed } from '../testing/test-bed.ts';
import { parseAskedEvents } from './asked-events.ts';
import { createLiveStreams, type LiveStreams, type LiveStreamsDeps } from './live-streams.ts';

const noChannels = () =>
  createChannels({
    publish: async () => {},
    process: 'one',
    now: Date.now,
    clock: performance.now.bind(performance),
    isWatchedElsewhere: () => false,
    onFailure() {},
  });

const { number: projectNumber } = testProject;

interface Opening {
  lastEventId?: string | undefined;
  identity?: Identity;
}

const read = async (stream: AsyncIterator<string>): Promise<string> => (await stream.next()).value;

/** Transactions of other tests hold the log back, and what they held back is told later. */
const readTo = async (streams: LiveStreams, stream: AsyncIterator<string>, text: string) => {
  const looks = setInterval(() => void streams.lookAtAll(), 50);
  try {
    for (let told = ''; ; ) {
      told += await read(stream);
      if (told.includes(text)) return told;
    }
  } finally {
    clearInterval(looks);
  }
};

describe('streams that have missed some', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());

  const readCollection = async (name: string, access: unknown = 'shared') => {
    const [row] = await bed.database.query<{ id: number }>(
      'SELECT coll_id AS id FROM collections WHERE project_id = $1 AND name = $2',
      [projectNumber, name],
    );
    return row ? ({ id: row.id, projectNumber, name, access } as Collection) : null;
  };
  const createStreams = (deps: Partial<LiveStreamsDeps> = {}) => {
    const streams = createLiveStreams({
      database: bed.database,
      find: (_project, name) => readCollection(name),
      forget() {},
      cursorKeys: deriveOwnKeys(testIdentityKeys('records'), 'records', 'list cursor'),
      now: bed.clock.now,
      catchUps: connections({ places: 1, maxWaiting: 1 }),
      onFailure() {},
      onWatch() {},
      channels: noChannels(),
      ...deps,
    });
    const gone = new AbortController();
    const opened: AsyncIterator<string>[] = [];
    const open = async (
      collections: string,
      { lastEventId, identity = asUser(ada) }: Opening = {},
    ) => {
      const asked = parseAskedEvents({ collections }, identity);
      const stream = await streams.open(identity, asked, lastEventId, gone.signal);
      const iterator = stream[Symbol.asyncIterator]();
      opened.push(iterator);
      return iterator;
    };
    const close = async () => {
      gone.abort();
      for (const stream of opened) await stream.return?.();
    };
    return { streams, open, close };
  };
  /** The same database, with something done around a statement. */
  const meddled = (
    around: <R>(run: () => Promise<R>, text: string, values: readonly unknown[]) => Promise<R>,
  ): Database => ({
    ...bed.database,
    query: <Row>(text: string, values: readonly unknown[] = []) =>
      around(() => bed.database.query<Row>(text, values), text, values),
  });
  /** What is told now is not held back by other tests' transactions. */
  const isSettled = async () => {
    const rows = await bed.database.query(
      `SELECT FROM changes WHERE project_id = $1 AND xid >= pg_snapshot_xmin(pg_current_snapshot())`,
      [projectNumber],
    );
    return rows.length === 0;
  };

  it('are told of it in turn, and come back later where too many are', async () => {
    for (let n = 0; n < 3; n++) await bed.create('missed', { n });
    const catchUps = connections({ places: 1, maxWaiting: 1 });
    const failures: unknown[] = [];
    const { streams, open, close } = createStreams({
      catchUps,
      onFailure: (error) => void failures.push(error),
    });
    const first = await open('missed');
    const [, lastEventId] = /id: (.*)/.exec(await read(first)) ?? [];
    await bed.create('missed', { n: 4 });
    await readTo(streams, first, '"n": 4}');

    const release = await catchUps.take(['owner', 'project', 'address']);
    const late = await open('missed', { lastEventId });
    expect(await read(late)).not.toContain('event: change');
    const refused = await open('missed', { lastEventId });
    const told = [await read(refused)];
    if (!told[0]?.includes('event: end')) told.push(await read(refused));
    expect(told.join('')).toContain('{"reason":"restart"}');
    release();
    await readTo(streams, late, '"n": 4}');
    await close();
    expect([streams.watched(), failures]).toEqual([[], []]);
  });

  it('who joins while the log is read misses nothing of what nobody else watches', async () => {
    for (const name of ['watched', 'alone']) await bed.create(name, { n: 0 });
    let hold: Promise<void> | undefined;
    let held = 0;
    const { streams, open, close } = createStreams({
      // As a statement that waits for a connection: it sees what was committed meanwhile.
      database: meddled(async (run) => {
        const waits = hold;
        hold = undefined;
        if (waits !== undefined) held += 1;
        await waits;
        return run();
      }),
    });
    await open('watched');
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
    await until(isSettled);
    release();
    await readTo(streams, late, '"n": 1}');
    await close();
  });

  it('who joins between the reading and the telling of a page is told of it', async () => {
    for (const name of ['seen', 'other']) await bed.create(name, { n: 0 });
    const { promise: isRead, resolve: pageIsRead } = Promise.withResolvers<void>();
    const { promise: hasJoined, resolve: joined } = Promise.withResolvers<void>();
    let opens = 0;
    const { streams, open, close } = createStreams({
      database: meddled(async (run, text, values) => {
        const result = await run();
        // Where the second stream begins, before what the page has.
        const isEnd = values[5] === 0;
        if (isEnd && ++opens === 2) await isRead;
        if (text.startsWith('SELECT name FROM collections')) {
          pageIsRead();
          await hasJoined;
        }
        return result;
      }),
    });
    const first = await open('seen,unmade');
    const opening = open('seen');
    await until(() => opens === 2);
    for (const name of ['seen', 'other']) await bed.create(name, { n: 1 });
    await until(isSettled);
    const looking = streams.lookAtAll();
    const late = await opening;
    joined();
    await looking;
    await readTo(streams, first, '"n": 1}');
    await readTo(streams, late, '"n": 1}');
    await close();
  });

  it('are told the first record of a collection before they hear that it was made', async () => {
    const known = new Map<string, Collection | null>();
    const { streams, open, close } = createStreams({
      async find(_project, name) {
        const now = await readCollection(name);
        if (!known.has(name)) known.set(name, now);
        return known.get(name) ?? null;
      },
      forget: (_project, name) => void known.delete(name),
    });
    const early = await open('early');
    const [, lastEventId] = /id: (.*)/.exec(await readTo(streams, early, 'event: ready')) ?? [];
    await bed.create('early', { n: 1 });
    await readTo(streams, early, '"n": 1}');
    known.set('early', null);
    const resumed = await open('early', { lastEventId });
    await readTo(streams, resumed, '"n": 1}');
    await close();
  });

  it('are told the first record where others know already that the collection was made', async () => {
    let isHeard = false;
    const { streams, open, close } = createStreams({
      find: async (_project, name) => (isHeard ? readCollection(name) : null),
    });
    const unaware = await open('both');
    await readTo(streams, unaware, 'event: ready');
    await streams.lookAtAll();
    isHeard = true;
    await bed.create('both', { n: 1 });
    const aware = await open('both');
    await readTo(streams, unaware, '"n": 1}');
    await bed.create('both', { n: 2 });
    for (const stream of [aware, unaware]) await readTo(streams, stream, '"n": 2}');
    await close();
  });

  it('miss nothing where who has a share can not be read at first', async () => {
    const access = { read: ['owner', 'shared'], create: ['users'], change: ['owner'] };
    await bed.create('given', { n: 1 }, asUser(ada));
    let failures = 0;
    const { streams, open, close } = createStreams({
      find: (_project, name) => readCollection(name, access),
      database: meddled(async (run, text) => {
        if (text.includes('FROM shares') && failures++ === 0) throw new Error('It is down.');
        return run();
      }),
    });
    const stream = await open('given');
    await readTo(streams, stream, 'event: ready');
    await bed.create('given', { n: 2 }, asUser(ada));
    await readTo(streams, stream, '"n": 2}');
    expect(failures).toBeGreaterThan(1);
    await close();
  });

  it('begin anew under other rules of which nobody has told them, and end where nothing is left', async () => {
    let access: Collection['access'] = 'shared';
    const { streams, open, close } = createStreams({
      find: async (_project, name) => ({ id: 1, projectNumber, name, access }) as Collection,
    });
    const user = await open('quiet');
    const visitor = await open('quiet', { identity: anonymous() });
    for (const stream of [user, visitor]) await readTo(streams, stream, 'event: ready');
    access = 'private';
    bed.clock.pass(10_000);
    expect(await readTo(streams, user, 'event: reset')).toContain('{"reason":"access"}');
    expect(await readTo(streams, visitor, 'event: end')).toContain('{"reason":"access"}');
    await close();
  });

  it('are told by the rules of now while they catch up', async () => {
    let access = 'shared';
    const catchUps = connections({ places: 1, maxWaiting: 9 });
    const { streams, open, close } = createStreams({
      catchUps,
      find: (_project, name) => readCollection(name, access),
    });
    await bed.create('closing', { n: 0 });
    const first = await open('closing');
    const [, lastEventId] = /id: (.*)/.exec(await readTo(streams, first, 'event: ready')) ?? [];
    await bed.create('closing', { n: 1 });
    await readTo(streams, first, '"n": 1}');
    const release = await catchUps.take(['owner', 'project', 'address']);
    const late = await open('closing', { lastEventId });
    access = 'private';
    release();
    await bed.create('closing', { n: 2 }, asUser(ada));
    const told = await readTo(streams, late, '"n": 2}');
    expect(told).toContain('event: reset\ndata: {"reason":"access"}');
    expect(told).not.toContain('"n": 1}');
    await close();
  });
});
