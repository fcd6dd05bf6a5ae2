import { expect, it } from '@jest/globals';
import { routes } from '../routes/index.ts';
import { openApiDocument } from './openapi.ts';
import { bodyExamples, parameterExamples } from './openapi-examples.ts';

interface Described {
  operationId?: string;
  parameters?: { name: string; example?: unknown }[];
  requestBody?: { content: Record<string, { example?: unknown }> };
}

const { paths } = openApiDocument(routes) as { paths: Record<string, Record<string, Described>> };
const operations = Object.values(paths).flatMap((methods) => Object.values(methods));

it.each(Object.entries(bodyExamples))(
  'the example of %s is what its route takes',
  (id, example) => {
    const route = routes.find(({ operationId }) => operationId === id);
    expect(route?.body?.safeParse(example)).toMatchObject({ success: true });
    const operation = operations.find(({ operationId }) => operationId === id);
    expect(operation?.requestBody?.content['application/json']?.example).toEqual(example);
  },
);

it('the examples of parameters are values that their routes take', () => {
  const shown = routes.flatMap(({ operationId, params, query }) =>
    (operations.find((operation) => operation.operationId === operationId)?.parameters ?? [])
      .filter(({ example }) => example !== undefined)
      .map(({ name, example }) =>
        ({ ...params?.shape, ...query?.shape })[name]?.safeParse(example),
      ),
  );
  expect(shown.length).toBeGreaterThan(Object.keys(parameterExamples).length);
  for (const parsed of shown) expect(parsed).toMatchObject({ success: true });
});
