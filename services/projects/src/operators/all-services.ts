import type { OperationsDirectories, ServiceName, ServiceOperations } from '@backlot/contract';
import type { Logger } from '@backlot/telemetry';

export type OtherOperations = Omit<OperationsDirectories, 'projectsOperations'>;

export interface AllServicesDeps extends OtherOperations {
  /** Of the service itself. */
  operations: ServiceOperations;
  log: Pick<Logger, 'warn'>;
}

/** What the operator does in every service. */
export const createAllServices = (deps: AllServicesDeps) => {
  const of = (service: string): ServiceOperations =>
    service === 'projects'
      ? deps.operations
      : deps[`${service as Exclude<ServiceName, 'projects'>}Operations`];

  return {
    of,
    /** The answers of those that answer, and the names of those that do not. */
    async askAll<T>(asked: readonly string[], work: (service: ServiceOperations) => Promise<T>) {
      const missing: string[] = [];
      const answers = await Promise.all(
        asked.map(async (service) => {
          try {
            return [{ service, answer: await work(of(service)) }];
          } catch (err) {
            deps.log.warn({ err, asked: service }, 'a service did not answer the control plane');
            missing.push(service);
            return [];
          }
        }),
      );
      return { answers: answers.flat(), missing };
    },
  };
};

export type AllServices = ReturnType<typeof createAllServices>;
