/**
 * Publish and subscribe between services: the interface and its adapters. Knows no topic; what an
 * event means stands in the contract. Durability before `publish` is the outbox's.
 */
export * from './bus.ts';
export * from './in-process.ts';
export * from './typed-events.ts';
