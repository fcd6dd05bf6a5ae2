import { execFile } from 'node:child_process';
import { readdir, readFile, rm } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { installPackages } from '@backlot/testing/install-packages';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type PlatformUnderTest, platformUnderTest } from './platform-under-test.ts';

const run = promisify(execFile);

interface Check {
  id: string;
  status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO';
  errorMessage?: string;
}

/** What the suite asks for and this server does not have, as `<scenario> <check>`. */
const exceptions: Record<string, RegExp> = {
  'Resources and prompts: records are read with tools':
    /^(resources|prompts)-|^caching sep-2549-(resources|prompts)-/,
  'Completions and log levels': /^(completion-complete|logging-set-level) /,
  'Example tools of the suite, which answer with images or ask back':
    /^(tools-call|elicitation|json-schema|input-required-result|http-custom-header)-|^server-stateless sep-2575-(server-rejects-undeclared-capability|missing-capability-http-400|http-server-no-independent-requests-on-stream|server-no-log-without-loglevel)$/,
  'Subscriptions: the tools do not change':
    /^server-stateless sep-2575-server-(sends-subscription-ack|tags-subscription-id)$/,
  'Tasks, an extension': /^tasks-/,
  'Refusing other origins: a token opens the tools, and no address (docs/decisions/0027)':
    /^dns-rebinding-protection /,
};

const isExcused = (failure: string) =>
  !failure.includes('wire-schema') &&
  Object.values(exceptions).some((pattern) => pattern.test(failure));

describe('the conformance suite of the Model Context Protocol', () => {
  let platform: PlatformUnderTest;
  let folder: string;
  let token: string;
  let tools: URL;
  /** The suite has no credential to send. */
  const proxy = createServer((req, res) => {
    const headers = { ...req.headers, authorization: `Bearer ${token}` };
    const call = request(tools, { method: req.method, headers }, (answer) => {
      res.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(res);
    });
    call.once('error', () => res.destroy());
    req.pipe(call);
  });
  beforeAll(async () => {
    folder = await installPackages(new URL('../packages/mcp-conformance/', import.meta.url));
    platform = await platformUnderTest('in-process');
    const { id, owner } = await platform.newProject();
    token = owner.token;
    tools = new URL(`${platform.url}/api/platform/projects/${id}/mcp`);
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  });
  afterAll(async () => {
    proxy.close();
    await platform?.stop();
    await rm(folder, { recursive: true });
  });

  /** The checks of each scenario that a revision of the protocol asks for. */
  const runSuite = async (revision: string): Promise<Map<string, Check[]>> => {
    const suite = join(folder, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');
    const results = join(folder, revision);
    const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/mcp`;
    const args = ['server', '--url', url, '--requirements', revision, '-o', results];
    // It fails where anything does; what that was stands in the results.
    await run(process.execPath, [suite, ...args], { cwd: folder }).catch(() => {});
    const scenarios = (await readdir(results)).map(async (name): Promise<[string, Check[]]> => {
      const checks = await readFile(join(results, name, 'checks.json'), 'utf8');
      return [name.replace(/^server-|-\d{4}-\d\d-\d\dT.*$/g, ''), JSON.parse(checks)];
    });
    return new Map(await Promise.all(scenarios));
  };

  it.each([
    {
      revision: '2025-11-25',
      scenarios: 33,
      passed: { 'server-initialize': 2, ping: 2, 'tools-list': 3 },
    },
    {
      revision: '2026-07-28',
      scenarios: 50,
      passed: { 'server-stateless': 22, 'tools-list': 4, 'http-header-validation': 14 },
    },
  ])(
    'finds nothing in $revision but what is not there',
    async ({ revision, scenarios, passed }) => {
      const found = await runSuite(revision);
      expect(found.size).toBe(scenarios);
      const all = [...found].flatMap(([scenario, checks]) =>
        checks.map(({ id, ...check }) => ({ ...check, name: `${scenario} ${id}` })),
      );
      const failures = all.filter(({ status }) => status === 'FAILURE');
      expect(failures.filter(({ name }) => !isExcused(name))).toEqual([]);
      for (const [scenario, count] of Object.entries(passed)) {
        const successes = found.get(scenario)?.filter(({ status }) => status === 'SUCCESS');
        expect([scenario, successes?.length]).toEqual([scenario, count]);
      }
    },
  );
});
