import { afterAll, beforeAll } from '@jest/globals';
import { describeCrashes } from './crashes.ts';
import { describeExact } from './exact.ts';
import { describeOrders } from './orders.ts';
import { describeOutages } from './outages.ts';
import { type StackUnderTest, startStackUnderTest } from './stack-under-test.ts';

/** One for all: its start takes longer than most of what it is started for. */
let stack: StackUnderTest;
const getStack = () => stack;

beforeAll(async () => {
  stack = await startStackUnderTest();
}, 300_000);
afterAll(() => stack?.stop());

describeExact(getStack);
describeOutages(getStack);
describeOrders(getStack);
describeCrashes(getStack);
