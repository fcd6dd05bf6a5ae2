import type { Requester } from '@backlot/fair-shares';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { type JsonSchema, SchemaRefused } from './json-schemas.ts';
import { createSchemaChecks } from './schema-checks.ts';

const ada = ['owner', 'project', '192.0.2.1'] as const;
const eve = ['owner', 'project', '192.0.2.2'] as const;

describe('checking schemas', () => {
  let asked: JsonSchema[];
  let answers: PromiseWithResolvers<void>[];
  let check: ReturnType<typeof createSchemaChecks>;
  let time: number;
  beforeEach(() => {
    asked = [];
    answers = [];
    time = 1;
    const asking = (_flow: unknown, schema: JsonSchema) => {
      asked.push(schema);
      const answer = Promise.withResolvers<void>();
      answers.push(answer);
      return answer.promise;
    };
    check = createSchemaChecks({ check: asking }, () => time);
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

  const refuse = async (schema: JsonSchema, error: Error, caller: Requester = ada) => {
    const refused = check(caller, schema);
    answers.at(-1)?.reject(error);
    await expect(refused).rejects.toThrow(error.message);
  };

  it('asks once for a refused one in five seconds, and only its own project', async () => {
    await refuse(schema(1), new SchemaRefused('is none'));
    time += 4999;
    await expect(check(eve, schema(1))).rejects.toThrow(new SchemaRefused('is none'));
    expect(asked).toHaveLength(1);
    await refuse(schema(1), new SchemaRefused('is none'), ['owner', 'other project', '192.0.2.1']);
    expect(asked).toHaveLength(2);
    time += 2;
    await refuse(schema(1), new SchemaRefused('is none'));
    expect(asked).toHaveLength(3);
  });

  it('remembers eight refusals of a project, and nothing that was interrupted', async () => {
    for (let n = 1; n <= 9; n++) await refuse(schema(n), new SchemaRefused('is none'));
    await refuse(schema(1), new SchemaRefused('is none'));
    expect(asked).toHaveLength(10);
    for (const n of [11, 12]) {
      await refuse(schema(20), new Error('interrupted'));
      expect(asked).toHaveLength(n);
    }
  });
});
