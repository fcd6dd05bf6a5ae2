import type { PlainCall } from './call.ts';

/** Objects go as JSON, as the client sends them. */
const searchText = (query: PlainCall['query']): string => {
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined);
  const search = new URLSearchParams(
    pairs.map(([name, value]): [string, string] => [
      name,
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? JSON.stringify(value)
        : String(value),
    ]),
  );
  return pairs.length > 0 ? `?${search}` : '';
};

const baseAddress = ({ project }: PlainCall, origin: string) =>
  `${origin}/api/${project === undefined ? 'platform' : `runtime/${project}`}`;

const address = (call: PlainCall, origin: string) =>
  `${baseAddress(call, origin)}${call.path}${searchText(call.query)}`;

/** In a shell's single quotes. */
const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** In a string of JavaScript. */
const literal = (text: string) =>
  `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;

const indent = (value: unknown, by: string) =>
  JSON.stringify(value, null, 2).replaceAll('\n', `\n${by}`);

export const asCurl = (call: PlainCall, origin: string): string => {
  const parts = [
    `curl -s${call.method === 'GET' || call.body !== undefined ? '' : ` -X ${call.method}`}`,
  ];
  if (call.body !== undefined && call.method !== 'POST') parts[0] += ` -X ${call.method}`;
  parts[0] += ` ${quote(address(call, origin))}`;
  parts.push('-H "Authorization: Bearer $TOKEN"');
  for (const [name, value] of Object.entries(call.headers ?? {}))
    parts.push(`-H ${quote(`${name}: ${value}`)}`);
  if (call.body !== undefined) parts.push(`--json ${quote(JSON.stringify(call.body))}`);
  return parts.join(' \\\n  ');
};

interface FetchOptions {
  /** Whether a token goes along; yes unless stated. */
  isSigned?: boolean;
  /** What is done with the answer; read as JSON, where there is one, unless stated. */
  read?: string;
}

export const asFetch = (
  call: PlainCall,
  origin: string,
  { isSigned = true, read }: FetchOptions = {},
): string => {
  const method = call.method === 'GET' ? '' : `\n  method: '${call.method}',`;
  const body =
    call.body === undefined ? '' : `\n  body: JSON.stringify(${indent(call.body, '  ')}),`;
  const headers = [
    ...(isSigned ? [`Authorization: \`Bearer \${token}\``] : []),
    ...(call.body === undefined ? [] : ["'Content-Type': 'application/json'"]),
    ...Object.entries(call.headers ?? {}).map(
      ([name, value]) => `${literal(name)}: ${literal(value)}`,
    ),
  ].join(', ');
  const isRead = call.method === 'GET' || call.body !== undefined;
  const reading = read ?? (isRead ? 'const answer = await response.json();' : '');
  const options = `${method}${headers && `\n  headers: { ${headers} },`}${body}`;
  return `const response = await fetch(${literal(address(call, origin))}${options && `, {${options}\n}`});${
    reading && `\n${reading}`
  }`;
};

export const asSdk = (call: PlainCall, origin: string): string => {
  const options = {
    ...(Object.keys(call.query).length > 0 && { query: call.query }),
    ...(call.body !== undefined && { body: call.body }),
    ...(call.headers && { headers: call.headers }),
  };
  const third = Object.keys(options).length > 0 ? `, ${indent(options, '')}` : '';
  return `import { createClient } from ${literal(`${origin}/sdk.js`)};

const client = createClient(${literal(baseAddress(call, origin))}, { key: token });
const answer = await client.transport.call('${call.method}', ${literal(call.path)}${third});`;
};
