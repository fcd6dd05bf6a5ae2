import { type LoggedCall, type RouteDefinition, requestRoutes } from '@backlot/contract';
import { describeFailedBody, type FailedBody } from '@backlot/http';
import type { Caller } from '../directory/caller.ts';
import { listQueryValues, showAddress, showOrigin, showPath, showSentence } from './clean.ts';
import type { FailedAnswer } from './heard-answer.ts';

/** What is known of a call by its end; all of it is cleaned before anybody sees it. */
export interface EndedCall {
  /** Epoch milliseconds of its beginning. */
  at: number;
  requestId: string;
  method: string;
  path: string;
  search: string;
  definition: Pick<RouteDefinition, 'path' | 'plane'> | undefined;
  status: number;
  durationMs: number;
  /** Undefined where it is known later. */
  usedMillicredits: number | undefined;
  contentLength: string | undefined;
  responseBytes: number;
  caller: Pick<Caller, 'kind' | 'userId' | 'key' | 'memberRole'> | undefined;
  address: string;
  origin: string | undefined;
  failed: FailedAnswer | undefined;
  /** What cut the answer off, where it has no body. */
  cutOff: { code: string; message: string } | undefined;
  /** Where the gateway has read it. */
  body: unknown;
}

interface Failure {
  code: string;
  error: string;
  hint: string | undefined;
}

const isCode = /^[a-z][a-z_]{0,60}$/;

const readJson = (text: string): Record<string, unknown> | undefined => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
};

const readFailure = ({ failed, cutOff }: EndedCall): Failure | undefined => {
  if (!failed) return cutOff && { code: cutOff.code, error: cutOff.message, hint: undefined };
  const { error, code, hint } = readJson(Buffer.concat(failed.chunks).toString()) ?? {};
  if (typeof error !== 'string' || typeof code !== 'string' || !isCode.test(code)) return undefined;
  return { code, error, hint: typeof hint === 'string' ? hint : undefined };
};

const readDescribed = (described: string | undefined): Partial<FailedBody> => {
  if (described === undefined) return {};
  const { fields, error, hint } = readJson(Buffer.from(described, 'base64url').toString()) ?? {};
  const isText = (value: unknown): value is string => typeof value === 'string';
  return {
    ...(Array.isArray(fields) && { fields: fields.filter(isText) }),
    ...(isText(error) && { error }),
    ...(isText(hint) && { hint }),
  };
};

const toFailure = (call: EndedCall): Pick<LoggedCall, 'code' | 'error' | 'hint' | 'fields'> => {
  const failure = readFailure(call);
  const described = readDescribed(call.failed?.described);
  if (!failure) return { code: null, error: null, hint: null, fields: described.fields ?? null };
  const { code, error, hint } = failure;
  const own =
    call.body === undefined ? undefined : describeFailedBody(call.body, { message: error, hint });
  const told = { ...own, ...described };
  const values = [...listQueryValues(call.search), call.address];
  const shownHint = told.hint ?? hint;
  return {
    code,
    error: showSentence(told.error ?? error, values),
    hint: shownHint === undefined ? null : showSentence(shownHint, values),
    fields: told.fields ?? null,
  };
};

const noFailure = { code: null, error: null, hint: null, fields: null };

/** A call as the log has it. */
export const toLine = (call: EndedCall): LoggedCall => {
  const { definition, caller, contentLength } = call;
  const kind = requestRoutes.toCallerName(caller?.kind ?? 'anonymous');
  const length = Number(contentLength);
  return {
    at: new Date(call.at).toISOString(),
    requestId: call.requestId,
    method: call.method,
    route: definition?.path ?? null,
    path: showPath(call.path, definition),
    status: call.status,
    ...(call.status >= 400 ? toFailure(call) : noFailure),
    ms: Math.max(0, Math.round(call.durationMs)),
    millicredits: call.usedMillicredits ?? null,
    requestBytes: contentLength !== undefined && Number.isSafeInteger(length) ? length : null,
    responseBytes: call.responseBytes,
    caller: kind,
    userId: kind === 'user' ? (caller?.userId ?? null) : null,
    keyId: caller?.key?.id ?? null,
    ...(caller?.memberRole && caller.userId !== null && { memberId: caller.userId }),
    address: showAddress(call.address),
    client: showOrigin(call.origin),
    skipped: 0,
  };
};
