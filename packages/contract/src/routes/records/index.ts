export * from './access-check.ts';
export * from './aggregate.ts';
export * from './batch.ts';
export * from './collections.ts';
export * from './delete-matching.ts';
export * from './lists.ts';
export * from './records.ts';
export { collectionName, record } from './schemas/record-schemas.ts';
