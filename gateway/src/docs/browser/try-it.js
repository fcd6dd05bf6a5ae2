/** Try it: sends the call that the form describes, and writes the examples as the reader fills it in. */
import { writeCurl, writeFetch, writePath } from './calls.js';
import { tokenize } from './tokens.js';

const form = document.querySelector('#try');
const { method, path, plane, body: bodyType, needsToken } = form.dataset;
const byId = (id) => document.getElementById(id);
const [base, token] = [byId('base'), byId('token')];
const demo = `${document.body.dataset.host}/api/runtime/demo`;
const storageKey = 'backlot docs';
const maxShownLength = 100_000;
const maxColouredLength = 20_000;

const kept = () => {
  try {
    return JSON.parse(sessionStorage.getItem(storageKey) ?? '{}');
  } catch {
    return {};
  }
};
const keep = () => {
  try {
    sessionStorage.setItem(storageKey, JSON.stringify({ base: base.value, token: token.value }));
  } catch {
    // Where nothing may be kept, it holds for this page alone.
  }
};

/** The project's id, or undefined where the address is not one of this installation. */
const projectId = () => {
  const text = base.value.trim();
  if (/^[\w-]+$/.test(text)) return text;
  if (!URL.canParse(text)) return undefined;
  const { origin, pathname } = new URL(text);
  const ours = [location.origin, new URL(document.body.dataset.host).origin];
  return ours.includes(origin) ? /^\/api\/runtime\/([\w-]+)\/?$/.exec(pathname)?.[1] : undefined;
};

const baseUrl = (host) =>
  plane === 'platform' ? `${host}/api/platform` : `${host}/api/runtime/${projectId() ?? 'demo'}`;

const valuesIn = (place) =>
  Object.fromEntries(
    [...form.elements]
      .filter(({ name }) => name?.startsWith(`${place}:`))
      .map(({ name, value }) => [name.slice(place.length + 1), value.trim()]),
  );

/** Headers that somebody has filled in, such as Idempotency-Key. */
const headersGiven = () =>
  Object.fromEntries(Object.entries(valuesIn('header')).filter(([, value]) => value !== ''));

const write = (code, text, language) => {
  const tokens = text.length > maxColouredLength ? [['', text]] : tokenize(text, language);
  code.replaceChildren(
    ...tokens.map(([kind, part]) => {
      if (kind === '') return part;
      const span = document.createElement('span');
      span.className = `tok-${kind}`;
      span.textContent = part;
      return span;
    }),
  );
};

const parsedBody = () => {
  try {
    return { value: JSON.parse(form.elements.body.value) };
  } catch (error) {
    return { problem: `The body is not JSON: ${error.message}` };
  }
};

const exampleBody = () => {
  if (bodyType === '') return {};
  if (bodyType === 'multipart/form-data') return { body: { kind: 'form' } };
  if (bodyType !== 'application/json') return { body: { kind: 'bytes', type: bodyType } };
  const { value, problem } = parsedBody();
  return problem ? { problem } : { body: { kind: 'json', value } };
};

const codeIn = (name) => document.querySelector(`#example-${name} code`);
const sdkText = codeIn('SDK')?.textContent;

const showExamples = () => {
  byId('base-problem').textContent =
    projectId() === undefined
      ? `A base address of this installation looks like ${document.body.dataset.host}/api/runtime/<project>.`
      : '';
  const { body, problem } = exampleBody();
  const host = document.body.dataset.host;
  if (sdkText) write(codeIn('SDK'), sdkText.replaceAll(demo, baseUrl(host)), 'js');
  if (problem) return;
  const call = {
    method,
    url: baseUrl(host) + writePath(path, valuesIn('path'), valuesIn('query')),
    needsToken: needsToken === '1' || token.value !== '',
    headers: headersGiven(),
    ...(body && { body }),
  };
  write(codeIn('fetch'), writeFetch(call), 'js');
  write(codeIn('curl'), writeCurl(call), 'sh');
};

const useProject = (address) => {
  base.value = address;
  const project = form.elements['path:projectId'];
  if (project && projectId() !== undefined) project.value = projectId();
};

const restore = () => {
  const { base: address = demo, token: credential = '' } = kept();
  useProject(address);
  token.value = credential;
  showExamples();
};

base.addEventListener('change', () => {
  useProject(base.value);
  keep();
  showExamples();
});
token.addEventListener('change', () => {
  keep();
  showExamples();
});
byId('forget').addEventListener('click', () => {
  base.value = demo;
  token.value = '';
  keep();
  restore();
});
form.addEventListener('input', showExamples);

