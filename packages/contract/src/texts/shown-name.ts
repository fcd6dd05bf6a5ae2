import { displayName } from '../schemas.ts';

/** An encoded word of RFC 2047, which mail programs would show as what it encodes. */
const encodedWord = /=\?(?=[^?\s]+\?[bq]\?)/gi;

/**
 * Removes control and direction characters, so that no name can add a header or a line to a mail or
 * reverse its text, and leaves no text that would be decoded into another. Stored names may be older than
 * the rule that refuses these characters.
 */
export const oneLine = (text: string): string =>
  text
    .replace(encodedWord, '= ?')
    .replace(/\p{Bidi_Control}/gu, '')
    .replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .trim();

const maxShown = 50;

const phoneNumber = /(?:\p{Nd}[\s()./-]*){7}/u;

/** What mail programs turn into a link, or people take for one. */
const links =
  /@|\/\/|\\|\bwww\b|\b\p{L}+:\S|[\p{L}\p{N}]\p{M}*[.\u3002][\p{L}\p{N}-]*\p{L}|\d+(\.\d+){3}/iu;

/** Letters of these look alike; Unicode's "Moderately Restrictive" level (UTS 39) lets none of them mix. */
const alike = [/\p{Script=Latin}/u, /\p{Script=Cyrillic}/u, /\p{Script=Greek}/u];
const rare = /\p{Script=Armenian}|\p{Script=Cherokee}|\p{Script=Coptic}|\p{Script=Lisu}/u;
const mixesScripts = (word: string) => {
  const scripts = alike.filter((script) => script.test(word)).length;
  return scripts > 1 || (scripts > 0 && rare.test(word));
};

/** Characters that pass for letters of the platform's name. */
const lookAlikes: Record<string, string> = Object.fromEntries(
  Object.entries({
    b: 'вьƄß8',
    a: 'аαɑ4',
    c: 'сϲᴄ',
    k: 'кκĸ',
    l: 'ӏіιıi1|ǀ!',
    o: 'оοօ0',
    t: 'тτ7',
  }).flatMap(([letter, others]) => [...others].map((other) => [other, letter])),
);
const platformName = 'backlot';
const looksLikePlatform = (text: string) =>
  [...text.normalize('NFKD').toLowerCase()]
    .map((character) => lookAlikes[character] ?? character)
    .filter((character) => /[a-z]/.test(character))
    .join('')
    .includes(platformName);

const isMisleading = (name: string): boolean => {
  const text = name.normalize('NFKC').replace(/\p{Default_Ignorable_Code_Point}/gu, '');
  return (
    links.test(text) ||
    phoneNumber.test(text) ||
    text.split(/[\s\p{P}]+/u).some(mixesScripts) ||
    looksLikePlatform(text)
  );
};

/** Names may be older than the rule. */
const isVisible = (name: string) => displayName(Number.POSITIVE_INFINITY).safeParse(name).success;

/** A name that anybody may choose, as mails and pages of the platform show it: something else where it holds an address or a number to call, or passes for another. */
export const showName = (name: string | null | undefined, otherwise: string): string => {
  const shown = oneLine(name ?? '');
  if (!isVisible(shown) || isMisleading(shown)) return otherwise;
  const characters = [...shown];
  return characters.length <= maxShown ? shown : `${characters.slice(0, maxShown).join('')}…`;
};

export const showProjectName = ({ id, name }: { id: string; name: string }): string =>
  showName(name, `Project ${id}`);
