/**
 * Rate counters: the interface and its adapters. Knows no caller and no class of calls; what a key
 * means is the gateway's business.
 */
export * from './counters.ts';
export * from './memory.ts';
