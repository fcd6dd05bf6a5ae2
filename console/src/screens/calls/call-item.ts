import { operations } from 'virtual:contract';
import type { PlainCall } from '../../api/call.ts';
import type { Item } from '../../api/operation-types.ts';
import { asFetch } from '../../api/snippets.ts';

export type LogItem = Item<'listRequests'>;
export type LoggedCall = Extract<LogItem, { type: 'call' }>;
export type Gap = Extract<LogItem, { type: 'gap' }>;

/** Of the list and of the stream the same, so that what both told is there once. */
export const itemKey = (item: LogItem): string =>
  item.type === 'call' ? `${item.at} ${item.requestId}` : `${item.at} gap`;

export const hasFailed = ({ status }: LoggedCall): boolean => status >= 400;

const controlPlane = '/api/platform';
/** Of the app, or a gap in the log: not what owners and their keys do on the control plane. */
export const isOfApp = (item: LogItem): boolean =>
  item.type === 'gap' || !item.path.startsWith(controlPlane);
const plane = ({ path }: LoggedCall) => (path.startsWith(controlPlane) ? 'platform' : 'runtime');

/** The call again, as far as the log knows it: values of its body were never kept. */
export const toPlainCall = (call: LoggedCall, projectId: string): PlainCall => {
  const isControl = plane(call) === 'platform';
  return {
    method: call.method as PlainCall['method'],
    path: isControl ? call.path.slice(controlPlane.length) : call.path,
    project: isControl ? undefined : projectId,
    query: {},
    body: call.fields?.length
      ? Object.fromEntries(call.fields.map((field) => [field, '…']))
      : undefined,
  };
};

export const callerWords = ({ caller, userId, keyId }: LoggedCall): string =>
  userId && caller === 'user' ? `user ${userId}` : keyId ? `key ${keyId}` : caller;

/** The call as it runs in any page's console: what the log does not keep is named where it belongs. */
export const asFetchAgain = (call: LoggedCall, projectId: string, origin: string): string => {
  const isSigned = call.caller !== 'visitor';
  const isBodyUnknown = call.method !== 'GET' && !call.fields?.length && call.requestBytes !== 0;
  const lines = [
    ...(isSigned ? [`const token = '…'; // of ${callerWords(call)}: the log keeps no tokens`] : []),
    ...(isBodyUnknown ? ['// The log does not know its body: add what your app has sent.'] : []),
    asFetch(toPlainCall(call, projectId), origin, {
      isSigned,
      read: 'console.log(response.status, await response.text());',
    }),
  ];
  return lines.join('\n');
};

export const operationOfCall = (call: LoggedCall): string | undefined => {
  const described = `${call.method} ${plane(call)} ${call.route}`;
  return Object.keys(operations).find((id) => operations[id] === described);
};

/** Where the documentation of the call is, below the host. */
export const docsPath = (call: LoggedCall): string => {
  const operation = operationOfCall(call);
  return operation ? `/docs/api/${operation}` : '/docs';
};

/** What somebody who helps has to know, as plain text. */
export const forAgent = (call: LoggedCall, projectId: string, origin: string): string => {
  const { method, path, status, code, error, hint, fields } = call;
  const lines = [
    `A call of my app to its Backlot backend ${hasFailed(call) ? 'fails' : 'is to be looked at'}.`,
    '',
    `Called: ${method} ${plane(call) === 'platform' ? origin : `${origin}/api/runtime/${projectId}`}${path}`,
    `By: ${callerWords(call)}${call.client ? `, from a page of ${call.client}` : ''}, at ${call.at}`,
    ...(fields
      ? [`Fields of its body (values are not logged): ${fields.join(', ') || 'none'}`]
      : []),
    `Answer: ${status}${code ? ` ${code}` : ''}, after ${call.ms} ms; request ${call.requestId}`,
    ...(error ? [`Error: ${error}`] : []),
    ...(hint ? [`Hint: ${hint}`] : []),
    '',
    `This call is documented at ${origin}${docsPath(call)}`,
    `All of the API, for agents: ${origin}/llms.txt (in short), ${origin}/llms-full.txt (with every rule)`,
    '',
    'The same call, with "…" where the log keeps no value:',
    asFetchAgain(call, projectId, origin),
  ];
  return lines.join('\n');
};
