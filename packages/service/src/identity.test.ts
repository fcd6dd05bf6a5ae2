import { recordRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import { type Identity, identityHeader, internalIdentity, signIdentity } from '@backlot/identity';
import { anonymous, createServiceBed, type ServiceBed, testIdentityKeys } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Router } from 'express';
import { z } from 'zod';
import { defineConfig, defineService, type ServiceContext } from './index.ts';

const asked = defineService({
  name: 'records',
  migrations: new URL('./testing/migrations/', import.meta.url),
  config: defineConfig(z.object({}), () => ({})),
  build: (_context: ServiceContext<object>) => ({
    routes: [route(recordRoutes.getRecord, async () => ({ body: {} as never }))],
    internal: Router().get('/thing', (_req, res) => void res.json({ thing: true })),
  }),
});

describe('a service', () => {
  let bed: ServiceBed<object>;
  beforeAll(async () => {
    bed = await createServiceBed(asked, { config: {} });
  });
  afterAll(() => bed.close());

  const getRecord = '/db/notes/018f0000-0000-7000-8000-000000000001';
  const ask = async (sender: string, path: string, signedFor: string, who: Identity) => {
    const key = testIdentityKeys('records').find((candidate) => candidate.sender === sender);
    if (!key) throw new Error(`There is no key of ${sender}.`);
    const headers = { [identityHeader]: signIdentity(who, signedFor, key, bed.clock.now()) };
    return (await bed.call('GET', path, { identity: null, headers })).status;
  };

  it('opens its routes to callers for whom the gateway vouches', async () => {
    expect(await ask('gateway', getRecord, 'getRecord', anonymous())).not.toBe(401);
    expect(await ask('gateway', getRecord, 'deleteRecord', anonymous())).toBe(401);
    expect(await ask('gateway', '/readyz', 'GET /readyz', internalIdentity)).toBe(200);
  });

  it('opens no route with the key of another service, only /internal', async () => {
    const thing = 'GET /internal/thing';
    expect(await ask('email', '/internal/thing', thing, internalIdentity)).toBe(200);
    for (const who of [anonymous(), internalIdentity, anonymous({ caller: 'operator' })]) {
      expect(await ask('email', getRecord, 'getRecord', who)).toBe(401);
      expect(await ask('email', getRecord, thing, who)).toBe(401);
    }
    expect(await ask('email', '/readyz', 'GET /readyz', internalIdentity)).toBe(401);
  });

  it('answers under /internal the very question that was signed', async () => {
    const path = '/internal/thing';
    expect(await ask('email', `${path}?x=1`, `GET ${path}?x=1`, internalIdentity)).toBe(200);
    expect(await ask('email', `${path}?x=1`, `GET ${path}`, internalIdentity)).toBe(401);
    expect(await ask('email', path, 'GET /internal/things', internalIdentity)).toBe(401);
    expect(await ask('email', path, `POST ${path}`, internalIdentity)).toBe(401);
    expect(await ask('gateway', path, 'getRecord', internalIdentity)).toBe(401);
    expect(await ask('gateway', path, `GET ${path}`, anonymous())).toBe(401);
  });
});
