import { connections } from '@backlot/fair-shares';
import { anonymous } from '@backlot/testing';
import { expect, it } from '@jest/globals';
import type { NewFile } from './files.ts';
import { createNewFiles } from './new-files.ts';

it('makes no file for a caller who has gone before it is written', async () => {
  const made: string[] = [];
  const files = {
    create: async (_project: unknown, newFiles: readonly NewFile[]) =>
      void made.push(...newFiles.map(({ id }) => id)),
  };
  const newFiles = createNewFiles(files, connections({ places: 6 }));
  const create = (id: string, signal: AbortSignal) =>
    newFiles.create({ id, identity: anonymous() } as NewFile, signal);
  const caller = new AbortController();
  const stays = create('stays', new AbortController().signal);
  const gone = create('gone', caller.signal);
  caller.abort(new Error('the caller has gone'));
  await expect(gone).rejects.toThrow('the caller has gone');
  await stays;
  expect(made).toEqual(['stays']);
});
