import { invalidArchive } from '@backlot/service';

/** Numbers that a double may not give back as they stand; what looks so inside a text does no harm. */
const mayLoseDigits = /\d[\d.]{15}|\.\d*0(?!\d)|[\d.][eE][+-]?\d/;
/** PostgreSQL writes doubles without an exponent, and adds them up exactly. */
const longestNumber = 1000;

interface ExactJson {
  parse(
    text: string,
    revive: (key: string, value: unknown, at: { source?: string }) => unknown,
  ): unknown;
  rawJSON(source: string): unknown;
}
const exact = JSON as unknown as ExactJson;

/**
 * A document that was parsed, as JSON with the numbers that it came with: nothing else of the text goes on to
 * PostgreSQL, which would read what JavaScript leaves out, such as the first of two values of a key.
 * @param json what JSON.stringify makes of it @throws ApiError invalid_body
 */
export const exactJson = (text: string, json: string): string => {
  if (!mayLoseDigits.test(text)) return json;
  const document = exact.parse(text, (_key, value, { source }) => {
    if (typeof value !== 'number' || source === undefined) return value;
    if (source.length > longestNumber) throw invalidArchive('has a number of too many digits');
    return source === JSON.stringify(value) ? value : exact.rawJSON(source);
  });
  return JSON.stringify(document);
};
