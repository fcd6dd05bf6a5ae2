import { RE2JS } from 're2js';

/** A regular expression that takes a time linear in the text, whoever wrote it. */
export interface Pattern {
  source: string;
  /** Of its program: steps that one character may cost. */
  size: number;
  /** Whether the text holds a match, anywhere. */
  isIn(text: string): boolean;
}

/** Of the pattern itself, in characters, and of the programs of all of a schema. */
const maxPatternLength = 500;
export const maxProgramSize = 1000;

const tokens = /\\[uxpP]\{[^}]*\}|\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{\d*,?\d*\}|./gsu;

/** About how many steps a pattern comes to: what repeats too much is not compiled at all. */
const estimateSize = (source: string): number => {
  const sums = [0];
  let last = 0;
  const add = (size: number) => sums.push((sums.pop() ?? 0) + size);
  for (const [token] of source.matchAll(tokens)) {
    if (token === '(') {
      sums.push(0);
    } else if (token === ')') {
      last = sums.length > 1 ? (sums.pop() ?? 0) : 0;
      add(last);
    } else if (/^\{\d/.test(token)) {
      const times = Math.max(1, ...token.slice(1, -1).split(',').map(Number));
      add(last * (times - 1));
      last *= times;
    } else if (/^[*+?]$/.test(token)) {
      add(1);
    } else {
      last = 1;
      add(1);
    }
  }
  return sums.reduce((sum, size) => sum + size, 0);
};

/** @throws Error that says what is wrong with it */
export const compilePattern = (source: string): Pattern => {
  if (source.length > maxPatternLength)
    throw new Error(`may have at most ${maxPatternLength} characters`);
  if (estimateSize(source) > maxProgramSize) throw new Error('repeats too much');
  try {
    const compiled = RE2JS.compile(RE2JS.translateRegExp(source));
    // With groups, which keep nothing from one text to the next: tests without keep memory for each pattern.
    const isIn = (text: string) => compiled.matcher(text).find();
    return { source, size: compiled.programSize(), isIn };
  } catch (cause) {
    const why = cause instanceof Error ? cause.message.slice(0, 200) : '';
    throw new Error(`is no regular expression that holds here (${why})`, { cause });
  }
};
