import { afterAll, beforeAll } from '@jest/globals';
import { type StackUnderTest, startStackUnderTest } from './stack-under-test.ts';
import { describeCrashes } from './suites/crashes.ts';
import { describeExact } from './suites/exact.ts';
import { describeOrders } from './suites/orders.ts';
import { describeOutages } from './suites/outages.ts';

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
