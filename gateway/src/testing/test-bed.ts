import { createHash, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Bus, createInProcessBus } from '@backlot/bus';
import {
  type CallBatch,
  type CollectionShape,
  defaultLimits,
  type HostDirectory,
  type KeySnapshot,
  type KnownUser,
  type OperatorDirectory,
  type OperatorSnapshot,
  type ProjectDirectory,
  type ProjectSnapshot,
  type ServiceName,
  type SessionDirectory,
  type SessionSnapshot,
  type ShapeDirectory,
  type UserDirectory,
} from '@backlot/contract';
import { type Counters, createMemoryCounters } from '@backlot/counters';
import { type Identity, identityHeader } from '@backlot/identity';
import { createLogger } from '@backlot/telemetry';
import { readIdentity, testIdentityKeys } from '@backlot/testing';
import jwt from 'jsonwebtoken';
import { defaultAddressBounds } from '../addresses/address-bounds.ts';
import { createGateway } from '../gateway.ts';
import type { Gateway, GatewayDeps } from '../gateway-deps.ts';
import { createInProcessUpstream } from '../upstream/in-process.ts';
import type { Upstream } from '../upstream/upstream.ts';

export const sha256 = (text: string): string =>
  createHash('sha256').update(text).digest('base64url');

export const operatorToken = 'operator-token-for-tests';
export const ownerId = '018f0000-0000-7000-8000-00000000aaaa';
export const userId = '018f0000-0000-7000-8000-00000000bbbb';
export const secretKey = `bk_${'k'.repeat(43)}`;

export const projectSnapshot = (
  changes: Partial<ProjectSnapshot> & { id: string; number: number },
): ProjectSnapshot => ({
  name: changes.id,
  ownerId,
  status: 'active',
  settings: {},
  limits: defaultLimits,
  ...changes,
});

export interface SeenCall {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  identity: Identity;
  body: string;
}

/** A service that answers with what it saw. */
export const echoService =
  (seen: SeenCall[]): RequestListener =>
  (req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      const call = {
        method: req.method ?? '',
        url: req.url ?? '',
        headers: req.headers,
        identity: readIdentity(req.headers[identityHeader]),
        body: Buffer.concat(chunks).toString(),
      };
      seen.push(call);
      const text = JSON.stringify(call);
      res.writeHead(200, {
        'Content-Type': 'application/json; charset=utf-8',
        'Content-Length': Buffer.byteLength(text),
      });
      res.end(text);
    });
  };

export interface FakeDirectories {
  projects: Map<string, ProjectSnapshot>;
  keys: Map<string, KeySnapshot>;
  operators: Map<string, OperatorSnapshot>;
  /** Ids of projects, by their owners' host names. */
  hosts: Map<string, string>;
  /** `<project number>:<session id>` */
  ended: Set<string>;
  /** What is known of every session that has not ended. */
  session: SessionSnapshot;
  /** Look-ups so far, as `findProject demo`. */
  asked: string[];
  /** While set, every look-up waits for it or fails with it. */
  gate: Promise<unknown> | undefined;
  directory: ProjectDirectory & OperatorDirectory & HostDirectory;
  sessions: SessionDirectory;
  /** Of each project by its number. */
  collections: Map<number, CollectionShape[]>;
  shapes: ShapeDirectory;
  /** Of each project, by `<project number>:<user id>`. */
  people: Map<string, KnownUser>;
  users: UserDirectory;
  /** What was handed to the log of calls. */
  batches: CallBatch[];
}

export const createFakeDirectories = (
  signingKeys: { kid: string; publicKey: KeyObject }[],
): FakeDirectories => {
  const fake: FakeDirectories = {
    projects: new Map(),
    keys: new Map(),
    operators: new Map(),
    hosts: new Map(),
    ended: new Set(),
    session: { role: 'user', groups: [] },
    asked: [],
    gate: undefined,
    collections: new Map(),
    people: new Map(),
    users: {
      findRoleAndGroups: (number, id) =>
        look(`findUser ${number}:${id}`, () => fake.people.get(`${number}:${id}`) ?? null),
      findHolder: async () => null,
    },
    batches: [],
    shapes: {
      describe: ({ project: { number } }) =>
        look(`describe ${number}`, () => fake.collections.get(number) ?? []),
    },
    directory: {
      findProject: (id) => look(`findProject ${id}`, () => fake.projects.get(id) ?? null),
      findKey: (hash) => look(`findKey ${hash}`, () => fake.keys.get(hash) ?? null),
      findOperator: (hash) => look(`findOperator ${hash}`, () => fake.operators.get(hash) ?? null),
      findHost: (host) =>
        look(`findHost ${host}`, () => {
          const projectId = fake.hosts.get(host);
          return projectId === undefined ? null : { projectId };
        }),
    },
    sessions: {
      findSession: (number, id) =>
        look(`findSession ${number}:${id}`, () =>
          fake.ended.has(`${number}:${id}`) ? null : fake.session,
        ),
      jwks: () =>
        look('jwks', () => ({
          keys: signingKeys.map(({ kid, publicKey }) => {
            const { kty = '', crv = '', x = '', y = '' } = publicKey.export({ format: 'jwk' });
            return { kid, kty, crv, x, y, alg: 'ES256', use: 'sig' };
          }),
        })),
    },
  };
  const look = async <T>(question: string, answer: () => T): Promise<T> => {
    fake.asked.push(question);
    const value = answer();
    await fake.gate;
    return value;
  };
  return fake;
};