const requestBody = () => {
  if (bodyType === '') return {};
  if (bodyType === 'application/json') {
    const { value, problem } = parsedBody();
    return problem
      ? { problem }
      : { body: JSON.stringify(value), headers: { 'Content-Type': bodyType } };
  }
  const [file] = form.elements.file.files;
  if (!file) return { problem: 'Choose a file first.' };
  if (bodyType !== 'multipart/form-data')
    return { body: file, headers: { 'Content-Type': bodyType } };
  const content = new FormData();
  content.set('file', file);
  return { body: content };
};

const problemIn = () => {
  if (projectId() === undefined) return 'Set the base address of your project first.';
  if (/[^\x21-\x7e]/.test(token.value.trim()))
    return 'The token has a space or a letter that no token has. Copy it again.';
  const missing = [...form.elements].find((field) => field.required && field.value.trim() === '');
  if (!missing) return undefined;
  missing.focus();
  return `${missing.name.split(':').at(-1)} is needed.`;
};

const isText = (type) => /json|text|xml|javascript|ndjson/.test(type);

/** Reads as long as somebody wants to see more: a stream of events has no end. */
const readText = async (answer, onText) => {
  const decoder = new TextDecoder();
  let text = '';
  for await (const part of answer.body ?? []) {
    text += decoder.decode(part, { stream: true });
    onText(text);
    if (text.length > maxShownLength) return `${text.slice(0, maxShownLength)}\n… (cut here)`;
  }
  return text;
};

/** Undefined where it is no JSON, as when a proxy answered: then it is shown as it is. */
const parsed = (text) => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const offer = (text, use) => {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'small';
  button.textContent = text;
  button.addEventListener('click', () => {
    use();
    keep();
    showExamples();
    button.replaceWith('Taken: it stands above, under “Your project”.');
  });
  byId('answer-offers').append(button);
};

const showAnswer = async (answer, startedAt) => {
  const status = byId('answer-status');
  status.textContent = `${answer.status} ${answer.statusText}`.trim();
  status.className = `badge ${answer.ok ? 'good' : 'bad'}`;
  const hint = answer.headers.get('Backlot-Hint');
  byId('answer-facts').textContent = [
    `${Math.round(performance.now() - startedAt)} ms`,
    ...(hint ? [`hint: ${hint}`] : []),
  ].join(', ');
  byId('answer-offers').replaceChildren();
  byId('answer').hidden = false;
  const code = byId('answer-body');
  code.textContent = '';
  const type = answer.headers.get('Content-Type') ?? '';
  if (!isText(type)) {
    const size = Number(answer.headers.get('Content-Length') ?? Number.NaN);
    await answer.body?.cancel();
    code.textContent =
      type === '' || size === 0
        ? 'No body.'
        : `${Number.isNaN(size) ? 'Bytes' : `${size.toLocaleString()} bytes`} of ${type}, which are not shown here.`;
    return;
  }
  const text = await readText(answer, (part) => {
    code.textContent = part;
  });
  code.textContent = text || 'No body.';
  if (!type.includes('application/json') || text.length > maxShownLength) return;
  const value = parsed(text);
  if (value === undefined) return;
  write(code, JSON.stringify(value, null, 2), 'json');
  if (typeof value?.token === 'string')
    offer('Use this token', () => {
      token.value = value.token;
    });
  if (typeof value?.baseUrl === 'string')
    offer('Use this project', () => useProject(value.baseUrl));
};

let running;
byId('stop').addEventListener('click', () => running?.abort());

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const say = (text) => {
    byId('try-problem').textContent = text;
  };
  const { body, headers, problem } = requestBody();
  const wrong = problemIn() ?? problem;
  say(wrong ?? '');
  if (wrong) return;
  const button = event.submitter ?? form.querySelector('button');
  running = new AbortController();
  button.disabled = true;
  byId('stop').hidden = false;
  const startedAt = performance.now();
  const credential = token.value.trim();
  try {
    const url = baseUrl(location.origin) + writePath(path, valuesIn('path'), valuesIn('query'));
    const answer = await fetch(url, {
      method,
      body,
      credentials: 'omit',
      headers: {
        ...headersGiven(),
        ...headers,
        ...(credential && { Authorization: `Bearer ${credential}` }),
      },
      signal: running.signal,
    });
    await showAnswer(answer, startedAt);
  } catch (error) {
    if (error.name !== 'AbortError')
      say('The server can not be reached, or the call was stopped. Try again.');
  } finally {
    button.disabled = false;
    byId('stop').hidden = true;
  }
});

restore();
