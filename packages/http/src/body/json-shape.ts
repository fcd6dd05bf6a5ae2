import { ApiError } from '@backlot/contract';

/** Smaller bodies are parsed without a look. */
const unseenLength = 64 * 1024;
const maxLevels = 100;
/** A record has 1,024, a batch 500 records. */
const maxKeys = 100_000;
const maxContainers = 300_000;

const quote = 0x22;
const colon = 0x3a;
const backslash = 0x5c;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/** Where the text of a JSON that begins at `start` ends. */
export const endOfJsonText = (json: string, start: number): number => {
  const nextQuote = json.indexOf('"', start + 1);
  if (json.charCodeAt(nextQuote - 1) !== backslash) return nextQuote < 0 ? json.length : nextQuote;
  let at = start + 1;
  for (; at < json.length && json.charCodeAt(at) !== quote; at++)
    if (json.charCodeAt(at) === backslash) at += 1;
  return at;
};

const refuse = (what: string): never => {
  throw new ApiError('invalid_json', `The body has ${what}.`);
};

/**
 * Refuses what costs JSON.parse and the collection of its garbage most (docs/decisions/0030).
 * @throws ApiError invalid_json
 */
export const checkShape = (json: string): void => {
  if (json.length <= unseenLength) return;
  let levels = 0;
  let containers = 0;
  let keys = 0;
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (code === quote) at = endOfJsonText(json, at);
    else if (code === colon) {
      keys += 1;
      if (keys > maxKeys) refuse(`more than ${maxKeys} keys`);
    } else if (code === openBracket || code === openBrace) {
      levels += 1;
      containers += 1;
      if (levels > maxLevels) refuse(`more than ${maxLevels} levels`);
      if (containers > maxContainers) refuse(`more than ${maxContainers} lists and objects`);
    } else if (code === closeBracket || code === closeBrace) levels -= 1;
  }
};
