import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { newId } from '../new-id.ts';

type Fields = Record<string, unknown>;
type Kept = Fields & { id: string; ownerId: string | null; updatedAt: string };

interface Stream {
  res: ServerResponse;
  query: URLSearchParams;
  /** Entries of the log that have been told. */
  told: number;
}

const fits = (record: Fields | undefined, where: Fields): boolean =>
  record !== undefined &&
  Object.entries(where).every(([name, value]) =>
    name === '$or'
      ? (value as Fields[]).some((part) => fits(record, part))
      : record[name] === value,
  );

const readBody = async (req: IncomingMessage): Promise<Fields> => {
  let text = '';
  for await (const part of req) text += part;
  return text === '' ? {} : JSON.parse(text);
};

/** A token as the platform's are made up, of nobody else's interest. */
export const toToken = (userId: string): string =>
  `x.${btoa(JSON.stringify({ sub: userId, iat: 0, exp: 4e9 }))}.x`;

/**
 * Lists, changes and their stream as docs/api.md has them: equality alone, and one project.
 * @param files what a page loads, by path
 */
export const startLiveServer = async (files: Readonly<Record<string, string>> = {}) => {
  const collections = new Map<string, Kept[]>();
  const log: { collection: string; before?: Kept; now?: Kept; changedAt: string }[] = [];
  const streams = new Set<Stream>();
  const calls: string[] = [];
  /** What is to be answered in place of what would be. */
  let refusal: ((call: string) => number | undefined) | undefined;
  /** Waits before an answer. */
  let hold: ((call: string) => Promise<void> | undefined) | undefined;
  let lost = 0;

  const recordsIn = (name: string) => {
    const records = collections.get(name) ?? [];
    collections.set(name, records);
    return records;
  };
  /** A position is of what was asked for. */
  const idOf = (at: number, query: URLSearchParams) => `${at};${query}`;
  const write = (res: ServerResponse, event: string, id: string, data: object) =>
    res.write(`id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  const tell = (stream: Stream) => {
    const names = (stream.query.get('collections') ?? '').split(',');
    for (; stream.told < log.length; stream.told++) {
      const { collection, before, now, changedAt } = log[stream.told] ?? {};
      if (!collection || !names.includes(collection)) continue;
      const where = JSON.parse(stream.query.get(`where.${collection}`) ?? '{}');
      const [was, is] = [fits(before, where), fits(now, where)];
      if (!was && !is) continue;
      const type = !is ? (now ? 'leave' : 'delete') : before ? 'update' : 'create';
      const id = (now ?? before)?.id;
      const record = is ? { record: now } : {};
      const seq = stream.told + 1;
      write(stream.res, 'change', idOf(seq, stream.query), {
        collection,
        seq,
        type,
        id,
        ...record,
        changedAt,
      });
    }
  };
  const change = (collection: string, before: Kept | undefined, now: Kept | undefined) => {
    const changedAt = now?.updatedAt ?? new Date().toISOString();
    log.push({ collection, changedAt, ...(before && { before }), ...(now && { now }) });
    for (const stream of streams) tell(stream);
  };
  const put = (name: string, record: Kept) => {
    const records = recordsIn(name);
    const at = records.findIndex(({ id }) => id === record.id);
    const before = records[at];
    if (at === -1) records.push(record);
    else records[at] = record;
    change(name, before, record);
    return record;
  };
  const create = (name: string, data: Fields, ownerId: string | null = null): Kept => {
    const now = new Date().toISOString();
    return put(name, { ...data, id: newId(), ownerId, createdAt: now, updatedAt: now });
  };
  const update = (name: string, id: string, data: Fields): Kept | undefined => {
    const record = recordsIn(name).find((one) => one.id === id);
    return record && put(name, { ...record, ...data, updatedAt: new Date().toISOString() });
  };
  const remove = (name: string, id: string) => {
    const record = recordsIn(name).find((one) => one.id === id);
    collections.set(
      name,
      recordsIn(name).filter((one) => one.id !== id),
    );
    if (record) change(name, record, undefined);
  };

  const openStream = (req: IncomingMessage, res: ServerResponse, query: URLSearchParams) => {
    const last = req.headers['last-event-id']?.toString();
    const at = Number.parseInt(last ?? '', 10);
    const isLost = last !== undefined && (at < lost || last !== idOf(at, query));
    const told = last === undefined || isLost ? log.length : at;
    const stream = { res, query, told };
    res.writeHead(200, { 'Content-Type': 'text/event-stream' });
    write(res, 'ready', idOf(told, query), {});
    if (isLost) write(res, 'reset', idOf(told, query), {});
    streams.add(stream);
    res.on('close', () => streams.delete(stream));
    tell(stream);
  };
  const list = (name: string, query: URLSearchParams) => {
    const where = JSON.parse(query.get('where') ?? '{}');
    const sort = query.get('sort') ?? '-id';
    const field = sort.replace('-', '');
    const found = recordsIn(name)
      .filter((record) => fits(record, where))
      .sort((a, b) => (String(a[field]) < String(b[field]) ? -1 : 1) * (sort === field ? 1 : -1));
    const limit = Number(query.get('limit') ?? 100);
    return { items: found.slice(0, limit), hasMore: found.length > limit, nextCursor: null };
  };

  const server = createServer(async (req, res) => {
    const url = new URL(req.url ?? '', 'http://x');
    const file = files[url.pathname];
    if (file !== undefined) {
      const type = url.pathname.endsWith('.js') ? 'text/javascript' : 'text/html';
      return res.writeHead(200, { 'Content-Type': type }).end(file);
    }
    const [, collection = '', id] = /^\/p\/x\/db\/([^/]+)\/?(.*)$/.exec(url.pathname) ?? [];
    const call = `${req.method} ${url.pathname.slice(4)}`;
    calls.push(call);
    const body = await readBody(req);
    await hold?.(call);
    const status = refusal?.(call);
    const answer = (json: object, code = 200) =>
      res.writeHead(code, { 'Content-Type': 'application/json' }).end(JSON.stringify(json));
    if (status) return answer({ error: `No: ${status}.`, code: 'no' }, status);
    if (url.pathname === '/p/x/events') return openStream(req, res, url.searchParams);
    const [, payload] = req.headers.authorization?.split('.') ?? [];
    const userId = payload ? JSON.parse(atob(payload)).sub : null;
    if (req.method === 'POST') return answer(create(collection, body.data as Fields, userId), 201);
    if (req.method === 'PATCH')
      return answer(update(collection, id ?? '', body.data as Fields) ?? {});
    if (req.method === 'DELETE') {
      remove(collection, id ?? '');
      return answer({});
    }
    return answer(
      id === '_changes' ? { items: [], cursor: '1' } : list(collection, url.searchParams),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/p/x`,
    calls,
    streams,
    create,
    update,
    remove,
    refuse(by: typeof refusal) {
      refusal = by;
    },
    hold(by: typeof hold) {
      hold = by;
    },
    /** Breaks all connections of streams. */
    cut() {
      for (const { res } of streams) res.destroy();
    },
    /** What happened so far can not be told to who comes back. */
    forget() {
      lost = log.length + 1;
    },
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
