import { projectRoutes } from '@backlot/contract';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createTestBed, ownerA, type TestBed } from '../testing/test-bed.ts';

const settings = fc.dictionary(
  fc.constantFrom(
    'emailRecipients',
    'emailAllowList',
    'allowedOrigins',
    'maxUploadBytes',
    'aiModel',
    'defaultAccess',
    '__proto__',
  ),
  fc.anything(),
);
const body = fc.oneof(
  fc.anything(),
  fc.record({ name: fc.anything(), status: fc.anything(), settings }, { requiredKeys: [] }),
  fc.dictionary(
    fc.constantFrom('read', 'ai', 'name', '__proto__'),
    fc.oneof(fc.anything(), settings),
  ),
);
const text = fc.oneof(fc.string({ unit: 'binary' }), fc.string(), fc.constant('\0'));

const asJson = (value: unknown): string => {
  try {
    return JSON.stringify(value) ?? '';
  } catch {
    return '{';
  }
};

describe('generated junk', () => {
  let bed: TestBed;
  let id: string;
  beforeAll(async () => {
    bed = await createTestBed();
    id = await bed.project();
  });
  afterAll(() => bed.close());

  const routes = Object.values(projectRoutes).filter(
    (route) => typeof route === 'object' && 'operationId' in route && route.method !== 'DELETE',
  );
  it.each(routes.map((each) => each.operationId))(
    'never makes %s fail on our side',
    async (operationId) => {
      const route = routes.find((route) => route.operationId === operationId);
      if (!route) throw new Error(operationId);
      const identity = await bed.owner(ownerA, route.path.includes(':projectId') ? id : undefined);
      await fc.assert(
        fc.asyncProperty(body, text, text, async (value, limit, cursor) => {
          const query = `?${new URLSearchParams({ limit, cursor })}`;
          const answer = await bed.call(
            route.method,
            `/platform${route.path.replace(':projectId', id)}${query}`,
            {
              identity,
              ...(route.method === 'GET' ? {} : { body: asJson(value) }),
            },
          );
          expect(answer.status).toBeLessThan(500);
          if (answer.status >= 400)
            expect(answer.body).toMatchObject({
              error: expect.any(String),
              code: expect.any(String),
            });
        }),
        { numRuns: 20 },
      );
    },
  );

  it('never makes deleteKey fail on our side', async () => {
    const identity = await bed.owner(ownerA, id);
    await fc.assert(
      fc.asyncProperty(text, async (keyId) => {
        const path = encodeURIComponent(keyId.toWellFormed()) || 'x';
        const answer = await bed.call('DELETE', `/platform/projects/${id}/keys/${path}`, {
          identity,
        });
        expect(answer.status).toBe(404);
      }),
      { numRuns: 20 },
    );
  });
});
