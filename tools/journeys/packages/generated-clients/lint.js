/** Prints what the linter finds in the API description that the argument names. */
import { readFile } from 'node:fs/promises';
import {
  BaseResolver,
  createConfig,
  lintDocument,
  makeDocumentFromString,
} from '@redocly/openapi-core';

/** Everything that the linter recommends but these. */
const settledRules = {
  // The API has no licence of its own to name.
  'info-license': 'off',
  // Calls without errors of their own leave them to the default answer.
  'operation-4xx-response': 'off',
  // An id is a UUID, so that `/db/todos/{id}` never is `/db/{collection}/_count`.
  'no-ambiguous-paths': 'off',
  // Where the platform under test is.
  'no-server-example.com': 'off',
};

const config = await createConfig({ extends: ['recommended'], rules: settledRules });
const problems = await lintDocument({
  document: makeDocumentFromString(await readFile(process.argv[2], 'utf8'), '/openapi.json'),
  externalRefResolver: new BaseResolver(),
  config: config.styleguide,
});
const found = problems.map(({ ruleId, message, location: [at] }) => [ruleId, message, at?.pointer]);
console.log(JSON.stringify(found));
