import { type ClassLimits, defaultLimits, type LimitClass } from '@backlot/contract';
import { Html, html } from '@backlot/http';
import { type WrittenCall, writeCurl, writeFetch, writePath } from './browser/calls.js';
import { renderCode, renderText } from './code.ts';
import { renderFields, renderSchema, type Schemas } from './fields.ts';
import type { Operation, Parameter } from './operations.ts';
import { writeSdk } from './sdk-examples.ts';
import { renderTryIt } from './try-it.ts';

export interface OperationPageOptions {
  schemas: Schemas;
  /** What any call may also answer. */
  anyFailure: string;
  publicUrl: string;
}

const nothing = new Html('');

const exampleCall = (operation: Operation, baseUrl: string, host: string): WrittenCall => {
  const { method, path, body, group, needsToken, parameters } = operation;
  const examples = (place: Parameter['in']) =>
    Object.fromEntries(
      parameters
        .filter(
          ({ in: there, required, example }) =>
            there === place && required && example !== undefined,
        )
        .map(({ name, example }) => [name, String(example)]),
    );
  const base = group.plane === 'platform' ? `${host}/api/platform` : baseUrl;
  const kinds: Readonly<Record<string, 'json' | 'form'>> = {
    'application/json': 'json',
    'multipart/form-data': 'form',
  };
  return {
    method,
    url: base + writePath(path, examples('path'), examples('query')),
    needsToken,
    ...(body && {
      body: { kind: kinds[body.type] ?? 'bytes', type: body.type, value: body.example ?? {} },
    }),
  };
};

const tabs = (examples: readonly (readonly [string, string, string])[]): Html => {
  const buttons = examples.map(
    ([name], index) =>
      html`<button type="button" role="tab" id="tab-${name}" aria-controls="example-${name}" aria-selected="${index === 0 ? 'true' : 'false'}" tabindex="${index === 0 ? 0 : -1}">${name}</button>`,
  );
  const panels = examples.map(
    ([name, code, language], index) =>
      html`<div role="tabpanel" id="example-${name}" aria-labelledby="tab-${name}"${index === 0 ? nothing : new Html(' hidden')}>${renderCode(code, language, `Example: ${name}`)}</div>`,
  );
  return html`<section class="docs-examples" aria-label="Examples"><div class="tabs" role="tablist" aria-label="Languages">${buttons}</div>${panels}</section>`;
};

const sizes = ['KB', 'MB', 'GB'];

/** `1280 KiB` as a reader counts. */
const readableSize = (text: string) =>
  text.replace(/(\d+) KiB/, (_, kib: string) => {
    let [size, unit] = [Number(kib), 0];
    while (size >= 1024 && unit < sizes.length - 1) [size, unit] = [size / 1024, unit + 1];
    return `${size.toLocaleString('en', { maximumFractionDigits: 2 })} ${sizes[unit]}`;
  });

const describeLimit = (name: string) => {
  const limit = (defaultLimits as Partial<ClassLimits>)[name as LimitClass];
  const each = limit
    ? `: ${limit.perCaller.toLocaleString('en')} calls a minute of a caller, ${limit.perProject.toLocaleString('en')} of a project, unless its owner sets others`
    : '';
  return html`<code>${name}</code>${each}`;
};

const renderFacts = ({ facts }: Operation): Html => {
  const { Callers, Body, Price } = facts;
  const rate = facts['Rate class'];
  const rows: [string, Html][] = [
    ...(Callers ? [['Who may call', html`${Callers}`] as [string, Html]] : []),
    ...(rate ? [['Limit', describeLimit(rate)] as [string, Html]] : []),
    ...(Body ? [['Body', html`${readableSize(Body)}`] as [string, Html]] : []),
    ['Price', html`${Price ?? 'free'}`],
  ];
  return html`<dl class="facts">${rows.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;
};

const parameterFields = (parameters: readonly Parameter[]) =>
  parameters.map(({ name, schema, required, description }) => ({
    name,
    schema,
    isRequired: required,
    description,
  }));

const places = [
  ['path', 'In the path'],
  ['query', 'In the query'],
  ['header', 'Headers'],
] as const;

const renderParameters = ({ parameters }: Operation, schemas: Schemas): Html =>
  html`${places.map(([place, title]) => {
    const here = parameters.filter((one) => one.in === place);
    if (here.length === 0) return nothing;
    return html`<h2 id="${place}">${title}</h2>${renderFields(parameterFields(here), schemas)}`;
  })}`;

const renderBody = ({ body }: Operation, schemas: Schemas): Html =>
  body
    ? html`<h2 id="sent">Body</h2><p class="quiet-text">${body.types.join(' or ')}</p>${renderSchema(body.schema, schemas)}`
    : nothing;

const renderAnswers = ({ answers }: Operation, schemas: Schemas): Html =>
  html`<h2 id="answers">Answer</h2>${answers.map(
    ({ status, description, types, schema }) =>
      html`<p><span class="badge good">${status}</span> ${description === 'Done' ? '' : description} <span class="quiet-text">${types.join(' or ') || 'no body'}</span></p>${schema ? renderSchema(schema, schemas) : nothing}`,
  )}`;

const renderFailures = ({ failures }: Operation, anyFailure: string): Html => {
  const rows = failures.map(
    ({ status, codes }) =>
      html`<tr><td><span class="badge bad">${status}</span></td><td>${codes.map((code) => html`<code>${code}</code> `)}</td></tr>`,
  );
  const table =
    rows.length > 0
      ? html`<div class="scroll-x" tabindex="0" role="group" aria-label="Errors"><table class="table"><thead><tr><th scope="col">Status</th><th scope="col">Codes</th></tr></thead><tbody>${rows}</tbody></table></div>`
      : nothing;
  return html`<h2 id="errors">Errors</h2>${table}<p class="quiet-text">${anyFailure} <a href="/docs/guides/errors">What an error says</a>.</p>`;
};

/** The page of one operation: what it is, examples, a form that tries it, and each field, error and limit. */
export const renderOperation = (
  operation: Operation,
  { schemas, anyFailure, publicUrl }: OperationPageOptions,
): Html => {
  const { id, title, method, path, group, summary } = operation;
  const baseUrl = `${publicUrl}/api/runtime/demo`;
  const call = exampleCall(operation, baseUrl, publicUrl);
  const sdk = writeSdk(id, publicUrl, baseUrl);
  const base = group.plane === 'platform' ? '/api/platform' : '';
  const examples = [
    ...(sdk === undefined ? [] : [['SDK', sdk, 'js'] as const]),
    ['fetch', writeFetch(call), 'js'] as const,
    ['curl', writeCurl(call), 'sh'] as const,
  ];
  return html`<article class="docs-operation">
<div class="docs-intro">
<p class="docs-path-up"><a href="/docs">Docs</a> / <a href="/docs/api/${group.name}">${group.title}</a></p>
<h1>${title}</h1>
<p class="docs-call"><span class="method" data-method="${method}">${method}</span> <code>${base}${path}</code></p>
${summary === title ? nothing : html`<p class="docs-lead">${renderText(summary)}.</p>`}
${renderFacts(operation)}
</div>
<div class="docs-beside">${tabs(examples)}${renderTryIt(operation)}</div>
<div class="docs-reference">
${renderParameters(operation, schemas)}${renderBody(operation, schemas)}${renderAnswers(operation, schemas)}${renderFailures(operation, anyFailure)}
</div>
</article>`;
};
