import { createTestBroker, type TestBroker, until } from '@backlot/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type ChannelModel, type ConfirmChannel, connect, type Options } from 'amqplib';
import { createRabbitmqBus, type RabbitmqBusOptions } from './rabbitmq.ts';
import { ownExchange, queueName, retryName, topicExchange } from './rabbitmq-topology.ts';
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
  const attempt = async (name: string, work: (channel: ConfirmChannel) => Promise<unknown>) => {
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
  const publish =
    (exchange: string, routingKey: string, options: Options.Publish = {}) =>
    (channel: ConfirmChannel) =>
      new Promise<void>((resolve, reject) => {
        channel.once('error', reject);
        channel.publish(exchange, routingKey, Buffer.from('{}'), options, (error: unknown) =>
          error ? reject(error) : resolve(),
        );
      });
  const [forbidden, locked] = [403, 405];

  /** A subscription of `notes`, with everything that a process has. */
  const theirs = 'notes.note-read';
  const [queue, retry] = [queueName(theirs), retryName(theirs, 1)];
  const subscribeAsNotes = async () => {
    const dead: unknown[] = [];
    const handled: unknown[] = [];
    const onDead = (given: unknown) => void dead.push(given);
    const notes = await open('notes', { retryDelaysMs: [1], onDead });
    const handler = async (given: unknown) => void handled.push(given);
    await notes.subscribe({ queue: theirs, topics: ['note.read'], handler });
    return { notes, dead, handled };
  };
  const [made, read] = ['note.made', 'note.read'].map(topicExchange) as [string, string];

  it.each<[string, (channel: ConfirmChannel) => Promise<unknown>]>([
    ['read a queue', (channel) => channel.get(queue)],
    ['read events that wait for their next try', (channel) => channel.get(retry)],
    ['empty a queue', (channel) => channel.purgeQueue(queue)],
    ['delete a queue', (channel) => channel.deleteQueue(queue)],
    ['bind a queue', (channel) => channel.bindQueue(queue, read, '')],
    ['make a queue in its name', (channel) => channel.assertQueue('backlot.notes.more')],
    ['put an event into a queue', publish('', queue)],
    ['put an event into a queue by its exchange', publish(ownExchange(theirs), queue)],
    ['put an event into a queue as one to try again', publish(retry, queue)],
    ['send what it sends', publish(made, '')],
    [
      'have an exchange send it',
      async (channel) => {
        await channel.assertExchange('backlot.readers.copies', 'fanout');
        await channel.bindExchange(made, 'backlot.readers.copies', '');
      },
    ],
    [
      'have a queue send what it drops',
      (channel) => channel.assertQueue('backlot.readers.dropped', { deadLetterExchange: made }),
    ],
    [
      'have a queue put what it drops into a queue',
      (channel) => channel.assertQueue('backlot.readers.left', { deadLetterExchange: '' }),
    ],
    [
      'have an exchange send what leads nowhere',
      (channel) =>
        channel.assertExchange('backlot.readers.lost', 'fanout', { alternateExchange: made }),
    ],
    ['delete the exchange of its topic', (channel) => channel.deleteExchange(made)],
    ['delete the exchange of a topic that it hears', (channel) => channel.deleteExchange(read)],
    [
      'make the exchange of a new topic',
      (channel) => channel.assertExchange('backlot.events.x', 'fanout'),
    ],
    [
      'hear what only it hears',
      async (channel) => {
        await channel.assertQueue('backlot.readers.own');
        await channel.bindQueue('backlot.readers.own', read, '');
      },
    ],
  ])('can not %s of another', async (_what, work) => {
    await subscribeAsNotes();
    expect(await attempt('readers', work)).toBe(forbidden);
  });

  it('can not touch the queue of a listener', async () => {
    const owner = await connect(urlFor('notes'));
    cleanups.push(() => owner.close());
    const listening = await (await owner.createChannel()).assertQueue('', { exclusive: true });
    const [mine] = [listening.queue];
    expect(await attempt('readers', (channel) => channel.get(mine))).toBe(locked);
    expect(await attempt('readers', (channel) => channel.bindQueue(mine, made, ''))).toBe(locked);
  });

  it('sends its own topics, under no other name', async () => {
    const { notes, dead, handled } = await subscribeAsNotes();
    const heard: string[] = [];
    await notes.listen(['note.read'], ({ topic }) => void heard.push(topic));
    const send = (type: string) =>
      attempt('readers', publish(read, '', { messageId: type, type, persistent: true }));
    expect(await send('note.made')).toBe(0);
    await until(() => dead.length === 1);
    expect({ dead, handled, heard }).toEqual({ dead: [undefined], handled: [], heard: [] });
    expect(await send('note.read')).toBe(0);
    await until(() => handled.length === 1 && heard.length === 1);
    expect(handled).toEqual([{ id: 'note.read', topic: 'note.read', payload: {} }]);
    expect(heard).toEqual(['note.read']);
  });

  it('may not make others', () => {
    const { permissions, users: all } = rabbitmqDefinitions(users);
    expect(all.map(({ tags }) => tags)).toEqual([[], []]);
    expect(permissions.map(({ user }) => user)).toEqual(['notes', 'readers']);
  });
});
