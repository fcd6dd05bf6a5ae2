import { createTestProxy, until } from '@backlot/testing';
import { expect } from '@jest/globals';
import { EventSource } from 'eventsource';
import type { PlatformUnderTest } from './platform-under-test.ts';

/**
 * The package `eventsource` hears each change once, by a ticket for each connection, though its connection is cut.
 * @param front where the platform is reached
 */
export const expectHeardOnce = async (
  platform: PlatformUnderTest,
  front: string,
): Promise<void> => {
  const project = await platform.newProject();
  const { token } = await platform.signUp(project.id);
  const proxy = await createTestProxy(front);
  const resumedFrom: (string | undefined)[] = [];
  const path = `/api/runtime/${project.id}/events?collections=notes&mine.notes=1`;
  const source = new EventSource(new URL(path, proxy.url), {
    async fetch(url, init) {
      const { body } = await project.api('POST', '/events/ticket', { token });
      resumedFrom.push(init.headers['Last-Event-ID']);
      return fetch(`${url}&ticket=${body.ticket}`, init);
    },
  });
  try {
    const told: string[] = [];
    let readies = 0;
    source.addEventListener('ready', () => {
      readies += 1;
    });
    source.addEventListener('change', ({ data }) => told.push(JSON.parse(data).record.n));
    const write = (n: string) => project.api('POST', '/db/notes', { token, body: { data: { n } } });
    await until(() => readies === 1, { what: 'a stream' });
    await write('before');
    await until(() => told.length === 1, { what: 'a change' });
    proxy.shut();
    await write('meanwhile');
    proxy.open();
    await until(() => readies === 2, { what: 'a second stream' });
    await write('after');
    await until(() => told.length >= 3, { what: 'the other changes' });
    expect(told).toEqual(['before', 'meanwhile', 'after']);
    expect(resumedFrom[0]).toBeUndefined();
    expect(resumedFrom.at(-1)).toMatch(/./);
  } finally {
    source.close();
    await proxy.close();
  }
};
