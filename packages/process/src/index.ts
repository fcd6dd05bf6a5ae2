/**
 * What every process entry does, once: settings, log, metrics, database, bus, listening and stopping
 * in order. Only a main.ts imports it. Knows no service and no rule of the product.
 */
export * from './bus.ts';
export * from './run-service.ts';
export * from './settings.ts';
export * from './stop.ts';
