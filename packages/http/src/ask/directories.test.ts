import { type AddressInfo, createServer, type Socket } from 'node:net';
import { defaultLimits } from '@backlot/contract';
import { signingKey } from '@backlot/identity';
import { type ServiceUnderTest, serveForTest, testIdentityKeys } from '@backlot/testing';
import { afterEach, expect, it } from '@jest/globals';
import express from 'express';
import { internalOnly } from '../internal-only.ts';
import { createSilenceGuard, ServiceSilent } from '../server/silence.ts';
import {
  createHttpAccountDirectory,
  createHttpPeopleDirectory,
  createHttpSessionDirectory,
  createHttpUserDirectory,
} from './accounts.ts';
import { createHttpFileDirectory, createHttpImageDirectory } from './files.ts';
import {
  createHttpKeyDirectory,
  createHttpOwnerDirectory,
  createHttpProjectDirectory,
} from './projects.ts';
import { createHttpRecordDirectory } from './records.ts';

let service: ServiceUnderTest | undefined;
afterEach(() => service?.stop());

const snapshot = {
  id: 'demo',
  number: 1001,
  name: 'Demo',
  ownerId: null,
  status: 'active',
  settings: {},
  limits: defaultLimits,
};

const live = {
  live: true,
  role: 'staff',
  groups: [{ id: 'g1', role: 'member' }],
  hasSecondFactor: true,
};

const asking = (fileId: string) => ({
  project: { id: 'demo', number: 1001, ownerId: null },
  caller: 'anonymous' as const,
  userId: null,
  ip: '192.0.2.1',
  fileId,
});

const given = async () => {
  const app = express();
  app.use('/internal', internalOnly(testIdentityKeys('gateway'), Date.now));
  app.get('/internal/projects/demo', (_req, res) => void res.json(snapshot));
  app.get('/internal/keys/hash', (_req, res) => void res.json({ id: 'k', projectNumber: 1001 }));
  app.get('/internal/live-keys/1001/k', (_req, res) => void res.json({ live: true }));
  app.get('/internal/live-keys/1/k', (_req, res) => void res.json({ live: false }));
  app.get('/internal/sessions/1001/live', (_req, res) => void res.json(live));
  const older = '/internal/sessions/1001/of-an-older-version';
  app.get(older, (_req, res) => void res.json({ live: true }));
  app.get('/internal/sessions/1001/ended', (_req, res) => void res.json({ live: false }));
  app.get('/auth/.well-known/jwks.json', (_req, res) => void res.json({ keys: [] }));
  app.post('/internal/accounts/1001/registered', express.json(), (req, res) => {
    res.json({ emails: req.body.emails.slice(0, 1) });
  });
  app.get('/internal/accounts/1001/u1', (_req, res) => {
    res.json({ email: 'a@example.org', name: null });
  });
  const standing = { role: 'staff', groups: [{ id: 'g1', role: 'member' }] };
  app.get('/internal/users/1001/u1', (_req, res) => void res.json(standing));
  app.get('/internal/users/1001/u2', (_req, res) => {
    res.status(404).json({ code: 'not_found' });
  });
  app.post('/internal/users/1001/holder', express.json(), (req, res) => {
    res.json({ userId: req.body.email === 'a@example.org' ? 'u1' : null });
  });
  app.get('/internal/owners/o1', (_req, res) => void res.json({ verified: true }));
  app.get('/internal/owners/o2', (_req, res) => void res.json({ verified: false }));
  app.post('/internal/images', express.json(), (req, res) => {
    const { fileId } = req.body;
    if (fileId === 'broken') res.status(500).json({});
    else res.json({ data: fileId });
  });
  app.post('/internal/people', express.json(), (req, res) => void res.json(req.body.ids));
  app.post('/internal/records/may-change', express.json(), (req, res) => {
    res.json({ collectionId: req.body.collection.length });
  });
  app.post('/internal/records/may-read', express.json(), (req, res) => {
    if (req.body.recordId === 'older') res.status(404).json({ code: 'route_not_found' });
    else res.json({ allowed: req.body.collectionId === 7 });
  });
  app.post('/internal/files', express.json(), (req, res) => void res.json(req.body.fileIds));
  app.post('/internal/files/content', express.json(), (req, res) => {
    const { fileId } = req.body;
    if (fileId === 'gone') res.status(404).json({ code: 'not_found' });
    else if (fileId === 'older') res.status(404).json({ code: 'route_not_found' });
    else res.type('application/octet-stream').send(Buffer.from([0, 255]));
  });
  app.get('/internal/projects/broken', (_req, res) => void res.status(500).json({}));
  service = await serveForTest(app);
  const { url } = service;
  const to = (name: string) => ({
    origin: url,
    identityKey: signingKey(testIdentityKeys('gateway'), name),
    now: Date.now,
  });
  return {
    projects: createHttpProjectDirectory(to('projects')),
    keys: createHttpKeyDirectory(to('projects')),
    sessions: createHttpSessionDirectory(to('auth')),
    accounts: createHttpAccountDirectory(to('auth')),
    users: createHttpUserDirectory(to('auth')),
    people: createHttpPeopleDirectory(to('auth')),
    records: createHttpRecordDirectory(to('records')),
    owners: createHttpOwnerDirectory(to('projects')),
    images: createHttpImageDirectory(to('storage')),
    files: createHttpFileDirectory(to('storage')),
  };
};

