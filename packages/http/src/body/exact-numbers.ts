import { ApiError, type RouteDefinition } from '@backlot/contract';
import { endOfJsonText } from './json-shape.ts';

const quote = 0x22;
const zero = 0x30;
const nine = 0x39;
/** Besides digits: `+`, `-`, `.`, `E` and `e`. */
const numberSigns = new Set([0x2b, 0x2d, 0x2e, 0x45, 0x65]);

const isDigit = (code: number) => code >= zero && code <= nine;
const isNumberPart = (code: number) => isDigit(code) || numberSigns.has(code);

const endOfNumber = (json: string, start: number): number => {
  let at = start;
  while (at < json.length && isNumberPart(json.charCodeAt(at))) at += 1;
  return at;
};

/** Of the largest double. */
const mostDigits = 309;

const isRounded = (digits: string): boolean => {
  if (/\D/.test(digits)) return false;
  if (digits.length > mostDigits) return true;
  const value = Number(digits);
  return !Number.isFinite(value) || BigInt(digits) !== BigInt(value);
};

/**
 * The first whole number that JSON.parse rounds, such as 9007199254740993: they are mostly ids, and a wrong id is
 * worse than none.
 * @param json as it was sent. It is read by characters: a match for each number or text takes several times as long,
 * and one text with four million escapes more than the stack
 */
export const findRoundedNumber = (json: string): string | undefined => {
  if (!/\d{16}/.test(json)) return undefined;
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (code === quote) at = endOfJsonText(json, at);
    else if (isDigit(code)) {
      const end = endOfNumber(json, at);
      if (end - at >= 16 && isRounded(json.slice(at, end)))
        return json.slice(json[at - 1] === '-' ? at - 1 : at, end);
      at = end - 1;
    }
  }
  return undefined;
};

/** Why a route does not take this body: a number in it would not be kept as it was sent. */
export const roundedNumberRefusal = (
  { errors }: Pick<RouteDefinition, 'errors'>,
  json: string,
): ApiError | undefined => {
  const number = findRoundedNumber(json);
  if (number === undefined) return undefined;
  const code = errors.includes('invalid_data') ? 'invalid_data' : 'invalid_body';
  const shown = number.slice(0, 40);
  return new ApiError(code, `The number ${shown} can't be stored exactly; send it as a string.`);
};
