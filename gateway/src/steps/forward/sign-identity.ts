import type { IncomingMessage } from 'node:http';
import { isAct, type RouteDefinition } from '@backlot/contract';
import {
  createIdentitySigner,
  type Identity,
  type IdentityKey,
  identityHeader,
} from '@backlot/identity';
import type { Charge } from '../../admission/charge.ts';
import type { Caller } from '../../directory/caller.ts';
import type { GatewayProject } from '../../directory/gateway-project.ts';

/** Never reach a service: they concern the connection, or would let a caller speak for the gateway. */
const removed = new Set([
  'baggage',
  'traceparent',
  'tracestate',
  'backlot-preview',
  'backlot-view-as',
  'connection',
  'authorization',
  'cookie',
  'expect',
  'forwarded',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'upgrade',
  'via',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-port',
  'x-forwarded-proto',
  'x-real-ip',
]);
/** What a `Connection` header may not take away, because the body's frame hangs on it. */
const frame = new Set(['content-length', 'transfer-encoding', 'host']);

const namesIn = (connection: string) =>
  connection
    .toLowerCase()
    .split(',')
    .map((name) => name.trim());

/** A new object: after `delete`, V8 looks every name up in a table. */
const passedHeaders = (headers: IncomingMessage['headers']): IncomingMessage['headers'] => {
  const { connection } = headers;
  const isUsual = connection === undefined || connection === 'keep-alive' || connection === 'close';
  const named = isUsual ? undefined : new Set(namesIn(connection));
  const passed: IncomingMessage['headers'] = {};
  for (const name of Object.keys(headers)) {
    if (removed.has(name) || (named?.has(name) && !frame.has(name))) continue;
    passed[name] = headers[name];
  }
  return passed;
};

const maxUserAgent = 300;

const findCookie = ({ cookie }: IncomingMessage['headers'], name: string | undefined) =>
  name === undefined ? undefined : cookie?.split('; ').find((pair) => pair.startsWith(`${name}=`));

export interface SignedCall {
  /** The identity is good for this route alone, and the one cookie that it takes passes. */
  definition: Pick<
    RouteDefinition,
    'service' | 'operationId' | 'cookie' | 'plane' | 'method' | 'changesNothing'
  >;
  project: GatewayProject;
  caller: Caller;
  address: string;
  requestId: string;
  traceparent: string | undefined;
  charge: Charge | undefined;
}

/** Leaves on the request only what a service may see, and adds who calls. */
export const createSignIdentity = (keys: readonly IdentityKey[], now: () => number) => {
  const signer = createIdentitySigner(keys, now);
  return (
    req: IncomingMessage,
    { definition, project, caller, address, requestId, traceparent, charge }: SignedCall,
  ): void => {
    const headers = passedHeaders(req.headers);
    const passedCookie = findCookie(req.headers, definition.cookie);
    if (passedCookie !== undefined) headers.cookie = passedCookie;
    headers['x-request-id'] = requestId;
    if (traceparent !== undefined) headers.traceparent = traceparent;
    req.headers = headers;
    const isTold = definition.service === 'auth' || isAct(definition);
    const userAgent = isTold && headers['user-agent'];
    const identity: Identity = {
      project: project.identity,
      caller: caller.kind,
      userId: caller.userId,
      sessionId: caller.sessionId,
      keyId: caller.key?.id ?? null,
      ...(caller.operator && { operator: caller.operator }),
      ...(caller.key?.scopes && { keyScopes: caller.key.scopes }),
      ...(caller.role !== undefined && { role: caller.role }),
      ...(caller.memberRole && { memberRole: caller.memberRole }),
      ...(caller.groups && { groups: caller.groups }),
      ...(caller.isGuest && { isGuest: true as const }),
      ...(caller.emailVerified && { emailVerified: true as const }),
      ip: address,
      ...(userAgent && { userAgent: userAgent.slice(0, maxUserAgent) }),
      ...(caller.hasBadCredential && { hasBadCredential: true }),
      ...(caller.isBlocked && { isBlocked: true }),
      ...(caller.isView && { isView: true }),
      ...(charge && {
        reservation: {
          callId: charge.callId,
          millicredits: charge.millicredits,
          millicreditsPerUnit: charge.millicreditsPerUnit,
          ...(charge.boundBy && { boundBy: charge.boundBy }),
        },
      }),
    };
    headers[identityHeader] = signer.sign(identity, definition.service, definition.operationId);
  };
};
