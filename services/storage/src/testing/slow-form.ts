import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { storageRoutes } from '@backlot/contract';
import { type Identity, identityHeader } from '@backlot/identity';
import { anonymous, signed } from '@backlot/testing';
import type { TestBed } from './test-bed.ts';

const head = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.bin"\r\n\r\n';
export const end = '\r\n--b--\r\n';

/** A form that is sent bit by bit. */
export const beginForm = (
  bed: TestBed,
  headers: Record<string, string | number> = {},
  identity: Identity = anonymous(),
) => {
  const req = request(`${bed.http.url}/storage/upload`, {
    method: 'POST',
    headers: {
      [identityHeader]: signed(identity, storageRoutes.uploadFile),
      'content-type': 'multipart/form-data; boundary=b',
      ...headers,
    },
  });
  req.on('error', () => {});
  req.write(head);
  return req;
};

export const readAnswer = async (req: ClientRequest) => {
  const [res] = (await once(req, 'response')) as [IncomingMessage];
  const text = Buffer.concat(await res.toArray()).toString();
  return { status: res.statusCode, body: JSON.parse(text) };
};
