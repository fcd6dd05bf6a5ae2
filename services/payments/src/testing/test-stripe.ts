import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { findFreePort } from '@backlot/testing';
import { createEmulator } from 'emulate';
import qs from 'qs';

export const secretKey = 'sk_test_good1234';
export const liveKey = 'sk_live_good1234';
/** Of an account that may not use checkout. */
export const narrowKey = 'rk_test_narrow99';
/** May read everything, and write what it says. */
export const readingKey = 'rk_test_reads000';
export const sellingKey = 'rk_test_sells000';
/** May do what a checkout needs, and nothing else. */
export const restrictedKey = 'rk_test_enough00';

interface Answer {
  status: number;
  body: Record<string, unknown>;
}
interface StripeRequest {
  method: string;
  path: string;
  body: string;
  headers: IncomingMessage['headers'];
}
interface SessionExtra {
  client_reference_id: string;
  intent: string;
  total: number;
  refunds: { id: string; amount: number; metadata: object }[];
}

export interface TestStripe {
  url: string;
  /** In order. */
  requests: StripeRequest[];
  /** Refunds that were made, by their sessions. */
  refunds: string[];
  /** What went back of a session. */
  refundedOf(sessionId: string): number;
  /** `null` again answers as Stripe does, also what was asked while it was `holding`. */
  behave(how: 'silent' | 'holding' | 'failing' | 'too-small' | null): void;
  /** As Stripe does with idempotency keys after a day. */
  forgetKeys(): void;
  /** What the payer does on the hosted page; where it leads. */
  pay(sessionId: string): Promise<string>;
  close(): Promise<void>;
}

const isRead = ({ method }: StripeRequest) => method === 'GET';
const isForSessions = ({ path }: StripeRequest) => path.startsWith('/v1/checkout/sessions');
const isRefund = ({ path }: StripeRequest) => path.startsWith('/v1/refunds');
const allowed: Record<string, (request: StripeRequest) => boolean> = {
  [`Bearer ${secretKey}`]: () => true,
  [`Bearer ${liveKey}`]: () => true,
  [`Bearer ${narrowKey}`]: () => false,
  [`Bearer ${readingKey}`]: isRead,
  [`Bearer ${sellingKey}`]: (request) => isRead(request) || isForSessions(request),
  [`Bearer ${restrictedKey}`]: (request) => isForSessions(request) || isRefund(request),
};

const failure = (status: number, error: Record<string, string>): Answer => ({
  status,
  body: { error: { type: 'invalid_request_error', message: 'secret words', ...error } },
});
const missing = () => failure(404, { code: 'resource_missing' });

const sumRefunds = ({ refunds }: SessionExtra) =>
  refunds.reduce((sum, { amount }) => sum + amount, 0);

const readBody = async (req: IncomingMessage): Promise<string> => {
  let text = '';
  for await (const chunk of req) text += chunk;
  return text;
};

/**
 * Vercel's emulator keeps sessions and sends signed webhooks. What it lacks stands before it, by Stripe's
 * documentation: keys, idempotency, price_data, payment intents and refunds.
 * @param webhook where its webhooks go, and what signs them
 */
