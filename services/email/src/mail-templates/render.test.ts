import type { MailFields } from '@backlot/contract';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Parser } from 'htmlparser2';
import { appOrigins } from '../template-texts/app-origins.ts';
import { checkHtml } from '../template-texts/html-rules.ts';
import { readTags } from '../template-texts/language.ts';
import { explainProblems } from '../template-texts/problem.ts';
import { readData } from './data.ts';
import { renderWords } from './render.ts';

const app = appOrigins(
  {
    id: 'shop',
    settings: { allowedOrigins: ['https://shop.example'] },
    verifiedOrigins: ['https://app.example:8443'],
  },
  'https://api.example',
);
const fields: MailFields = {
  name: 'string',
  note: { type: 'text', optional: true },
  total: 'number',
  paid: { type: 'boolean', optional: true },
  order: 'id',
  link: 'url',
  items: { type: 'list', maxItems: 100, fields: { title: 'string', photo: 'url', sku: 'id' } },
};
const check = (html: string) =>
  explainProblems('html', html, () => checkHtml(html, readTags(html, fields), app));

/** Elements with their attributes, values left out but those of addresses. */
const skeleton = (html: string) => {
  const found: string[] = [];
  const parser = new Parser({
    onopentag: (name, attributes) =>
      found.push(`${name} ${Object.keys(attributes)} ${attributes.href ?? attributes.src ?? ''}`),
    oncomment: (text) => found.push(`comment ${text}`),
  });
  parser.end(html);
  return found;
};

describe('what is filled in', () => {
  const html =
    '<p>{{name}}</p>{{#note}}<p>{{note}}</p>{{/note}}<a href="{{link}}" title="{{name}}">{{name}}</a>{{#items}}<li><img src="{{photo}}" alt=\'{{title}}\'><a href="https://shop.example/p/{{sku}}">{{title}}{{name}}</a>{{/items}}';
  const hostile = fc.oneof(
    fc.constantFrom(
      '"><script>alert(1)</script>',
      "' onerror='x",
      '<!--',
      '{{name}}',
      '{{{link}}}',
      '&lt;b&gt;',
      '</title><a href=//evil.example>',
      '`',
      'x=y ',
    ),
    fc.string({ unit: 'grapheme', maxLength: 60 }),
  );
  const address = fc.constantFrom('https://shop.example/a?b=1&c="', "https://shop.example/'>");

  it('stays text: no element, no attribute and no address comes of it', () => {
    const rules = { app, refusesLinks: false };
    fc.assert(
      fc.property(hostile, hostile, hostile, address, (name, note, title, link) => {
        const text = name.replace(/[\p{Cc}\u2028-\u202e\u2066-\u2069]/gu, ' ');
        const inItem = title.replace(/[\p{Cc}\u2028-\u202e\u2066-\u2069]/gu, ' ');
        const data = {
          name: text,
          total: 1,
          order: 'a-1',
          link,
          note: note.replace(/[^\P{Cc}\n]|[\u202a-\u202e\u2066-\u2069]/gu, ' '),
          items: [{ title: inItem, photo: link, sku: 'x' }],
        };
        const view = readData(fields, data, rules);
        const filled = renderWords({ subject: 'x', html }, view);
        const plain = {
          ...data,
          name: 'a',
          note: data.note && 'b',
          items: [{ title: 'c', photo: link, sku: 'x' }],
        };
        const expected = renderWords({ subject: 'x', html }, readData(fields, plain, rules));
        const breaks = (found: string[]) => found.filter((element) => !element.startsWith('br '));
        expect(breaks(skeleton(filled.html))).toEqual(breaks(skeleton(expected.html)));
        expect(breaks(skeleton(filled.html)).filter((element) => /evil/.test(element))).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  it('is bounded, however often a list repeats it', () => {
    const items = Array.from({ length: 100 }, () => ({
      title: 'x'.repeat(200),
      photo: 'https://shop.example/',
      sku: 'x',
    }));
    const data = { name: 'n', total: 1, order: 'a', link: 'https://shop.example/', items };
    const view = readData(fields, data, { app, refusesLinks: false });
    const words = { subject: 'x', html: `{{#items}}${'{{title}}'.repeat(400)}{{/items}}` };
    expect(() => renderWords(words, view)).toThrow('more than 262144 bytes');
    expect(() => check(`{{#items}}${'x'.repeat(2700)}{{/items}}`)).toThrow('a smaller maxItems');
    expect(() => check(`{{#items}}${'x'.repeat(2600)}{{/items}}`)).not.toThrow();
  });
});
