/** How a call is written down, for the server that writes pages and for the script that changes them. */

const indent = (text, by) => text.replaceAll('\n', `\n${by}`);

/** JSON as one writes it by hand: keys without quotes. */
const literal = (value) =>
  JSON.stringify(value, null, 2).replace(/^(\s*)"([A-Za-z_$][\w$]*)":/gm, '$1$2:');

const inShell = (text) => `'${text.replaceAll("'", `'\\''`)}'`;

const fetchBody = ({ kind, value, type }) => {
  if (kind === 'json')
    return {
      header: `'content-type': 'application/json'`,
      body: `JSON.stringify(${literal(value)})`,
    };
  if (kind === 'form')
    return {
      before: `const form = new FormData();\nform.set('file', new File(['Hello'], 'hello.txt'));\n`,
      body: 'form',
    };
  if (kind === 'bytes') return { header: `'content-type': '${type}'`, body: `'Hello'` };
  return {};
};

/** As a module of JavaScript. */
export const writeFetch = ({ method, url, needsToken, headers = {}, body }) => {
  const { before = '', header, body: sent } = body ? fetchBody(body) : {};
  const lines = [
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is what the example says
    ...(needsToken ? ['authorization: `Bearer ${token}`'] : []),
    ...Object.entries(headers).map(([name, value]) => `'${name}': '${value}'`),
    ...(header ? [header] : []),
  ];
  const options = [
    ...(method === 'GET' ? [] : [`method: '${method}',`]),
    ...(lines.length > 0 ? [`headers: { ${lines.join(', ')} },`] : []),
    ...(sent ? [`body: ${indent(sent, '  ')},`] : []),
  ];
  const given = options.length > 0 ? `, {\n${options.map((line) => `  ${line}\n`).join('')}}` : '';
  const start = needsToken ? "const token = 'a token';\n" : '';
  return `${start}${before}const answer = await fetch('${url}'${given});\nconsole.log(answer.status, await answer.text());`;
};

/** For a shell. */
export const writeCurl = ({ method, url, needsToken, headers = {}, body }) => {
  const isPlain = method === 'GET' || (method === 'POST' && body);
  const lines = [
    `curl ${isPlain ? '' : `-X ${method} `}${inShell(url)}`,
    ...(needsToken ? ['-H "Authorization: Bearer $TOKEN"'] : []),
    ...Object.entries(headers).map(([name, value]) => `-H ${inShell(`${name}: ${value}`)}`),
  ];
  if (body?.kind === 'json') lines.push(`--json ${inShell(JSON.stringify(body.value))}`);
  if (body?.kind === 'form') lines.push('-F file=@hello.txt');
  if (body?.kind === 'bytes')
    lines.push(`-H ${inShell(`Content-Type: ${body.type}`)}`, '--data-binary @hello.txt');
  return lines.join(' \\\n  ');
};

/** A path with its parameters, and what of the query is said. */
export const writePath = (path, inPath, inQuery) => {
  const filled = path.replace(/\{(\w+)\}/g, (whole, name) =>
    inPath[name] ? encodeURIComponent(inPath[name]) : whole,
  );
  const query = new URLSearchParams(
    Object.entries(inQuery).filter(([, value]) => value !== '' && value !== undefined),
  ).toString();
  return query ? `${filled}?${query}` : filled;
};
