import { afterAll, beforeAll } from '@jest/globals';
import { type StackUnderTest, startStackUnderTest } from './stack-under-test.ts';
import { describeUndos } from './suites/undos.ts';

let stack: StackUnderTest;
beforeAll(async () => {
  stack = await startStackUnderTest();
}, 300_000);
afterAll(() => stack?.stop());

describeUndos(() => stack);
