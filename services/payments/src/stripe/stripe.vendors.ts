import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import express, { type ErrorRequestHandler } from 'express';
import * as OpenApiValidator from 'express-openapi-validator';
import qs from 'qs';
import { uuidv7 } from 'uuidv7';
import { anOrder, providerPayment } from '../provider/provider.conformance.ts';
import { restrictedKey, secretKey } from '../testing/test-stripe.ts';
import { createStripe } from './stripe.ts';

type ApiSpec = Parameters<typeof OpenApiValidator.middleware>[0]['apiSpec'];

interface Judged {
  method: string;
  path: string;
  /** Undefined where Stripe's description allows the request. */
  problem: string | undefined;
}

/** Answers each request as Stripe's own fixtures do, once its description has judged it. */
const startJudge = async () => {
  const folder = process.env.VENDOR_SPECS;
  if (!folder) throw new Error('Set VENDOR_SPECS to the folder of the descriptions.');
  const apiSpec = JSON.parse(await readFile(join(folder, 'stripe.requests.json'), 'utf8'));
  // The validator makes up an empty object where such a parameter is not sent, and then misses fields in it.
  const list = apiSpec.paths['/v1/checkout/sessions'].get;
  list.parameters = list.parameters.filter(
    ({ style }: { style?: string }) => style !== 'deepObject',
  );
  const judged: Judged[] = [];
  const app = express();
  app.set('query parser', (text: string) => qs.parse(text, { depth: 12 }));
  app.use(express.text({ type: () => true }), (req, _res, next) => {
    req.body = qs.parse(String(req.body ?? ''), { depth: 12, arrayLimit: 200 });
    next();
  });
  app.use(
    OpenApiValidator.middleware({
      apiSpec: apiSpec as ApiSpec,
      validateRequests: { coerceTypes: true },
      validateApiSpec: false,
      validateSecurity: false,
      formats: {
        'unix-time': { type: 'number', validate: Number.isInteger },
        decimal: { type: 'string', validate: /^-?\d+(\.\d+)?$/ },
      },
    }),
  );
  const session = {
    id: 'cs_test_1',
    object: 'checkout.session',
    status: 'open',
    payment_status: 'unpaid',
    payment_intent: 'pi_1',
    livemode: false,
    url: 'https://checkout.stripe.com/c/pay/cs_test_1',
  };
  app.use((req, res) => {
    judged.push({ method: req.method, path: req.path, problem: undefined });
    const isList = req.method === 'GET' && req.path === '/v1/checkout/sessions';
    res.json(isList ? { object: 'list', data: [] } : session);
  });
  const refuse: ErrorRequestHandler = (error, req, res, _next) => {
    judged.push({ method: req.method, path: req.path, problem: String(error.message) });
    res.status(400).json({ error: { type: 'invalid_request_error', message: error.message } });
  };
  app.use(refuse);
  const server: Server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    judged,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

describe('Stripe’s own description', () => {
  let judge: Awaited<ReturnType<typeof startJudge>>;
  beforeAll(async () => {
    judge = await startJudge();
  });
  afterAll(() => judge.close());

  const post = async (body: string) => {
    await fetch(`${judge.url}/v1/checkout/sessions`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body,
    });
    return judge.judged.at(-1)?.problem;
  };

  it('tells a good request from a bad one', async () => {
    const data = 'line_items[0][price_data]';
    const price = `${data}[currency]=usd&${data}[unit_amount]=5&${data}[product_data][name]=x`;
    const good = `mode=payment&success_url=x&line_items[0][quantity]=1&${price}`;
    expect(await post(good)).toBeUndefined();
    for (const bad of [
      good.replace('payment', 'bogus'),
      good.replace('unit_amount]=5', 'unit_amount]=lots'),
      good.replace('currency', 'coin'),
      `${good}&foo_bar=1`,
    ])
      expect(await post(bad)).toEqual(expect.any(String));
  });

  it('takes everything that we ask', async () => {
    judge.judged.length = 0;
    const stripe = createStripe({ url: judge.url, timeoutMs: 5000, retries: 0 });
    const account = stripe.account(secretKey);
    await stripe.check(restrictedKey);
    const orders = [
      anOrder(),
      anOrder({ userId: null, metadata: {}, currency: 'jpy' }),
      anOrder({
        items: Array.from({ length: 50 }, (_, n) => ({
          name: `Item ${n}`,
          amount: n,
          quantity: 999,
        })),
        metadata: Object.fromEntries(
          Array.from({ length: 20 }, (_, n) => [`k${n}`, 'ä'.repeat(500)]),
        ),
        returnUrl: 'http://localhost:3000/?a[b]=1&c=%20#/x?y',
      }),
    ];
    for (const order of orders) {
      const payment = providerPayment(order, await account.create(order));
      await account.retrieve(payment);
      await account.expire(payment);
      const refund = { id: uuidv7(), amount: null, isLast: true, mayExist: false };
      await account.refund(payment, refund);
      await account.refund({ ...payment, chargeId: 'pi_1' }, { ...refund, amount: 100 });
    }
    expect(judge.judged.filter(({ problem }) => problem !== undefined)).toEqual([]);
    expect(new Set(judge.judged.map(({ method, path }) => `${method} ${path}`))).toEqual(
      new Set([
        'GET /v1/checkout/sessions',
        'POST /v1/checkout/sessions',
        'GET /v1/checkout/sessions/cs_test_1',
        'POST /v1/checkout/sessions/cs_test_1/expire',
        'POST /v1/checkout/sessions/cs_backlot_key_check/expire',
        'POST /v1/refunds',
      ]),
    );
  });
});
