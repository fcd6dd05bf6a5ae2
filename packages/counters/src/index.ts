/**
 * Rate counters and the working copy of credits: the interface and its adapters. Knows no caller and
 * no class of calls; what a key means is the gateway's business. The ledger is the truth on credits.
 */
export * from './counters.ts';
export * from './credits/credits.ts';
export * from './fallback.ts';
export * from './memory.ts';
export * from './recent-counts.ts';
export * from './refusals.ts';
