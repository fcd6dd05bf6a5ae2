import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { type Identity, identityHeader } from '@backlot/identity';
import { anonymous, findTestRoute, signed } from '@backlot/testing';
import { Metadata } from '@tus/server';

export interface TusAnswer {
  status: number;
  headers: IncomingMessage['headers'];
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  body: any;
}

export interface TusOptions {
  identity?: Identity;
  /** Undefined leaves one out that would be sent. */
  headers?: Record<string, string | undefined>;
  body?: Buffer;
}

const readAnswer = async (req: ClientRequest): Promise<TusAnswer> => {
  const [res] = (await once(req, 'response')) as [IncomingMessage];
  const text = Buffer.concat(await res.toArray()).toString();
  const isJson = res.headers['content-type']?.startsWith('application/json') && text !== '';
  return {
    status: res.statusCode ?? 0,
    headers: res.headers,
    body: isJson ? JSON.parse(text) : text,
  };
};

/** The protocol by hand. @param url of the service; @param now the service's clock */
export const tusAt = (url: () => string, now: () => number = Date.now) => {
  const begin = (
    method: string,
    path: string,
    { identity = anonymous(), headers = {} }: TusOptions = {},
  ) => {
    const all = { 'tus-resumable': '1.0.0', ...headers };
    const sent = Object.entries(all).filter(([, value]) => value !== undefined);
    const req = request(url() + path, {
      method,
      headers: {
        [identityHeader]: signed(identity, findTestRoute(method, path), now()),
        ...Object.fromEntries(sent),
      },
    });
    req.on('error', () => {});
    return req;
  };
  const call = (method: string, path: string, options: TusOptions = {}): Promise<TusAnswer> => {
    const req = begin(method, path, options);
    req.end(options.body);
    return readAnswer(req);
  };
  const bytes = { 'content-type': 'application/offset+octet-stream' };

  return {
    call,
    create: (sizeBytes: number, values: Record<string, string> = {}, options: TusOptions = {}) =>
      call('POST', '/storage/tus', {
        ...options,
        headers: {
          'upload-length': String(sizeBytes),
          ...(Object.keys(values).length > 0 && { 'upload-metadata': Metadata.stringify(values) }),
          ...options.headers,
        },
      }),
    append: (id: string, offset: number, body: Buffer, options: TusOptions = {}) =>
      call('PATCH', `/storage/tus/${id}`, {
        ...options,
        body,
        headers: { ...bytes, 'upload-offset': String(offset), ...options.headers },
      }),
    /** A part whose bytes the test sends itself. */
    beginAppend(id: string, offset: number, options: TusOptions = {}) {
      const headers = { ...bytes, 'upload-offset': String(offset), ...options.headers };
      const req = begin('PATCH', `/storage/tus/${id}`, { ...options, headers });
      return { req, answer: () => readAnswer(req) };
    },
    head: (id: string, options: TusOptions = {}) => call('HEAD', `/storage/tus/${id}`, options),
    get: (id: string, options: TusOptions = {}) => call('GET', `/storage/tus/${id}`, options),
    end: (id: string, options: TusOptions = {}) => call('DELETE', `/storage/tus/${id}`, options),
  };
};
