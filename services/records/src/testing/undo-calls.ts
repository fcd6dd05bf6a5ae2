import type { Undo } from '@backlot/contract';
import { asOwner, testProject, until } from '@backlot/testing';
import { expect } from '@jest/globals';
import type { TestBed } from './test-bed.ts';

/** Undos of the test project, by its owner. */
export const undoCalls = (bed: () => TestBed) => {
  const path = `/platform/projects/${testProject.id}/undo`;
  const untilDone = (id: string): Promise<Undo> =>
    until(async () => {
      const { body } = await bed().call('GET', `${path}/${id}`, { identity: asOwner() });
      return body.state !== 'running' && body;
    });
  const undo = async (request: object): Promise<Undo> => {
    const { status, body } = await bed().call('POST', path, { identity: asOwner(), body: request });
    expect([status, body]).toEqual([200, body]);
    return untilDone(body.id);
  };
  return { undo, untilDone };
};
