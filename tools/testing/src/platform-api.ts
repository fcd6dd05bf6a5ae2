export interface Answer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: journeys look into answers of every shape
  body: any;
}

export interface CallOptions {
  token?: string | undefined;
  body?: unknown;
  headers?: Record<string, string>;
}

export type Api = (method: string, path: string, options?: CallOptions) => Promise<Answer>;

/** Calls below a base address, as a browser's fetch would, or by another one. */
export const apiAt =
  (base: string, send: typeof fetch = fetch): Api =>
  async (method, path, { token, body, headers = {} } = {}) => {
    const raw = typeof body === 'string' || body instanceof Uint8Array;
    const response = await send(base + path, {
      method,
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      body: body === undefined ? null : raw ? (body as string) : JSON.stringify(body),
    });
    const text = await response.text();
    const isJson = /^[^;]*[/+]json *(;|$)/.test(response.headers.get('content-type') ?? '');
    return {
      status: response.status,
      headers: response.headers,
      body: isJson && text ? JSON.parse(text) : text,
    };
  };
