import {
  neededOperatorScope,
  type OperatorScope,
  operatorScopes,
  type RouteDefinition,
  routes,
} from '@backlot/contract';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createTestBed, operatorToken, sha256, type TestBed } from './testing/test-bed.ts';

const someId = '018f0000-0000-7000-8000-000000000000';
const anHourMs = 60 * 60_000;
const overview = '/api/platform/spenders';
const grants = '/api/platform/credits/grants';

const pathOf = ({ plane, path }: RouteDefinition) =>
  `${plane === 'platform' ? '/api/platform' : '/api/runtime/demo'}${path}`
    .replace(':projectId', 'demo')
    .replace(/:[A-Za-z]+/g, someId);

describe('operators’ tokens', () => {
  let bed: TestBed;
  beforeEach(async () => {
    bed = await createTestBed();
  });
  afterEach(() => bed.close());

  const addToken = (name: string, scope: OperatorScope, expiresAtMs = Date.now() + anHourMs) => {
    const token = `bo_${name.padEnd(43, 'x')}`;
    bed.fake.operators.set(sha256(token), { name, scope, expiresAtMs });
    return token;
  };
  const read = (token: string) => bed.call('GET', overview, { token });
  const grant = (token: string) => bed.call('POST', grants, { token, body: {} });

  const judged = routes.filter(
    ({ callers, ignoresCredentials, answeredBy, answers }) =>
      callers.includes('operator') && !ignoresCredentials && !answeredBy && answers !== 'events',
  );

  it('open each route to the scope that the contract says, and are told which one they lack', async () => {
    expect(judged.length).toBeGreaterThan(100);
    const rank = (scope: OperatorScope) => operatorScopes.indexOf(scope);
    for (const scope of operatorScopes) {
      const token = addToken(scope, scope);
      for (const route of judged) {
        const needed = neededOperatorScope(route);
        const { status, body } = await bed.call(route.method, pathOf(route), {
          token,
          ...(route.method !== 'GET' && route.method !== 'DELETE' && { body: {} }),
        });
        const isRefused = status === 403 && body.code === 'forbidden' ? body.error : null;
        const mayCall = rank(scope) >= rank(needed);
        const refusal = `This call takes an operator's token with the scope "${needed}"; "${scope}" has ${scope}.`;
        expect([route.operationId, isRefused]).toEqual([
          route.operationId,
          mayCall ? null : refusal,
        ]);
      }
    }
    expect(bed.seen.some(({ identity }) => identity.operator?.scope === 'read')).toBe(true);
    expect(
      bed.seen.filter(
        ({ method, identity }) => method === 'DELETE' && identity.operator?.scope === 'read',
      ),
    ).toEqual([]);
  }, 60_000);

  it('tell the service who calls, also two of one address in turn', async () => {
    const [ann, ben] = [addToken('ann', 'support'), addToken('ben', 'admin')];
    for (const [token, operator] of [
      [ann, { name: 'ann', scope: 'support' }],
      [ben, { name: 'ben', scope: 'admin' }],
      [operatorToken, { name: 'bootstrap', scope: 'admin' }],
      [ann, { name: 'ann', scope: 'support' }],
    ] as const) {
      const { status, body } = await read(token);
      expect([status, body.identity]).toMatchObject([200, { caller: 'operator', operator }]);
    }
  });

  it('end at their time, and say so', async () => {
    const token = addToken('short', 'read', bed.clock.now + 2000);
    expect(await read(token)).toMatchObject({ status: 200 });
    bed.clock.now += 2000;
    const expected = {
      status: 401,
      body: {
        code: 'invalid_token',
        error: `This operator’s token expired at ${new Date(bed.clock.now).toISOString()}.`,
      },
    };
    expect(await read(token)).toMatchObject(expected);
  });

  it('end at once when they are revoked, and within 5 seconds where the event is lost', async () => {
    const [told, lost] = [addToken('told', 'read'), addToken('lost', 'read')];
    for (const token of [told, lost]) expect(await read(token)).toMatchObject({ status: 200 });
    bed.fake.operators.clear();
    for (const token of [told, lost]) expect(await read(token)).toMatchObject({ status: 200 });
    await bed.publish('operator-token.revoked', { tokenHash: sha256(told) });
    expect(await read(told)).toMatchObject({ status: 401, body: { code: 'invalid_token' } });
    bed.clock.now += 5000;
    expect(await read(lost)).toMatchObject({ status: 401, body: { code: 'invalid_token' } });
  });

  it('that are not known are looked up once in 5 seconds', async () => {
    const token = `bo_${'z'.repeat(43)}`;
    for (let n = 0; n < 3; n++)
      expect(await read(token)).toMatchObject({ status: 401, body: { code: 'invalid_token' } });
    expect(bed.fake.asked.filter((asked) => asked.startsWith('findOperator'))).toHaveLength(1);
  });

  it('are refused by name while nobody can look them up, and BACKLOT_OPERATOR_TOKEN opens all the same', async () => {
    const token = addToken('ann', 'admin');
    const goDown = () => {
      bed.fake.gate = Promise.reject(new Error('projects is down'));
      bed.fake.gate.catch(() => {});
    };
    goDown();
    expect(await grant(operatorToken)).toMatchObject({ status: 200 });
    const { status, body } = await read(token);
    expect([status, body.code]).toEqual([503, 'unavailable']);
    bed.fake.gate = undefined;
    await read(operatorToken);
    goDown();
    const known = await read(token);
    expect([known.status, known.body.code]).toEqual([503, 'unavailable']);
    expect(known.body.error).toContain('BACKLOT_OPERATOR_TOKEN still opens');
    expect(await read(operatorToken)).toMatchObject({ status: 200 });
    const owner = bed.token({ aud: 'platform' });
    expect(await bed.call('GET', '/api/platform/projects', { token: owner })).toMatchObject({
      status: 503,
    });
  });

  it('lend their scope to tools for agents, whose calls are judged one by one', async () => {
    const send = (token: string, method: string, params: object = {}) =>
      bed.call('POST', '/api/platform/projects/demo/mcp', {
        token,
        headers: { accept: 'application/json, text/event-stream' },
        body: { jsonrpc: '2.0', id: 1, method, params },
      });
    const create = { name: 'write', arguments: { collection: 'notes', data: { text: 'a' } } };
    expect(String((await send(operatorToken, 'tools/list')).body)).toContain('"name":"write"');
    for (const [scope, calls] of [
      ['read', []],
      ['support', []],
      ['admin', ['POST']],
    ] as const) {
      const token = addToken(scope, scope);
      bed.seen.length = 0;
      const { status, body } = await send(token, 'tools/call', create);
      expect([scope, status, bed.seen.map(({ method }) => method)]).toEqual([scope, 200, calls]);
      expect(String(body).includes(`has ${scope}`)).toBe(scope !== 'admin');
    }
  });
});
