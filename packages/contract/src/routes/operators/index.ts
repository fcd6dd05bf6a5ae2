export * from './backups.ts';
export * from './findings.ts';
export * from './operator-tokens.ts';
export * from './parked-events.ts';
export * from './sealed-secrets.ts';
