import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const config = join(root, '.dependency-cruiser.mjs');

/** A small checkout that keeps every rule. */
const lawful: Record<string, string> = {
  'packages/contract/src/index.ts': "import 'zod'; import 'node:fs';",
  'packages/database/src/index.ts': "import 'pg';",
  'packages/http/src/index.ts': "import '@backlot/contract'; import 'express';",
  'packages/counters/src/index.ts': "import 'pg';",
  'packages/fair-shares/src/index.ts': '',
  'packages/service/src/index.ts': "import '@backlot/http'; import '@backlot/database';",
  'tools/local-servers/src/index.ts': '',
  'tools/testing/src/index.ts': "import '@backlot/local-servers'; import '@backlot/database';",
  'tools/all-in-one/src/index.ts': "import '@backlot/auth'; import '@backlot/local-servers';",
  'tools/all-in-one/src/main.ts': "import './index.ts';",
  'console/src/main.ts': "import '@backlot/client'; import type { A } from '@backlot/contract';",
  'console/build/facts.ts': "import '@backlot/contract';",
  'packages/client/src/index.ts': '',
  'gateway/src/index.ts': "import '@backlot/http'; import '@backlot/fair-shares';",
  'gateway/src/addresses/addresses.ts': '',
  'gateway/src/steps/project/find-project.ts': "import '../../addresses/addresses.ts';",
  'services/auth/src/index.ts': "import './mail/smtp.ts';",
  'services/auth/src/service.ts': "import './routes/index.ts'; import 'express';",
  'services/auth/src/routes/index.ts': "import '../users.ts'; import '@backlot/http';",
  'services/auth/src/groups/groups.ts': '',
  'services/auth/src/users.ts': "import '@backlot/database'; import './mail/mail.ts';",
  'services/auth/src/users.test.ts': "import '@backlot/testing'; import './users.ts';",
  'services/auth/src/mail/mail.ts': '',
  'services/auth/src/mail/smtp.ts': "import './mail.ts';",
  'services/payments/src/payments/payments.ts': '',
  'services/payments/src/checkout/lookups.ts': "import '../payments/payments.ts';",
  'services/records/src/index.ts': "import '@backlot/fair-shares';",
  'services/records/src/collections/rules.ts': '',
  'services/records/src/record/record.ts': "import '../collections/rules.ts';",
  'services/records/src/record/record.test.ts': "import '../list/lists.ts';",
  'services/records/src/list/lists.ts': "import '../record/record.ts';",
  'services/records/src/routes/paid.ts': '',
  'services/records/src/new/new.ts': '',
};

/** By rule: file and text that break it, each in a file of its own. */
const violations: Record<string, [file: string, text: string][]> = {
  'no-circular': [['packages/bus/src/cycle.ts', "import './cycle.ts';"]],
  'no-unresolvable': [['packages/bus/src/lost.ts', "import './nowhere.ts';"]],
  'no-undeclared-package': [['packages/bus/src/stray.ts', "import 'stray';"]],
  'no-back-door': [['packages/http/src/door.ts', "import '../../contract/src/index.ts';"]],
  'contract-imports-zod-only': [
    ['packages/contract/src/server.ts', "import 'express';"],
    ['packages/contract/src/ours.ts', "import '@backlot/http';"],
  ],
  'leaf-packages-import-none-of-ours': [
    ['packages/identity/src/leaf.ts', "import '@backlot/contract';"],
    ['packages/database/src/leaf.ts', "import type { A } from '@backlot/http';"],
    ['packages/fair-shares/src/leaf.ts', "import '@backlot/contract';"],
  ],
  'console-imports': [['console/src/ours.ts', "import '@backlot/http';"]],
  'console-reads-the-contract-as-types': [
    ['console/src/schemas.ts', "import { routes } from '@backlot/contract'; routes;"],
  ],
  'outgoing-imports': [['packages/outgoing/src/sql.ts', "import '@backlot/database';"]],
  'http-imports': [
    ['packages/http/src/sql.ts', "import '@backlot/database';"],
    ['packages/http/src/queue.ts', "import '@backlot/fair-shares';"],
  ],
  'service-kit-imports': [['packages/service/src/redis.ts', "import '@backlot/counters';"]],
  'gateway-imports': [['gateway/src/service.ts', "export * from '@backlot/auth';"]],
  'gateway-has-no-database': [
    ['gateway/src/sql.ts', "import '@backlot/database';"],
    ['gateway/src/pg.ts', "const { Pool } = await import('pg');"],
  ],
  'service-imports': [
    ['services/auth/src/other.ts', "import '@backlot/records';"],
    ['services/auth/src/gateway.ts', "import '@backlot/gateway';"],
  ],
  'nobody-imports-all-in-one': [['packages/bus/src/top.ts', "import '@backlot/all-in-one';"]],
  'local-servers-for-development-only': [
    ['services/records/src/servers.ts', "import '@backlot/local-servers';"],
  ],
  'testing-for-tests-only': [
    ['services/records/src/tested.ts', "import '@backlot/testing';"],
    ['services/auth/src/copied.ts', "import './users.test.ts';"],
  ],
  'nobody-imports-an-entry': [['tools/all-in-one/src/twice.ts', "import './main.ts';"]],
  'features-know-no-http': [
    ['services/auth/src/requests.ts', "import type { Request } from 'express';"],
    ['services/auth/src/upwards.ts', "import './routes/index.ts';"],
  ],
  'routes-know-no-database': [
    ['services/auth/src/routes/query.ts', "import '@backlot/database';"],
    ['services/auth/src/routes/pool.ts', "import 'pg';"],
  ],
  'folders-import-downwards': [
    ['services/auth/src/users/upwards.ts', "import '../groups/groups.ts';"],
    ['gateway/src/addresses/upwards.ts', "import '../steps/project/find-project.ts';"],
    ['gateway/src/steps/caller/upwards.ts', "import '../project/find-project.ts';"],
    ['services/records/src/record/upwards.ts', "import type { A } from '../list/lists.ts';"],
    ['services/records/src/collections/cycle.ts', "import '../record/record.ts';"],
    ['services/records/src/list/beside.ts', "import '../paid/paid.ts';"],
    ['services/records/src/paid/paid.ts', "import '../routes/paid.ts';"],
    ['services/payments/src/stripe/upwards.ts', "import '../checkout/lookups.ts';"],
    ['services/payments/src/provider/upwards.ts', "import '../payments/payments.ts';"],
    ['services/records/src/query/unplaced.ts', "import '../new/new.ts';"],
  ],
  'queries-know-no-database': [
    ['services/records/src/query/rows.ts', "import type { A } from '@backlot/database';"],
    ['services/records/src/where/pool.ts', "import 'pg';"],
  ],
  'adapters-are-chosen-at-the-top': [['services/auth/src/mailing.ts', "import './mail/smtp.ts';"]],
};

