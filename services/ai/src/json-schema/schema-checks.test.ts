import { beforeEach, describe, expect, it } from '@jest/globals';
import { type JsonSchema, SchemaRefused } from './json-schemas.ts';
import { createSchemaChecks } from './schema-checks.ts';

const ada = ['owner', 'project', '192.0.2.1'] as const;
const eve = ['owner', 'project', '192.0.2.2'] as const;

describe('checking schemas', () => {
  let asked: JsonSchema[];
  let answers: PromiseWithResolvers<void>[];
  let check: ReturnType<typeof createSchemaChecks>;
  beforeEach(() => {
    asked = [];
    answers = [];
    check = createSchemaChecks({
      check(_flow, schema) {
        asked.push(schema);
        const answer = Promise.withResolvers<void>();
        answers.push(answer);
        return answer.promise;
      },
    });
  });
  const schema = (title: number): JsonSchema => ({ type: 'object', title });

  it('lets nobody wait for what another caller has asked', async () => {
    const first = check(eve, schema(1));
    const other = check(ada, schema(1));
    answers[1]?.resolve();
    await other;
    answers[0]?.resolve();
    await first;
  });

  it('asks once for what many send, at once or later', async () => {
    const many = Promise.all(Array.from({ length: 50 }, () => check(ada, schema(1))));
    answers[0]?.resolve();
    await many;
    await check(eve, schema(1));
    expect(asked).toEqual([schema(1)]);
  });

  it('remembers no refusal', async () => {
    for (const n of [0, 1]) {
      const refused = check(ada, schema(1));
      answers[n]?.reject(new SchemaRefused('is none'));
      await expect(refused).rejects.toThrow(SchemaRefused);
    }
    expect(asked).toHaveLength(2);
  });
});