export interface TestBed {
  gateway: Gateway;
  fake: FakeDirectories;
  bus: Bus;
  counters: Counters;
  /** Calls that reached a service. */
  seen: SeenCall[];
  clock: { now: number };
  url: string;
  port: number;
  /** A token of a live session. */
  token(
    claims?: Record<string, unknown>,
    options?: { kid?: string; key?: KeyObject | string; algorithm?: jwt.Algorithm },
  ): string;
  call(method: string, path: string, options?: CallOptions): Promise<CallResult>;
  publish(topic: string, payload: unknown): Promise<void>;
  close(): Promise<void>;
}

export interface CallOptions {
  token?: string;
  headers?: Record<string, string>;
  body?: unknown;
}

export interface CallResult {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  body: any;
}

export interface TestBedOptions {
  service?: (seen: SeenCall[]) => RequestListener;
  upstream?: (service: RequestListener) => Promise<Upstream> | Upstream;
  deps?: Partial<GatewayDeps>;
  config?: Partial<GatewayDeps['config']>;
}

const signer = generateKeyPairSync('ec', { namedCurve: 'P-256' });

const addProjects = ({ projects, keys }: FakeDirectories) => {
  const snapshots = [
    projectSnapshot({ id: 'platform', number: 1, ownerId: null }),
    projectSnapshot({ id: 'demo', number: 1001 }),
    projectSnapshot({ id: 'other', number: 1002, ownerId: '018f0000-0000-7000-8000-00000000ffff' }),
    projectSnapshot({ id: 'paused', number: 1003, status: 'paused' }),
    projectSnapshot({ id: 'deleted', number: 1004, status: 'deleted' }),
  ];
  for (const project of snapshots) projects.set(project.id, project);
  keys.set(sha256(secretKey), { id: 'key-1', projectNumber: 1001 });
};

/** A gateway with fake directories and, unless told otherwise, services that answer with what they saw. */
export const createTestBed = async (options: TestBedOptions = {}): Promise<TestBed> => {
  const clock = { now: Date.now() };
  const now = () => clock.now;
  const seen: SeenCall[] = [];
  const fake = createFakeDirectories([{ kid: 'k1', publicKey: signer.publicKey }]);
  addProjects(fake);
  const bus = createInProcessBus({ onDead: () => {} });
  const counters = createMemoryCounters(now);
  const service = (options.service ?? echoService)(seen);
  const upstream = await (options.upstream ?? createInProcessUpstream)(service);
  const names: ServiceName[] = [
    'auth',
    'records',
    'projects',
    'ai',
    'storage',
    'email',
    'payments',
  ];
  const gateway = createGateway({
    upstreams: Object.fromEntries(names.map((name) => [name, upstream])) as Record<
      ServiceName,
      Upstream
    >,
    projects: fake.directory,
    operators: fake.directory,
    hosts: fake.directory,
    sessions: fake.sessions,
    credits: {
      noteRefusal: async () => {},
      loadOwner: (ownerId) => counters.load(ownerId, 100_000, 1),
    },
    callLog: { takeCalls: async (batch) => void fake.batches.push(batch) },
    shapes: fake.shapes,
    users: fake.users,
    counters,
    bus,
    identityKeys: testIdentityKeys('gateway'),
    now,
    log: createLogger({ service: 'gateway', level: 'silent' }),
    apiDescription: { openapi: '3.1.0', paths: {} },
    eventsConnected: () => true,
    services: async () => [],
    servers: () => [],
    refusalClock: { now: Date.now, after: (_ms, answer) => answer() },
    ...options.deps,
    config: {
      issuer: 'backlot',
      operatorTokenHash: sha256(operatorToken),
      trustedProxies: 0,
      addressBounds: defaultAddressBounds,
      publicUrl: 'http://localhost:8080',
      accessLog: false,
      priceChanges: {},
      projectHostSuffix: undefined,
      ...options.config,
    },
  });
  await gateway.start();
  const server = createServer(gateway.app);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;

  return {
    gateway,
    fake,
    bus,
    counters,
    seen,
    clock,
    url,
    port,
    token: (claims = {}, { kid = 'k1', key = signer.privateKey, algorithm = 'ES256' } = {}) => {
      const issuedAt = Math.floor(clock.now / 1000);
      const payload = {
        iss: 'backlot',
        aud: 'demo',
        sub: userId,
        sid: 's1',
        iat: issuedAt,
        exp: issuedAt + 3600,
        ...claims,
      };
      return jwt.sign(payload, key, { algorithm, keyid: kid });
    },
    async call(method, path, { token, headers = {}, body } = {}) {
      const response = await fetch(url + path, {
        method,
        headers: {
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        body: body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body),
      });
      const text = await response.text();
      const isJson =
        response.headers.get('content-type')?.startsWith('application/json') && text !== '';
      return {
        status: response.status,
        headers: response.headers,
        body: isJson ? JSON.parse(text) : text,
      };
    },
    publish: (topic, payload) => bus.publish({ id: `${topic}-${Math.random()}`, topic, payload }),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await gateway.stop();
      await counters.close();
      await bus.close();
    },
  };
};
