import { randomInt } from 'node:crypto';

/** No i, l, o, 0 and 1: an id may be read out or typed. */
const letters = 'abcdefghjkmnpqrstuvwxyz';
const characters = `${letters}23456789`;
const length = 12;

const pick = (from: string) => from.charAt(randomInt(from.length));

/** Twelve random characters that start with a letter: about 59 bits. */
export const randomProjectId = (): string =>
  pick(letters) + Array.from({ length: length - 1 }, () => pick(characters)).join('');

/** What an id can look like at all, those of the built-in and the demo project included. */
export const isProjectId = (text: string): boolean => /^[a-z][a-z0-9-]{0,62}$/.test(text);
