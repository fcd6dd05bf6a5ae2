import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { randomFrom } from '../random.ts';
import { isWhole, type Pair, type StackUnderTest } from '../stack-under-test.ts';
import { proveStreams } from '../streams/prove.ts';

const isLong = process.env.BACKLOT_LONG_TESTS !== undefined;
const seed = Number(process.env.BACKLOT_SURVIVAL_SEED ?? Date.now() % 1_000_000);

export const describeStreams = (getStack: () => StackUnderTest) =>
  describe(`streams of changes, of two processes of records (seed ${seed})`, () => {
    let stack: StackUnderTest;
    let pair: Pair;
    beforeAll(async () => {
      stack = getStack();
      pair = await stack.startPair();
    });
    afterAll(() => Promise.all([pair?.gateway.stop(), pair?.records.stop()]));

    it(
      'tell all that was written, once, whatever is killed',
      async () => {
        const { id, key, owner } = await stack.newShop(10);
        const { records, rabbitmq, postgres } = stack.victims;
        const story = await proveStreams(
          {
            origins: [stack.gateways[0], pair.gateway.url],
            projectId: id,
            key,
            owner,
            victims: {
              records,
              'other records': pair.records,
              gateway: pair.gateway,
              rabbitmq,
              postgres,
            },
            isWhole,
          },
          isLong
            ? { writers: 100, pauseMs: 200, followers: 40, rounds: 5 }
            : { writers: 6, pauseMs: 40, followers: 12, rounds: 1 },
          randomFrom(seed),
        );
        console.info(story);
      },
      isLong ? 1_200_000 : 240_000,
    );
  });
