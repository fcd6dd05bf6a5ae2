import type { Database } from './database.ts';

/** Runs work as a step of a trace. @param name never a statement's text or values */
export type TraceStep = <T>(name: string, work: () => Promise<T>) => Promise<T>;

const verb = (text: string) => /[a-z]+/i.exec(text)?.[0].toUpperCase() ?? 'statement';

/** Each statement and transaction is a step of the trace around it. */
export const traceDatabase = (database: Database, step: TraceStep): Database => ({
  ...database,
  query: (text, values) => step(verb(text), () => database.query(text, values)),
  execute: (text, values) => step(verb(text), () => database.execute(text, values)),
  scan: (text, values) => step('scan', () => database.scan(text, values)),
  bytes: (text, values) => step(verb(text), () => database.bytes(text, values)),
  named: (name, text, values) => step(name, () => database.named(name, text, values)),
  read: (name, text, values) => step(name, () => database.read(name, text, values)),
  transaction: (work, options) => step('transaction', () => database.transaction(work, options)),
  transactionFrom: (read, work) => step('transaction', () => database.transactionFrom(read, work)),
});
