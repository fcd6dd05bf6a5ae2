import type { MailFields } from '@backlot/contract';
import { describe, expect, it } from '@jest/globals';
import { appOrigins } from './app-origins.ts';
import { checkHtml } from './html-rules.ts';
import { readTags } from './language.ts';
import { explainProblems } from './problem.ts';

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

describe('the HTML of a template', () => {
  it.each([
    '<p>Hello {{name}}, {{ total }}</p>{{! a word to oneself }}',
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Type" content="text/html"><title>{{name}}</title><style>p { color: #123; } @media (prefers-color-scheme: dark) { p > b { color: #fff } }</style></head><body><p>x</p></body></html>',
    '<a href="https://shop.example/orders/{{order}}?n={{total}}#x">Order</a>',
    `<a href='{{link}}' title="{{name}}">Order</a>`,
    '<a href="https://app.example:8443/">App</a> <a href="mailto:help@else.example?subject=x">Ask</a>',
    '<img src="https://api.example/api/runtime/shop/storage/files/x/logo.png" alt="{{name}}">',
    '<table>{{#items}}<tr><td style="padding:4px">{{title}}</td><td><img src="{{photo}}" alt=""></td></tr>{{/items}}</table>{{^items}}<p>Nothing</p>{{/items}}',
    '{{#paid}}<b>Paid</b>{{/paid}}{{#note}}{{note}}{{/note}} a < b && c',
  ])('may say %s', (html) => {
    expect(() => check(html)).not.toThrow();
  });

  it.each([
    ['<script>x</script>', 'line 1, column 1: <script>'],
    ['<p>\n<iframe src="https://shop.example/"></iframe>', 'line 2, column 1: <iframe>'],
    ['<form action="https://shop.example/">', '<form>'],
    ['<svg><a href="https://evil.example/">x</a></svg>', '<svg>'],
    ['<base href="https://evil.example/">', '<base>'],
    ['<link rel="stylesheet" href="https://evil.example/">', '<link>'],
    ['<textarea><a></textarea>', '<textarea>'],
    ['<meta http-equiv="refresh" content="0;url=https://evil.example/">', 'http-equiv'],
    ['<p onclick="x()">', '"onclick"'],
    ['<td background="https://shop.example/x.png">', '"background"'],
    ['<a href="https://evil.example/">x</a>', 'no origin of the app (https://app.example:8443'],
    ['<a href="https://shop.example.evil.example/">x</a>', 'no origin'],
    ['<a href="https://shop.example@evil.example/">x</a>', 'no origin'],
    ['<a href="https://shop.example\\@evil.example/">x</a>', 'no origin'],
    ['<a href="//evil.example/">x</a>', 'no origin'],
    ['<p>x</p>\n<a href="https://evil.example/', 'line 2, column 4: the element has no end'],
    ['<a href="/orders">x</a>', 'no origin'],
    ['<a href="javascript:alert(1)">x</a>', 'no origin'],
    ['<a href="java&#10;script:alert(1)">x</a>', 'no origin'],
    ['<a href="https&colon;//evil.example/">x</a>', 'no origin'],
    ['<a href="https://shop.example/" href="https://evil.example/">x</a>', 'no origin'],
    ['<a href="data:text/html,x">x</a>', 'no origin'],
    ['<img src="mailto:a@b.example">', 'no origin'],
    ['<img src="http://shop.example/x.png">', 'no origin'],
    ['<img src="https://api.example/api/runtime/other/storage/files/x/y">', 'no origin'],
    ['<a href=https://shop.example/>x</a>', 'needs quotes'],
    ['<a href={{link}}>x</a>', 'needs quotes'],
    ['<a href="{{name}}">x</a>', '"name" must be of the type url'],
    ['<a href="https://shop.example{{order}}">x</a>', 'no origin'],
    ['<a href="https://{{order}}/">x</a>', 'no origin'],
    ['<a href="{{link}}{{order}}">x</a>', 'no origin'],
    ['<a href="mailto:{{order}}">x</a>', 'no origin'],
    ['<a href="https://shop.example/{{name}}">x</a>', 'must be of the type id or number'],
    ['<a href="https://shop.example/{{#paid}}x{{/paid}}">x</a>', 'must be of the type id'],
    ['<a href="https://shop.example/{{link}}">x</a>', 'must be of the type id'],
    ['<p style="background:url(https://evil.example/x)">', 'a style'],
    ['<p style="background:u\\72l(https://evil.example/x)">', 'a style'],
    ['<style>@import "https://evil.example/x";</style>', 'a style'],
    ['<style>p { color: {{name}} }</style>', '{{name}} can not stand here'],
    ['<style>{{#paid}}</style>{{/paid}}<p>x</p>', '{{paid}} can not stand here'],
    ['<p style="color:{{name}}">', 'can not stand here'],
    ['<p {{name}}>', 'may not have the attribute'],
    ['<p {{#paid}}hidden{{/paid}}>', 'may not have the attribute'],
    ['<p class={{name}}>', 'can not stand here'],
    ['<img src="{{link}}" alt={{name}}>', 'can not stand here'],
    ['<img src="{{link}}" alt="{{note}}">', 'can not stand here'],
    ['<img src="{{link}}" alt="{{#paid}}x{{/paid}}">', 'can not stand here'],
    ['<{{name}}>', 'can not stand here'],
    ['</{{name}}>', 'comments'],
    ['<{{! x }}script>', 'can not stand here'],
    ['<{{! x }}{{! y }}b onclick="x">', 'can not stand here'],
    ['</p {{name}}>', 'can not stand here'],
    ['<b{{name}}>', 'may not stand in a mail'],
    ['<!-- {{name}} -->', 'comments'],
    ['<!--[if mso]><a href="https://evil.example/">x</a><![endif]-->', 'comments'],
    ['<![CDATA[<a>]]>', 'comments'],
    ['<?php x ?>', 'may not stand'],
    ['<p>\n  {{{name}}}</p>', 'line 2, column 3: values are always escaped'],
    ['<p>{{&name}}</p>', 'line 1, column 4: values are always escaped'],
    ['{{> other}}', 'takes no other one in'],
    ['{{=<% %>=}}', 'the braces stay as they are'],
    ['{{name', 'Unclosed tag'],
    ['{{#paid}}', 'Unclosed section "paid"'],
    ['{{/paid}}', 'Unopened section "paid"'],
    ['{{nmae}}', '{{nmae}} is none of its "fields"'],
    ['{{title}}', '{{title}} is none'],
    ['{{items}}', '"items" is a list'],
    ['{{items.0.title}}', 'is none'],
    ['{{.}}', 'is none'],
    ['{{constructor}}', 'is none'],
    ['{{#items}}{{#items}}x{{/items}}{{/items}}', 'a list can not stand in a list'],
    ['{{name}}'.repeat(501), 'more than 500 tags'],
    ['<b>'.repeat(3001), 'more than 3000 elements'],
    ['<p>\uE100</p>', 'private use'],
  ])('may not say %s', (html, reason) => {
    expect(() => check(html)).toThrow(reason);
  });
});
