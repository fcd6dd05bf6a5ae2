/** Characters and pieces that parsers, Unicode and patterns have been slow with. */
const pieces = {
  letters: 'a',
  digits: '9',
  marks: '\u0301',
  syllables: '\u1100\u1161',
  ligatures: '\ufdfa',
  emoji: '😀',
  spaces: ' ',
  lines: '\n',
  quotes: '"',
  backslashes: '\\',
  brackets: '[',
  braces: '{"a":',
  parentheses: '(a+)+',
  commas: ',',
  points: '.',
  parents: '../',
  slashes: '/',
  signs: '@',
  percents: '%',
  dollars: '$',
  minuses: '-',
  equals: 'a=',
};

export interface HostileInput {
  name: string;
  /** So many bytes of it at most. */
  make(bytes: number): string;
}

const repeated = (piece: string, bytes: number) =>
  piece.repeat(Math.max(1, Math.floor(bytes / Buffer.byteLength(piece))));

export const hostileTexts: readonly HostileInput[] = Object.entries(pieces).map(
  ([name, piece]) => ({ name, make: (bytes) => repeated(piece, bytes) }),
);

const numbered = (bytes: number, toItem: (n: number) => string) =>
  Array.from({ length: Math.floor(bytes / (toItem(1e6).length + 1)) }, (_, n) => toItem(n)).join();

/** JSON in which each byte is as much work as it can be. */
export const hostileJson: readonly HostileInput[] = [
  ...hostileTexts.map(({ name, make }) => ({
    name: `text of ${name}`,
    make: (bytes: number) => {
      const json = JSON.stringify(make(bytes));
      return json.length <= bytes ? json : JSON.stringify(make(bytes / (json.length / bytes)));
    },
  })),
  { name: 'escapes', make: (bytes) => `"${repeated('\\u0301', bytes)}"` },
  { name: 'list of numbers', make: (bytes) => `[${repeated('1,', bytes)}1]` },
  { name: 'list of large numbers', make: (bytes) => `[${repeated('1e308,', bytes)}1]` },
  { name: 'list of small numbers', make: (bytes) => `[${repeated('1e-300,', bytes)}1]` },
  { name: 'list of texts', make: (bytes) => `[${repeated('"",', bytes)}""]` },
  { name: 'list of objects', make: (bytes) => `[${repeated('{},', bytes)}{}]` },
  { name: 'list of lists', make: (bytes) => `[${repeated('[],', bytes)}[]]` },
  { name: 'levels of lists', make: (bytes) => repeated('[', bytes / 2) + repeated(']', bytes / 2) },
  {
    name: 'levels of objects',
    make: (bytes) => `${repeated('{"a":', (bytes * 5) / 6)}1${repeated('}', bytes / 6)}`,
  },
  { name: 'keys', make: (bytes) => `{${numbered(bytes, (n) => `"k${n}":1`)}}` },
  { name: 'equal keys', make: (bytes) => `{${repeated('"k":1,', bytes)}"k":1}` },
  { name: 'objects with keys', make: (bytes) => `[${numbered(bytes, (n) => `{"k${n}":1}`)}]` },
  { name: 'one number', make: (bytes) => repeated('9', bytes) },
];
