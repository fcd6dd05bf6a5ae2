import { afterAll, beforeAll } from '@jest/globals';
import { type StackUnderTest, startStackUnderTest } from './stack-under-test.ts';
import { describeConfigs } from './suites/configs.ts';
import { describeCrashes } from './suites/crashes.ts';
import { describeExact } from './suites/exact.ts';
import { describeFollowing } from './suites/following.ts';
import { describeFreezes } from './suites/freezes.ts';
import { describeImports } from './suites/imports.ts';
import { describeLeaving } from './suites/leaving.ts';
import { describeMetrics } from './suites/metrics.ts';
import { describeOrders } from './suites/orders.ts';
import { describeOutages } from './suites/outages.ts';
import { describeSignIns } from './suites/sign-ins.ts';
import { describeStreams } from './suites/streams.ts';

/** One for all: its start takes longer than most of what it is started for. */
let stack: StackUnderTest;
const getStack = () => stack;

beforeAll(async () => {
  stack = await startStackUnderTest();
}, 300_000);
afterAll(() => stack?.stop());

describeExact(getStack);
describeMetrics(getStack);
describeFollowing(getStack);
describeOutages(getStack);
describeFreezes(getStack);
describeOrders(getStack);
describeConfigs(getStack);
describeImports(getStack);
describeLeaving(getStack);
describeSignIns(getStack);
describeStreams(getStack);
describeCrashes(getStack);