it('asks with the identity of the gateway and understands what services answer', async () => {
  const { projects, keys, sessions, accounts, users, owners, images } = await given();
  expect(await projects.findProject('demo')).toEqual(snapshot);
  expect(await projects.findProject('no/thing')).toBeNull();
  expect(await projects.findKey('hash')).toEqual({ id: 'k', projectNumber: 1001 });
  expect(await projects.findKey('unknown')).toBeNull();
  expect([await keys.isLive(1001, 'k'), await keys.isLive(1, 'k')]).toEqual([true, false]);
  await expect(keys.isLive(1001, 'of-an-older-version')).rejects.toThrow('does not tell');
  expect([
    await sessions.findSession(1001, 'live'),
    await sessions.findSession(1001, 'of-an-older-version'),
    await sessions.findSession(1001, 'ended'),
    await sessions.findSession(1, 'x'),
  ]).toEqual([
    { role: 'staff', groups: [{ id: 'g1', role: 'member' }], hasSecondFactor: true },
    { role: 'user', groups: [] },
    null,
    null,
  ]);
  expect(await accounts.registered(1001, ['a@example.org', 'b@example.org'])).toEqual([
    'a@example.org',
  ]);
  expect(await accounts.findAccount(1001, 'u1')).toEqual({ email: 'a@example.org', name: null });
  expect(await accounts.findAccount(1001, 'u2')).toBeNull();
  expect(await users.findRoleAndGroups(1001, 'u1')).toEqual({
    role: 'staff',
    groups: [{ id: 'g1', role: 'member' }],
  });
  expect(await users.findRoleAndGroups(1001, 'u2')).toBeNull();
  expect(await users.findHolder(1001, 'a@example.org')).toBe('u1');
  expect(await users.findHolder(1001, 'b@example.org')).toBeNull();
  await expect(users.findHolder(1, 'a@example.org')).rejects.toThrow('does not tell');
  expect(await sessions.jwks()).toEqual({ keys: [] });
  const verified = ['o1', 'o2', 'unknown'].map((id) => owners.isVerified(id));
  expect(await Promise.all(verified)).toEqual([true, false, false]);
  expect(await images.readImage(asking('AAAA'))).toEqual({ data: 'AAAA' });
});

it('reads files, and tells one that is gone from a service that knows none', async () => {
  const { files } = await given();
  const { fileId, ...reader } = asking('a');
  expect(await files.describeFiles({ ...reader, fileIds: [fileId] })).toEqual(['a']);
  expect(await files.readFile(1001, 'a')).toEqual(new Uint8Array([0, 255]));
  expect(await files.readFile(1001, 'gone')).toBeNull();
  await expect(files.readFile(1001, 'older')).rejects.toThrow('is no question there');
});

it('takes nobody for gone whom a service does not know how to look up', async () => {
  const { users } = await given();
  expect(await users.findRoleAndGroups(1001, 'u2')).toBeNull();
  await expect(users.findRoleAndGroups(1001, 'of-an-older-version')).rejects.toThrow(
    '/internal/users/1001/of-an-older-version is no question there',
  );
});

it('a failing or absent service is a failure, not an absence', async () => {
  const { projects, accounts, images } = await given();
  await expect(images.readImage(asking('broken'))).rejects.toThrow('answered 500');
  await expect(projects.findProject('broken')).rejects.toThrow('answered 500');
  await expect(accounts.registered(1, [])).rejects.toThrow('does not tell');
  await service?.stop();
  await expect(projects.findProject('demo')).rejects.toThrow();
  service = undefined;
});

it('a service that is silent fails whoever waits for its answer, and the next at once', async () => {
  let asked = 0;
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket.on('error', () => {}));
    socket.on('data', (data) => {
      if (data.toString().startsWith('GET /internal/')) asked += 1;
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const times = { lookMs: 20, suspectMs: 60, probeMs: 300, probeEveryMs: 60_000 };
  const guard = createSilenceGuard(origin, undefined, times);
  const identityKey = signingKey(testIdentityKeys('gateway'), 'projects');
  const directory = createHttpProjectDirectory({ origin, identityKey, now: Date.now, guard });
  await expect(directory.findProject('demo')).rejects.toThrow(ServiceSilent);
  await expect(directory.findProject('demo')).rejects.toThrow(ServiceSilent);
  expect(asked).toBe(1);
  for (const socket of sockets) socket.destroy();
  await new Promise((resolve) => server.close(resolve));
});

it('asks for people, and what callers may do with records', async () => {
  const { people, records } = await given();
  const caller = { caller: 'user', userId: 'u1' } as const;
  const everybody = { projectNumber: 1001, ...caller, ids: ['u2'], hasPublicProfiles: true };
  expect(await people.findPeople(everybody)).toEqual(['u2']);
  const project = { id: 'demo', number: 1001, ownerId: null };
  const reader = { project, ...caller, ip: '192.0.2.1', recordId: 'r1' };
  expect(await records.mayChange({ ...reader, collection: 'chat' })).toEqual({ collectionId: 4 });
  const mayRead = (collectionId: number, recordId = 'r1') =>
    records.mayRead({ ...reader, collectionId, recordId });
  expect([await mayRead(7), await mayRead(8)]).toEqual([true, false]);
  await expect(mayRead(7, 'older')).rejects.toThrow('tells nothing of records');
});