let checkout: string;

async function write(file: string, text: string): Promise<void> {
  await mkdir(dirname(join(checkout, file)), { recursive: true });
  await writeFile(join(checkout, file), text);
}

async function declare(folder: string, name: string): Promise<void> {
  const dependencies = { zod: '*', pg: '*', express: '*' };
  const manifest = { name, type: 'module', exports: './src/index.ts', dependencies };
  await write(join(folder, 'package.json'), JSON.stringify(manifest));
}

/** What dependency-cruiser finds in the folders of the checkout: rule and file. */
function brokenRules(): Promise<string[]> {
  const program = join(root, 'node_modules/dependency-cruiser/bin/dependency-cruiser.mjs');
  const args = [program, '--config', config, '--output-type', 'json'];
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      [...args, 'gateway', 'services', 'packages', 'tools', 'console'],
      { cwd: checkout, maxBuffer: 16 * 1024 * 1024 },
      (_failed, stdout, stderr) => {
        if (stdout === '') return reject(new Error(stderr));
        const found: { rule: { name: string }; from: string }[] =
          JSON.parse(stdout).summary.violations;
        resolve(found.map(({ rule, from }) => `${rule.name} ${from}`));
      },
    );
  });
}

describe('the import rules', () => {
  beforeAll(async () => {
    checkout = await mkdtemp(join(tmpdir(), 'backlot-import-rules-'));
    for (const name of ['zod', 'pg', 'express', 'stray']) {
      await write(`node_modules/${name}/index.js`, '');
      await write(`node_modules/${name}/package.json`, `{ "name": "${name}" }`);
    }
    await mkdir(join(checkout, 'node_modules/@backlot'));
    const packages = [
      'client',
      'contract',
      'identity',
      'database',
      'bus',
      'http',
      'counters',
      'service',
      'fair-shares',
    ];
    const folders = [
      ...packages.map((name) => `packages/${name}`),
      ...['local-servers', 'testing', 'all-in-one'].map((name) => `tools/${name}`),
      'gateway',
      'console',
      'services/auth',
      'services/records',
    ];
    for (const folder of folders) {
      const name = folder.replace(/.*\//, '');
      await declare(folder, `@backlot/${name}`);
      await symlink(join(checkout, folder), join(checkout, 'node_modules/@backlot', name));
    }
    for (const [file, text] of Object.entries(lawful)) await write(file, text);
  });

  afterAll(() => rm(checkout, { recursive: true, force: true }));

  it('let a lawful checkout pass, and name every kind of violation', async () => {
    expect(await brokenRules()).toEqual([]);
    const planted = Object.values(violations).flat();
    for (const [file, text] of planted) await write(file, text);
    const broken = await brokenRules();
    for (const [rule, files] of Object.entries(violations)) {
      for (const [file] of files) expect(broken).toContain(`${rule} ${file}`);
    }
  });

  it('are all proved here', async () => {
    const { default: rules }: { default: { forbidden: { name: string }[] } } = await import(config);
    const names = new Set(rules.forbidden.map(({ name }) => name));
    expect([...names].sort()).toEqual(Object.keys(violations).sort());
  });
});
