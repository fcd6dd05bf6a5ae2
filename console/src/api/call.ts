import { operations } from 'virtual:contract';
import { BacklotError } from '@backlot/client';
import type { Answer, Input, OperationId } from './operation-types.ts';
import { operatorClient, operatorEnded } from './operator.ts';
import { secondFactorNeeded } from './second-factor.ts';
import { platformClient, projectClient, sessionEnded } from './session.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface AnyInput {
  project?: string;
  params?: Readonly<Record<string, string>>;
  query?: Readonly<Record<string, unknown>>;
  body?: unknown;
}

/** A call as it goes over the wire. */
export interface PlainCall {
  method: Method;
  /** Below the base: `/projects/abc/keys`. */
  path: string;
  /** Of the project whose runtime it calls; undefined for `/api/platform`. */
  project: string | undefined;
  query: Readonly<Record<string, unknown>>;
  body: unknown;
  /** Beside those of every call. */
  headers?: Readonly<Record<string, string>> | undefined;
}

/** @throws Error for an operation that the contract does not have */
export const describeCall = (name: OperationId, input: AnyInput): PlainCall => {
  const [method, plane, pattern] = (operations[name] ?? '').split(' ');
  if (!method || !pattern) throw new Error(`There is no operation "${name}".`);
  const path = pattern.replace(/:(\w+)/g, (_, param: string) =>
    encodeURIComponent(input.params?.[param] ?? ''),
  );
  const { project, query = {}, body } = input;
  const isRuntime = plane === 'runtime';
  return { method: method as Method, path, project: isRuntime ? project : undefined, query, body };
};

export interface CallExtras {
  signal?: AbortSignal;
  /** Beside the client's own, such as `If-Match`, or in place of them; undefined: none of the name. */
  headers?: Record<string, string | undefined>;
  /** With the operator's token, not the owner's. */
  as?: 'operator' | undefined;
}

const clientFor = ({ project }: PlainCall, as: CallExtras['as']) => {
  if (as === 'operator') return operatorClient();
  return project === undefined ? platformClient() : projectClient(project);
};

/** Sends it and returns the raw answer: for files, and for answers whose headers matter. @throws BacklotError */
export const send = async <Name extends OperationId>(
  name: Name,
  input: NoInfer<Input<Name>>,
  { signal, headers, as }: CallExtras = {},
): Promise<Response> => {
  const call = describeCall(name, input as unknown as AnyInput);
  try {
    return await clientFor(call, as).transport.send(call.method, call.path, {
      query: call.query,
      ...(call.body !== undefined && { body: call.body }),
      ...(headers && { headers }),
      signal,
    });
  } catch (error) {
    if (error instanceof BacklotError) {
      if (error.status === 401) (as === 'operator' ? operatorEnded : sessionEnded)();
      if (error.code === 'factor_first' && as === undefined) secondFactorNeeded();
    }
    throw error;
  }
};

/**
 * Calls an operation of the contract by its name, as the owner who is signed in.
 * @example await call('listKeys', { params: { projectId } })
 * @throws BacklotError
 */
export const call = async <Name extends OperationId>(
  name: Name,
  input: NoInfer<Input<Name>>,
  extras?: CallExtras,
): Promise<Answer<Name>> => {
  const answer = await send<Name>(name, input, extras);
  return (answer.status === 204 ? undefined : await answer.json()) as Answer<Name>;
};
