const mostNames = 50;
const mostNameLetters = 40;
const mostLetters = 1000;
const mostLevels = 3;
const mostValues = 500;
const leastLetters = 4;
/** Of longer values as much as a message begins with counts. */
const beginning = 12;
const maxLooked = 200;

/** What a log may know of a failing call's body. */
export interface FailedBody {
  /** Names of its fields: `data.title`, `items[].price`; what could be a secret is "…". */
  fields: string[];
  /** The failure's sentences without any value of the body, where they had one. */
  error?: string;
  hint?: string;
}

const isUuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const knownSecrets =
  /^(?:(?:bk|op|sk|pk|rk|gh[a-z]|xox[a-z]|whsec|glpat|AKIA)[_-]?(?:live_|test_)?[A-Za-z0-9]{6}|bo_[A-Za-z0-9_-]{6}|eyJ|SG\.)/;

/** Whether a word looks like a token, a key or a hash, which no log may show; ids of ours do not. */
export const looksSecret = (word: string): boolean => {
  if (isUuid.test(word)) return false;
  if (knownSecrets.test(word)) return true;
  const run = /[A-Za-z0-9]{20,}/.exec(word)?.[0];
  if (run !== undefined && /\d/.test(run) && /[A-Za-z]/.test(run)) return true;
  return (
    /[A-Za-z0-9_-]{24,}/.test(word) && /\d/.test(word) && /[a-z]/.test(word) && /[A-Z]/.test(word)
  );
};

const words = /[A-Za-z0-9_.~+=-]{8,}/g;
const addresses = /[^\s"'<>(),;:]+@[^\s"'<>(),;:]+/g;

/** A sentence without e-mail addresses and what looks like a secret. */
export const withoutSecrets = (text: string): string =>
  text.replace(addresses, '…').replace(words, (word) => (looksSecret(word) ? '…' : word));

const isName = /^[\p{L}_$][\p{L}\p{N}_$.-]*$/u;
const showName = (name: string) =>
  name.length <= mostNameLetters && isName.test(name) && !looksSecret(name) ? name : '…';

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

const listNames = (body: unknown): string[] => {
  const names = new Set<string>();
  let letters = 0;
  const walk = (value: unknown, at: string, levels: number) => {
    if (!isObject(value) || levels === 0) return;
    const entries: [string, unknown][] = [];
    if (Array.isArray(value)) entries.push([`${at}[]`, value[0]]);
    else
      for (const name in value) {
        entries.push([at === '' ? showName(name) : `${at}.${showName(name)}`, value[name]]);
        if (entries.length > mostNames) break;
      }
    for (const [path, inside] of entries) {
      if (names.size >= mostNames || letters > mostLetters) return;
      if (!Array.isArray(value) && !names.has(path)) {
        names.add(path);
        letters += path.length;
      }
      walk(inside, path, levels - 1);
    }
  };
  walk(body, '', mostLevels);
  return [...names];
};

/** Texts and numbers in it, so many at most. */
export const listValues = (body: unknown): string[] => {
  const values: string[] = [];
  const open: unknown[] = [body];
  while (open.length > 0 && values.length < mostValues) {
    const value = open.pop();
    if (typeof value === 'string') values.push(value);
    else if (typeof value === 'number') values.push(String(value));
    else if (isObject(value))
      for (const name in value) {
        if (open.length > mostValues) break;
        open.push(value[name]);
      }
  }
  return values;
};

const isInWord = (letter: string | undefined) =>
  letter !== undefined && /[\p{L}\p{N}_]/u.test(letter);

/** Where the value, or a beginning of a long one, stands in the text as words of its own. */
const findValue = (text: string, value: string, from: number): [number, number] | undefined => {
  const looked = value.slice(0, maxLooked);
  const start = text.indexOf(looked.slice(0, beginning), from);
  if (start < 0) return undefined;
  let end = start;
  while (end < text.length && text[end] === looked[end - start]) end += 1;
  if (value.length > beginning) return [start, end];
  return isInWord(text[start - 1]) || isInWord(text[end]) ? [-1, end] : [start, end];
};

/** The text with "…" for each of these values that stands in it. */
export const withoutValues = (text: string, values: readonly string[]): string => {
  let rest = text;
  for (const value of values) {
    if (value.length < leastLetters) continue;
    for (let from = 0; from < rest.length; ) {
      const found = findValue(rest, value, from);
      if (!found) break;
      const [start, end] = found;
      if (start >= 0) rest = `${rest.slice(0, start)}…${rest.slice(end)}`;
      from = start >= 0 ? start + 1 : end;
    }
  }
  return rest;
};

/** @param body parsed JSON of any form and size, of which only so much is looked at */
export const describeFailedBody = (
  body: unknown,
  { message, hint }: { message: string; hint?: string | undefined },
): FailedBody => {
  const values = listValues(body);
  const error = withoutValues(message, values);
  const said = hint === undefined ? undefined : withoutValues(hint, values);
  return {
    fields: listNames(body),
    ...(error !== message && { error }),
    ...(said !== undefined && said !== hint && { hint: said }),
  };
};
