import { ApiError, defineRoute } from '@backlot/contract';
import {
  anonymous,
  createFindTestRoute,
  type ServiceUnderTest,
  serveForTest,
  testIdentityKeys,
} from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { html } from '../answer/html.ts';
import { serviceApp } from '../server/service-app.ts';
import { pageRoute } from './html-route.ts';

const show = defineRoute({
  operationId: 'show',
  service: 'payments',
  plane: 'runtime',
  method: 'GET',
  path: '/pages/:name',
  summary: 'A page',
  callers: ['anonymous'],
  limit: 'read',
  answers: 'html',
  params: z.object({ name: z.string().max(40) }),
  response: z.string(),
  status: 200,
  errors: [],
});
const submit = defineRoute({
  ...show,
  operationId: 'submit',
  method: 'POST',
  takes: 'form',
  body: z.object({ text: z.string().max(20) }),
});

const noKeys = {
  run: () => Promise.reject(new Error()),
  runInOne: () => Promise.reject(new Error()),
  runSlow: () => Promise.reject(new Error()),
};
const logged: object[] = [];

describe('pageRoute', () => {
  let service: ServiceUnderTest;
  beforeAll(async () => {
    service = await serveForTest(
      serviceApp({
        routes: [
          pageRoute(show, async ({ params: { name } }) => {
            if (name === 'bug') throw new Error('secret detail');
            if (name === 'none') throw new ApiError('not_found', 'No <such> page.');
            const content = html`<p title="${name}">${[html`<b>${name}</b>`, html`${1}`]}</p>`;
            return {
              title: name,
              content,
              formOrigins: ['https://a.b'],
            };
          }),
          pageRoute(submit, async ({ body }) => ({ redirect: `https://a.b/?${body.text}` })),
        ],
        gatewayKeys: testIdentityKeys('gateway'),
        now: Date.now,
        idempotency: noKeys,
        checkResponses: true,
        log: { error: (fields) => void logged.push(fields) },
        ready: async () => ({ isServing: true, dependencies: [] }),
      }),
      Date.now,
      createFindTestRoute([show, submit]),
    );
  });
  afterAll(() => service.stop());
  const get = (name: string, accept = 'text/html', method = 'GET') =>
    service.call(method, `/pages/${encodeURIComponent(name)}`, {
      identity: anonymous(),
      headers: { accept },
    });

  it('escapes what came from outside, in the title too', async () => {
    const { body } = await get('"><script>');
    expect(body).toContain(
      '<p title="&quot;&gt;&lt;script&gt;"><b>&quot;&gt;&lt;script&gt;</b>1</p>',
    );
    expect(body).toContain('<title>&quot;&gt;&lt;script&gt;</title>');
    expect(body).not.toContain('<script>');
  });

  it('lets a page do nothing but show the one style and send forms where it says', async () => {
    const { headers } = await get('x');
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self' https://a.b; base-uri 'none'; frame-ancestors 'none'",
    );
    const head = await get('x', 'text/html', 'HEAD');
    expect(head).toMatchObject({ status: 200, body: '' });
  });

  it('shows failures as pages to browsers and as JSON to programs, without a detail', async () => {
    const none = await get('none');
    expect(none).toMatchObject({
      status: 404,
      body: expect.stringContaining('No &lt;such&gt; page.'),
    });
    expect(await get('none', '*/*')).toMatchObject({ status: 404, body: { code: 'not_found' } });
    const bug = await get('bug');
    expect(bug).toMatchObject({
      status: 500,
      body: expect.stringContaining('Something went wrong'),
    });
    expect(bug.body).not.toContain('secret');
    expect(logged).toHaveLength(1);
    expect(await get('x'.repeat(41))).toMatchObject({ status: 400 });
  });

  it('reads forms and nothing else, and leads on with 303', async () => {
    const post = (body: string, type = 'application/x-www-form-urlencoded; charset=UTF-8') =>
      service.call('POST', '/pages/x', {
        identity: anonymous(),
        body,
        headers: { 'content-type': type },
      });
    const done = await post('text=a%20b+c');
    expect(done.status).toBe(303);
    expect(done.headers.get('location')).toBe('https://a.b/?a b c');
    expect(await post('')).toMatchObject({ status: 400, body: { code: 'invalid_body' } });
    expect(await post('text=%ff%00')).toMatchObject({ status: 303 });
    expect(await post('text=a&__proto__=b&constructor=c')).toMatchObject({ status: 303 });
    expect(await post('text=a', 'text/plain')).toMatchObject({ status: 415 });
    expect(await post('text=a', 'application/x-www-form-urlencoded; charset=utf-7')).toMatchObject({
      status: 415,
    });
    expect(await post(`text=${'x'.repeat(20_000)}`)).toMatchObject({ status: 413 });
  });
});
