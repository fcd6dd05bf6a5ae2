import { readFileSync } from 'node:fs';
import { ApiError, type RecordSchema } from '@backlot/contract';
import { describe, expect, it } from '@jest/globals';
import { SchemaCheck } from './check.ts';
import { parseSchema } from './parse.ts';

interface Group {
  description: string;
  schema: unknown;
  tests: { description: string; data: unknown; valid: boolean }[];
}

/**
 * github.com/json-schema-org/JSON-Schema-Test-Suite at 44401e0c: the files of the keywords that hold, by name. But for
 * `default`: those of its tests do not fit their own schemas, which is refused here.
 */
const suite = JSON.parse(
  readFileSync(new URL('../testing/json-schema-suite/suite.json', import.meta.url), 'utf8'),
) as Record<string, Group[]>;

/** Of other keywords, which these files use beside their own. */
const refusedKeywords =
  /"(patternProperties|allOf|propertyNames|dependentSchemas|\$defs|prefixItems)"/;
/** Of fields that no record has. */
const refusedFields = /"(__proto__|foo\.bar|\$ref)"/;
/** Where RE2 has no such name. */
const refusedValues = /invalid character class range: `\\p\{/;

/** Where RE2 is not ECMA-262: white space is ASCII's, and a control character's letter is a capital. */
const otherPatterns = new Set([
  'ECMA 262 regex escapes control codes with \\c and lower letter',
  'ECMA 262 \\s matches whitespace',
  'ECMA 262 \\S matches everything but whitespace',
]);

/** In a field, where the suite has documents of all types. */
const compile = (schema: unknown) => parseSchema({ properties: { v: schema } } as RecordSchema);

const isRefused = ({ schema }: Group): boolean => {
  try {
    compile(schema);
    return false;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { code, message } = error;
    const isKnown = [refusedKeywords, refusedFields, refusedValues].some((why) =>
      why.test(message),
    );
    expect([code, message, isKnown]).toEqual(['invalid_body', message, true]);
    return true;
  }
};

describe('the official tests of JSON Schema', () => {
  for (const [file, groups] of Object.entries(suite)) {
    it(`${file}: every schema holds as they say, or is refused by name`, () => {
      const held = groups.filter(
        (group) => !otherPatterns.has(group.description) && !isRefused(group),
      );
      expect(held.length).toBeGreaterThan(0);
      for (const { description, schema, tests } of held) {
        const { root } = compile(schema);
        for (const test of tests) {
          const check = new SchemaCheck();
          check.fields(root, { v: test.data });
          expect([description, test.description, check.problems.length === 0]).toEqual([
            description,
            test.description,
            test.valid,
          ]);
        }
      }
    });
  }

  it('hold for most of these files', () => {
    const groups = Object.values(suite).flat();
    expect(groups.filter(isRefused).length).toBeLessThan(groups.length / 5);
  });
});
