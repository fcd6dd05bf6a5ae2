import type { Identity } from '@backlot/identity';
import { asKey, testProject } from '@backlot/testing';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  type Answer,
  callers,
  expectedAnswer,
  type Operation,
  type Stored,
  steps,
} from '../testing/file-rules.ts';
import { createTestBed, type TestBed } from '../testing/test-bed.ts';

let bed: TestBed;
beforeAll(async () => {
  bed = await createTestBed();
});
afterAll(() => bed.close());

const unknownId = '018f0000-0000-7000-8000-0000000000f1';

/** A project with what was uploaded there, newest last. */
const openProject = (number: number) => {
  const project = { ...testProject, id: `files${number}`, number };
  const files: Stored[] = [];
  const signed = new Map<string, string>();

  const upload = async (who: Identity, { visibility, groupId }: Operation & { kind: 'upload' }) => {
    // So that each is newer than the one before.
    bed.clock.pass(5);
    const fields = { ...(visibility && { visibility }), ...(groupId && { groupId }) };
    const { status, body } = await bed.upload('text', { identity: who, fields });
    if (status !== 201) return { status };
    files.push({
      id: body.id,
      ownerId: who.caller === 'user' ? who.userId : null,
      visibility: visibility ?? (groupId === undefined ? 'public' : 'private'),
      groupId: groupId ?? null,
      isDeleted: false,
    });
    const path = `/storage/files/${body.id}/sign`;
    const key = { identity: asKey({ project }), body: { expiresIn: 600 } };
    signed.set(body.id, (await bed.call('POST', path, key)).body.url);
    return { status };
  };

  const call = (id: string, identity: Identity, { kind }: Operation, signature = '') => {
    const path = `/storage/files/${id}`;
    switch (kind) {
      case 'sign':
        return bed.call('POST', `${path}/sign`, { identity, body: { expiresIn: 60 } });
      case 'delete':
        return bed.call('DELETE', path, { identity });
      default:
        return open(`${path}/a.txt${kind === 'image' ? '?width=9' : signature}`, identity);
    }
  };
  const open = async (path: string, identity: Identity) => {
    const base = `https://api.example.org/api/runtime/${project.id}`;
    const { status, bytes } = await bed.get(base + path, { identity });
    return { status, body: status === 200 ? bytes.toString() : JSON.parse(bytes.toString()) };
  };

  return {
    project,
    files,
    async send(who: Identity, operation: Operation): Promise<Answer> {
      if (operation.kind === 'upload') return upload(who, operation);
      if (operation.kind === 'list') {
        const query = operation.group === undefined ? '' : `?group=${operation.group}`;
        const { status, body } = await bed.call('GET', `/storage/files${query}`, { identity: who });
        const ids = status === 200 && body.items.map(({ id }: Stored) => id);
        return { status, ...(ids && { ids }) };
      }
      const id = files[operation.which % Math.max(1, files.length)]?.id ?? unknownId;
      const isSigned = operation.kind === 'get' && operation.isSigned;
      const address = isSigned && signed.get(id);
      const signature = address ? new URL(address).search : '';
      const { status, body } = await call(id, who, operation, signature);
      if (status !== 404) return { status };
      // What is there and hidden is answered as what is not.
      const { body: other } = await call(unknownId, who, operation);
      expect({ ...body, requestId: '' }).toEqual({ ...other, requestId: '' });
      return { status };
    },
  };
};

it('files are for whom the model says: no leak, no refusal too much, none told of that is hidden', async () => {
  let number = 8000;
  await fc.assert(
    fc.asyncProperty(steps, async (planned) => {
      number += 1;
      const { project, files, send } = openProject(number);
      for (const [name, operation] of planned) {
        const identity = { ...callers[name], project };
        const before = structuredClone(files);
        const answer = await send(identity, operation);
        const expected = expectedAnswer(before, identity, operation);
        expect([name, operation, answer]).toEqual([name, operation, expected]);
        for (const [i, { isDeleted }] of before.entries())
          if (files[i]) files[i].isDeleted = isDeleted;
      }
    }),
    { numRuns: 60 },
  );
});
