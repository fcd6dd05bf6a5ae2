import { defaultLimits } from '@backlot/contract';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  createTestBed,
  echoService,
  ownerId,
  projectSnapshot,
  secretKey,
  sha256,
  type TestBed,
} from './testing/test-bed.ts';

const list = '/api/runtime/demo/db/notes';
const id = 'preview23456';
const secret = 's'.repeat(43);
const token = `pv_${id}_${secret}`;
const keyOfPreview = `bk_${'p'.repeat(43)}`;

describe('calls with the token of a preview', () => {
  let bed: TestBed;
  const setPreview = (changes = {}) =>
    bed.fake.projects.set(
      id,
      projectSnapshot({
        id,
        number: 1005,
        preview: { of: 'demo', tokenHash: sha256(secret) },
        ...changes,
      }),
    );
  const call = (value: string | undefined, options: { token?: string; path?: string } = {}) =>
    bed.call('GET', options.path ?? list, {
      headers: value === undefined ? {} : { 'Backlot-Preview': value },
      ...(options.token !== undefined && { token: options.token }),
    });
  beforeEach(async () => {
    bed = await createTestBed({
      service: (seen) => (req, res) => {
        res.setHeader('Cache-Control', 'public, max-age=60');
        echoService(seen)(req, res);
      },
    });
    setPreview();
    bed.fake.keys.set(sha256(keyOfPreview), { id: 'key-2', projectNumber: 1005 });
  });
  afterEach(() => bed.close());

  it('are served as its own: path, identity and limits, and kept by no cache', async () => {
    const { status, headers, body } = await call(token);
    expect([status, body.url, headers.get('cache-control')]).toEqual([
      200,
      '/db/notes',
      'no-store',
    ]);
    expect(body.identity.project).toMatchObject({ id, number: 1005, isPreview: true });
    expect(body.headers['backlot-preview']).toBeUndefined();
    const live = await call(undefined);
    expect(live.headers.get('cache-control')).toBe('public, max-age=60');
    expect(live.body.identity.project).toMatchObject({ id: 'demo', number: 1001 });
    expect(live.body.identity.project.isPreview).toBeUndefined();
  });

  it('take credentials of the preview, and none of its project', async () => {
    const seconds = Math.floor(bed.clock.now / 1000);
    const known = { iat: seconds, exp: seconds + 60 };
    for (const [credential, ofPreview, ofLive] of [
      [bed.token({ ...known, aud: id }), 200, 401],
      [bed.token(known), 401, 200],
      [keyOfPreview, 200, 401],
      [secretKey, 401, 200],
      [bed.token({ ...known, aud: 'platform', sub: ownerId }), 200, 200],
    ] as const) {
      expect((await call(token, { token: credential })).status).toBe(ofPreview);
      expect((await call(undefined, { token: credential })).status).toBe(ofLive);
    }
  });

  it('spend nothing of the limits of its project', async () => {
    const read = { perCaller: 2, perProject: 100 };
    setPreview({ limits: { ...defaultLimits, read } });
    const statuses = [];
    for (let n = 0; n < 3; n++) statuses.push((await call(token)).status);
    expect(statuses).toEqual([200, 200, 429]);
    const limit = (await call(undefined)).headers.get('ratelimit');
    expect(limit).toContain(`r=${defaultLimits.read.perCaller - 1}`);
  });

  it.each([
    ['nothing', '', 400, 'invalid_header'],
    ['no token', 'undefined', 400, 'invalid_header'],
    ['two tokens', `${token}, ${token}`, 400, 'invalid_header'],
    ['a token with another secret', `pv_${id}_${'t'.repeat(43)}`, 404, 'project_not_found'],
    ['a token of no possible id', `pv_demo_${secret}`, 400, 'invalid_header'],
    ['a token of one that is gone', `pv_aaaaaaaaaaaa_${secret}`, 404, 'project_not_found'],
  ])('with %s in the header never reach the project itself', async (_what, value, status, code) => {
    const answer = await call(value);
    expect([answer.status, answer.body.code]).toEqual([status, code]);
    expect(answer.body.error).toContain('Backlot-Preview');
    expect(bed.seen).toEqual([]);
  });

  it('lead from its own project alone, while both are active', async () => {
    for (const path of ['/api/runtime/other/db/notes', `/api/runtime/${id}/db/notes`])
      expect((await call(token, { path })).body.code).toBe('project_not_found');
    setPreview({ status: 'paused' });
    await bed.publish('project.changed', { projectId: id, projectNumber: 1005 });
    expect((await call(token)).body.code).toBe('project_paused');
    setPreview({ status: 'deleted' });
    await bed.publish('project.changed', { projectId: id, projectNumber: 1005 });
    expect((await call(token)).body.code).toBe('project_deleted');
    expect(bed.seen).toEqual([]);
    expect((await call(undefined)).status).toBe(200);
  });

  it('come from browsers too', async () => {
    const { headers } = await bed.call('OPTIONS', list, {
      headers: { 'access-control-request-method': 'GET' },
    });
    expect(headers.get('access-control-allow-headers')).toContain('Backlot-Preview');
  });
});
