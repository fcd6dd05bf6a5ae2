import { createTestBroker, type TestBroker, until } from '@backlot/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type Channel, type ChannelModel, connect } from 'amqplib';
import { createRabbitmqBus, type RabbitmqBusOptions } from './rabbitmq.ts';
import { exchange } from './rabbitmq-topology.ts';
import { rabbitmqDefinitions } from './rabbitmq-users.ts';

const password = 'a password of this test';
const users = [
  { name: 'notes', password, sends: ['note.made'], hears: ['note.read'] },
  { name: 'readers', password, sends: ['note.read'], hears: ['note.made'] },
];

describe('a user of RabbitMQ', () => {
  let broker: TestBroker;
  const cleanups: (() => Promise<unknown>)[] = [];
  beforeAll(async () => {
    broker = await createTestBroker();
    await broker.define(rabbitmqDefinitions(users, broker.vhost));
  });
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  });
  afterAll(() => broker.drop());

  const urlFor = (name: string) => {
    const url = new URL(broker.url);
    [url.username, url.password] = [name, encodeURIComponent(password)];
    return url.href;
  };
  const open = async (name: string, more: Partial<RabbitmqBusOptions> = {}) => {
    const bus = await createRabbitmqBus({
      url: urlFor(name),
      onDead: () => {},
      onError: () => {},
      ...more,
    });
    cleanups.push(() => bus.close());
    await bus.ready(30_000);
    return bus;
  };
  const event = (topic: string) => ({ id: 'e', topic, payload: {} });

  it('sends, hears, listens, tries again and parks what it may', async () => {
    const dead: string[] = [];
    const notes = await open('notes', {
      retryDelaysMs: [1],
      onDead: (_event, queue) => void dead.push(queue),
    });
    const readers = await open('readers');
    let tries = 0;
    await notes.subscribe({
      queue: 'notes.note-read',
      topics: ['note.read'],
      handler: async () => {
        tries++;
        throw new Error('not today');
      },
    });
    const heard: string[] = [];
    await readers.listen(['note.made'], ({ topic }) => void heard.push(topic));
    await readers.publish(event('note.read'));
    await notes.publish(event('note.made'));
    await until(() => heard.length === 1 && dead.length === 1);
    expect(tries).toBeGreaterThan(1);
  });

  /** The reply code of what the broker refuses; 0 where it does not. */
  const attempt = async (name: string, work: (channel: Channel) => Promise<unknown>) => {
    const model: ChannelModel = await connect(urlFor(name));
    model.on('error', () => {});
    const channel = await model.createConfirmChannel();
    const refused = new Promise<number>((resolve) =>
      channel.on('error', ({ code }: { code: number }) => resolve(code)),
    );
    const done = work(channel).then(
      () => 0,
      () => refused,
    );
    const code = await done;
    await model.close();
    return code;
  };
  const forbidden = 403;

  it('touches no queue of another', async () => {
    await attempt('notes', (channel) => channel.assertQueue('backlot.notes.own'));
    const [theirs, own] = ['backlot.notes.own', 'backlot.readers.own'];
    expect(await attempt('readers', (channel) => channel.get(theirs))).toBe(forbidden);
    expect(await attempt('readers', (channel) => channel.purgeQueue(theirs))).toBe(forbidden);
    expect(await attempt('readers', (channel) => channel.deleteQueue(theirs))).toBe(forbidden);
    expect(await attempt('readers', (channel) => channel.assertQueue(own))).toBe(0);
    const bind = (queue: string, topic: string) =>
      attempt('readers', (channel) => channel.bindQueue(queue, exchange, topic));
    expect(await bind(theirs, 'note.made')).toBe(forbidden);
    expect(await bind(own, 'note.made')).toBe(0);
    expect(await bind(own, 'note.read')).toBe(forbidden);
    expect(await bind(own, '#')).toBe(forbidden);
  });

  it('publishes no event of another', async () => {
    const publish = (topic: string) =>
      attempt(
        'readers',
        (channel) =>
          new Promise<void>((resolve, reject) => {
            channel.once('error', reject);
            (channel as Awaited<ReturnType<ChannelModel['createConfirmChannel']>>).publish(
              exchange,
              topic,
              Buffer.from('{}'),
              {},
              (error: unknown) => (error ? reject(error) : resolve()),
            );
          }),
      );
    expect(await publish('note.read')).toBe(0);
    expect(await publish('note.made')).toBe(forbidden);
  });

  it('may not make others', () => {
    const { permissions, users: made } = rabbitmqDefinitions(users);
    expect(made.map(({ tags }) => tags)).toEqual([[], []]);
    expect(permissions.map(({ user }) => user)).toEqual(['notes', 'readers']);
  });
});
