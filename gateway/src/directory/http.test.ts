import { defaultLimits } from '@backlot/contract';
import { gatewayOnly } from '@backlot/http';
import { type ServiceUnderTest, serveForTest, testIdentitySecret } from '@backlot/testing';
import { afterEach, expect, it } from '@jest/globals';
import express from 'express';
import { createHttpProjectDirectory, createHttpSessionDirectory } from './http.ts';

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

const given = async () => {
  const app = express();
  app.use(gatewayOnly(testIdentitySecret, Date.now));
  app.get('/internal/projects/demo', (_req, res) => void res.json(snapshot));
  app.get('/internal/keys/hash', (_req, res) => void res.json({ id: 'k', projectNumber: 1001 }));
  app.get('/internal/sessions/1001/live', (_req, res) => void res.json({ live: true }));
  app.get('/internal/sessions/1001/ended', (_req, res) => void res.json({ live: false }));
  app.get('/auth/.well-known/jwks.json', (_req, res) => void res.json({ keys: [] }));
  app.get('/internal/projects/broken', (_req, res) => void res.status(500).json({}));
  service = await serveForTest(app);
  const options = { origin: service.url, identitySecret: testIdentitySecret, now: Date.now };
  return {
    projects: createHttpProjectDirectory(options),
    sessions: createHttpSessionDirectory(options),
  };
};

it('asks with the identity of the gateway and understands what services answer', async () => {
  const { projects, sessions } = await given();
  expect(await projects.findProject('demo')).toEqual(snapshot);
  expect(await projects.findProject('no/thing')).toBeNull();
  expect(await projects.findKey('hash')).toEqual({ id: 'k', projectNumber: 1001 });
  expect(await projects.findKey('unknown')).toBeNull();
  expect([
    await sessions.isLive(1001, 'live'),
    await sessions.isLive(1001, 'ended'),
    await sessions.isLive(1, 'x'),
  ]).toEqual([true, false, false]);
  expect(await sessions.jwks()).toEqual({ keys: [] });
});

it('a failing or absent service is a failure, not an absence', async () => {
  const { projects } = await given();
  await expect(projects.findProject('broken')).rejects.toThrow('answered 500');
  await service?.stop();
  await expect(projects.findProject('demo')).rejects.toThrow();
  service = undefined;
});
