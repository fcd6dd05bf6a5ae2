import { readdir } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { fromRoot, readText } from './testing/files.ts';

interface Job {
  permissions?: unknown;
  uses?: string;
  steps?: { uses?: string }[];
}

interface Workflow {
  permissions?: unknown;
  jobs: Record<string, Job>;
}

const folder = fromRoot('.github', 'workflows');
const files = await readdir(folder);
const read = async (file: string): Promise<Workflow> => parse(await readText(`${folder}/${file}`));

describe('a workflow', () => {
  it('is there', () => expect(files).toContain('ci.yml'));

  it.each(files)('takes actions of others by their commit: %s', async (file) => {
    const jobs = Object.values((await read(file)).jobs);
    const used = jobs.flatMap(({ uses, steps = [] }) => [uses, ...steps.map((step) => step.uses)]);
    for (const action of used.filter((uses) => uses !== undefined && !uses.startsWith('./')))
      expect(action).toMatch(/^[\w.-]+\/[\w./-]+@[0-9a-f]{40}$/);
  });

  it.each(files)('may read the repository alone: %s', async (file) => {
    const { permissions, jobs } = await read(file);
    expect(permissions).toEqual({ contents: 'read' });
    for (const job of Object.values(jobs)) expect(job.permissions).toBeUndefined();
  });
});
