import { beforeEach, describe, expect, it } from '@jest/globals';
import { type JsonSchema, SchemaRefused } from './json-schemas.ts';
import { createSchemaChecks } from './schema-checks.ts';

describe('checking schemas', () => {
  let asked: JsonSchema[];
  let answers: PromiseWithResolvers<void>[];
  let check: ReturnType<typeof createSchemaChecks>;
  beforeEach(() => {
    asked = [];
    answers = [];
    check = createSchemaChecks({
      check(schema) {
        asked.push(schema);
        const answer = Promise.withResolvers<void>();
        answers.push(answer);
        return answer.promise;
      },
    });
  });
  const schema = (title: number): JsonSchema => ({ type: 'object', title });

  it('lets no project keep the threads from the others', async () => {
    const flood = Promise.allSettled([1, 2, 3, 4].map((n) => check(1, schema(n))));
    await expect(check(1, schema(5))).rejects.toMatchObject({ code: 'overloaded', status: 503 });
    const other = check(2, schema(5));
    expect(asked).toHaveLength(5);
    for (const each of answers) each.resolve();
    await Promise.all([flood, other]);
    const next = check(1, schema(6));
    answers.at(-1)?.resolve();
    await next;
  });

  it('asks once for what many send, at once or later', async () => {
    const many = Promise.all(Array.from({ length: 50 }, () => check(1, schema(1))));
    answers[0]?.resolve();
    await many;
    await check(2, schema(1));
    expect(asked).toEqual([schema(1)]);
  });

  it('remembers no refusal', async () => {
    for (const n of [0, 1]) {
      const refused = check(1, schema(1));
      answers[n]?.reject(new SchemaRefused('is none'));
      await expect(refused).rejects.toThrow(SchemaRefused);
    }
    expect(asked).toHaveLength(2);
  });
});
