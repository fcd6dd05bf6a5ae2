/** Colours of code, for the server that writes pages and for the script that changes them. */

const string = `"(?:\\\\.|[^"\\\\\\n])*"|'(?:\\\\.|[^'\\\\\\n])*'`;
const number = '\\b\\d[\\d_]*(?:\\.\\d+)?(?:e[+-]?\\d+)?n?\\b';
const keywords =
  'async await break case catch class const continue default delete do else export extends false finally for from function if import in instanceof interface let new null of return switch this throw true try type typeof undefined void while yield'
    .split(' ')
    .join('|');

/** A group for each kind, in the order in which they are tried. */
const grammars = {
  js: [
    ['comment', '(?<![:\\w])\\/\\/[^\\n]*|\\/\\*[\\s\\S]*?\\*\\/'],
    ['text', `${string}|\`(?:\\\\.|[^\`\\\\])*\``],
    ['key', `\\b(?:${keywords})\\b`],
    ['number', number],
  ],
  json: [
    ['key', '"(?:\\\\.|[^"\\\\\\n])*"(?=\\s*:)'],
    ['text', '"(?:\\\\.|[^"\\\\\\n])*"'],
    ['number', `-?${number}|\\b(?:true|false|null)\\b`],
  ],
  sh: [
    ['comment', '(?<=^|\\s)#[^\\n]*'],
    ['text', `"(?:\\\\.|[^"\\\\])*"|'[^']*'`],
    ['key', '(?<=^|\\n|[|;&(] ?)(?:curl|npx|npm|pnpm|export|cd|node|claude|backlot)\\b'],
    ['number', '\\$\\w+|\\$\\{\\w+\\}'],
  ],
  html: [
    ['comment', '<!--[\\s\\S]*?-->|(?<![:\\w])\\/\\/[^\\n]*'],
    ['text', `${string}|\`(?:\\\\.|[^\`\\\\])*\``],
    ['key', `<\\/?[A-Za-z][\\w.-]*|\\b(?:${keywords})\\b(?![^<>]*<\\/(?:p|h1|title|label|button))`],
    ['number', number],
  ],
};
const names = {
  javascript: 'js',
  ts: 'js',
  typescript: 'js',
  jsx: 'html',
  tsx: 'html',
  vue: 'html',
  bash: 'sh',
  shell: 'sh',
};

const patterns = new Map(
  Object.entries(grammars).map(([language, kinds]) => [
    language,
    new RegExp(kinds.map(([kind, source]) => `(?<${kind}>${source})`).join('|'), 'g'),
  ]),
);

/**
 * @param {string} code
 * @param {string} language js, json, sh, html, or a name of one of them
 * @returns {[kind: string, text: string][]} kinds are comment, text, key, number, and '' for the rest
 */
export const tokenize = (code, language) => {
  const pattern = patterns.get(names[language] ?? language);
  if (!pattern) return [['', code]];
  const tokens = [];
  let end = 0;
  for (const match of code.matchAll(pattern)) {
    if (match.index > end) tokens.push(['', code.slice(end, match.index)]);
    const [kind] = Object.entries(match.groups).find(([, text]) => text !== undefined);
    tokens.push([kind, match[0]]);
    end = match.index + match[0].length;
  }
  if (end < code.length) tokens.push(['', code.slice(end)]);
  return tokens;
};
