import { type ClientOptions, createClient } from '../index.ts';

/** A call as it would have left. */
export interface Sent {
  method: string;
  path: string;
  query: Record<string, string>;
  headers: Record<string, string>;
  body: unknown;
}

export const base = 'https://api.example.org/api/runtime/demo';

/** A client whose calls go nowhere: each is answered in turn, the last answer for all further ones. */
export const clientWith = (
  answers: (() => Response | Promise<Response>)[],
  {
    token = null,
    ...options
  }: Pick<ClientOptions, 'retries' | 'viewAs'> & { token?: string | null } = {},
) => {
  const sent: Sent[] = [];
  let kept = token;
  const client = createClient(base, {
    ...options,
    storage: {
      get: () => kept,
      set(token) {
        kept = token;
      },
    },
    async fetch(input, init = {}) {
      const url = new URL(String(input));
      sent.push({
        method: init.method ?? 'GET',
        path: url.pathname.replace('/api/runtime/demo', ''),
        query: Object.fromEntries(url.searchParams),
        headers: Object.fromEntries(init.headers as [string, string][]),
        body: init.body instanceof FormData ? init.body : JSON.parse(String(init.body ?? 'null')),
      });
      const answer = answers[Math.min(sent.length, answers.length) - 1];
      if (!answer) throw new TypeError('fetch failed');
      return answer();
    },
  });
  return { client, sent, token: () => kept };
};

/** An answer for `clientWith`. */
export const json =
  (body: object, status = 200, headers = {}) =>
  () =>
    new Response(JSON.stringify(body), { status, headers });
