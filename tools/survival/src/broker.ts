import { until } from '@backlot/testing';
import type { StackUnderTest } from './stack-under-test.ts';

interface Queue {
  name: string;
  messages: number;
}

/** RabbitMQ counts what lies in a quorum queue every five seconds. */
const countedEveryMs = 5_000;

/** Queues in which events wait, parked ones too, with how many; up to five seconds old. */
export const waitingEvents = async ({
  amqpUrl,
  managementUrl,
}: Pick<StackUnderTest, 'amqpUrl' | 'managementUrl'>): Promise<Record<string, number>> => {
  const { username, password } = new URL(amqpUrl);
  const answer = await fetch(
    `${managementUrl}/api/queues?disable_stats=true&enable_queue_totals=true`,
    { headers: { authorization: `Basic ${btoa(`${username}:${password}`)}` } },
  );
  if (!answer.ok) throw new Error(`RabbitMQ answered ${answer.status}.`);
  const queues = (await answer.json()) as Queue[];
  return Object.fromEntries(
    queues.filter(({ messages }) => messages > 0).map(({ name, messages }) => [name, messages]),
  );
};

/** Until no event waits anywhere any more. */
export const untilDrained = async (stack: StackUnderTest): Promise<void> => {
  let emptySince: number | undefined;
  await until(
    async () => {
      const waiting = Object.keys(await waitingEvents(stack));
      if (waiting.length > 0) {
        emptySince = undefined;
        throw new Error(`Events wait in ${waiting.join(', ')}.`);
      }
      emptySince ??= performance.now();
      return performance.now() - emptySince > countedEveryMs + 1000;
    },
    { what: 'no event waiting' },
  );
};