export const startTestStripe = async (webhook?: {
  url: string;
  secret: string;
}): Promise<TestStripe> => {
  const emulator = await createEmulator({
    service: 'stripe',
    port: await findFreePort(20_000 + Math.floor(Math.random() * 10_000)),
    seed: { stripe: { webhooks: webhook ? [{ ...webhook, events: ['*'] }] : [] } },
  });
  const requests: StripeRequest[] = [];
  const refunds: string[] = [];
  const sessions = new Map<string, SessionExtra>();
  const firstAnswers = new Map<string, { body: string; answer: Promise<Answer> }>();
  let behaviour: Parameters<TestStripe['behave']>[0] = null;
  let changed = Promise.withResolvers<void>();

  const forward = async (method: string, path: string, body?: object): Promise<Answer> => {
    const response = await fetch(emulator.url + path, {
      method,
      headers: { 'content-type': 'application/json', authorization: `Bearer ${secretKey}` },
      body: body ? JSON.stringify(body) : null,
    });
    return { status: response.status, body: (await response.json()) as Answer['body'] };
  };

  const createSession = async (text: string): Promise<Answer> => {
    // biome-ignore lint/suspicious/noExplicitAny: what the description judges elsewhere
    const sent: any = qs.parse(text, { depth: 12 });
    const lines: { price: unknown; quantity: number }[] = [];
    for (const { price_data: price, quantity } of sent.line_items) {
      const product = await forward('POST', '/v1/products', price.product_data);
      const made = await forward('POST', '/v1/prices', {
        currency: price.currency,
        unit_amount: Number(price.unit_amount),
        product: product.body.id,
      });
      lines.push({ price: made.body.id, quantity: Number(quantity) });
    }
    const answer = await forward('POST', '/v1/checkout/sessions', { ...sent, line_items: lines });
    const { client_reference_id } = sent;
    const intent = `pi_${randomBytes(8).toString('hex')}`;
    const lineItems: { price_data: { unit_amount: string }; quantity: string }[] = sent.line_items;
    const total = lineItems.reduce(
      (sum, { price_data, quantity }) => sum + Number(price_data.unit_amount) * Number(quantity),
      0,
    );
    sessions.set(String(answer.body.id), { client_reference_id, intent, total, refunds: [] });
    return answer;
  };

  const complete = (answer: Answer, isExpanded: boolean): Answer => {
    const extra = sessions.get(String(answer.body.id));
    if (!extra || answer.status !== 200) return answer;
    const { intent, client_reference_id } = extra;
    const refunded = sumRefunds(extra) === extra.total;
    const expanded = { id: intent, status: 'succeeded', latest_charge: { id: 'ch_1', refunded } };
    const isPaid = answer.body.payment_status === 'paid';
    const payment_intent = isPaid ? (isExpanded ? expanded : intent) : null;
    return { ...answer, body: { ...answer.body, client_reference_id, payment_intent } };
  };

  const findByIntent = (intent: unknown) =>
    [...sessions].find(([, session]) => session.intent === intent) ?? [];

  const refund = async (text: string): Promise<Answer> => {
    const { payment_intent, amount, metadata = {} } = qs.parse(text);
    const [sessionId, extra] = findByIntent(payment_intent);
    if (!extra || !sessionId) return missing();
    const left = extra.total - sumRefunds(extra);
    if (left === 0) return failure(400, { code: 'charge_already_refunded' });
    const wanted = amount === undefined ? left : Number(amount);
    if (wanted > left) return failure(400, { param: 'amount' });
    const made = { id: `re_${refunds.length + 1}`, amount: wanted, metadata: metadata as object };
    extra.refunds.push(made);
    refunds.push(sessionId);
    return { status: 200, body: { ...made, object: 'refund', status: 'succeeded' } };
  };

  const listRefunds = (search: string): Answer => {
    const [, extra] = findByIntent(new URLSearchParams(search).get('payment_intent'));
    const data = (extra?.refunds ?? []).map((made) => ({ ...made, status: 'succeeded' }));
    return { status: 200, body: { object: 'list', data } };
  };

  const answer = async ({ method, path, body, headers }: StripeRequest): Promise<Answer> => {
    const { pathname, search } = new URL(path, 'http://stripe');
    if (method === 'POST' && pathname === '/v1/refunds') return refund(body);
    if (method === 'GET' && pathname === '/v1/refunds') return listRefunds(search);
    if (method === 'POST' && pathname === '/v1/checkout/sessions') {
      if (behaviour === 'too-small') return failure(400, { code: 'amount_too_small' });
      const opened = await createSession(body);
      const livemode = headers.authorization === `Bearer ${liveKey}`;
      return { ...opened, body: { ...opened.body, livemode } };
    }
    const isExpanded = decodeURIComponent(search).includes('payment_intent');
    return complete(await forward(method, pathname), isExpanded);
  };

  const answerOnce = async (request: StripeRequest): Promise<Answer> => {
    const { authorization, 'idempotency-key': key } = request.headers;
    const mayDo = allowed[String(authorization)];
    if (!mayDo) return failure(401, {});
    if (!mayDo(request)) return failure(403, {});
    if (behaviour === 'failing') return failure(500, { type: 'api_error' });
    if (request.method !== 'POST' || typeof key !== 'string') return answer(request);
    const known = firstAnswers.get(key);
    if (known && known.body !== request.body) return failure(400, { type: 'idempotency_error' });
    const first = known?.answer ?? answer(request);
    firstAnswers.set(key, { body: request.body, answer: first });
    return first;
  };

  const handle = async (req: IncomingMessage, res: ServerResponse) => {
    const { method = '', url: path = '', headers } = req;
    const request = { method, path, headers, body: await readBody(req) };
    requests.push(request);
    if (behaviour === 'silent') return;
    if (behaviour === 'holding') await changed.promise;
    const { status, body } = await answerOnce(request);
    res.writeHead(status, { 'Content-Type': 'application/json', 'Request-Id': 'req_1' });
    res.end(JSON.stringify(body));
  };
  const server = createServer((req, res) => {
    handle(req, res).catch(() => req.socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    refunds,
    refundedOf: (sessionId) => {
      const extra = sessions.get(sessionId);
      return extra ? sumRefunds(extra) : 0;
    },
    behave(how) {
      behaviour = how;
      changed.resolve();
      changed = Promise.withResolvers();
    },
    forgetKeys: () => firstAnswers.clear(),
    async pay(sessionId) {
      const page = await fetch(`${emulator.url}/checkout/${sessionId}/complete`, {
        method: 'POST',
        redirect: 'manual',
      });
      return page.headers.get('location') ?? '';
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await emulator.close();
    },
  };
};
