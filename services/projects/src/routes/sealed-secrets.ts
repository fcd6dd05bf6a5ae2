import { operatorRoutes, serviceNames } from '@backlot/contract';
import { type MountedRoute, route } from '@backlot/http';
import type { AllServices } from '../operators/all-services.ts';

/** What lies under which master key. */
export const routesForSealedSecrets = ({ askAll }: AllServices): MountedRoute[] => [
  route(operatorRoutes.getSealedSecrets, async () => {
    const { answers, missing } = await askAll(serviceNames, ({ countSealed }) => countSealed());
    const services = answers.map(({ service, answer }) => ({ service, ...answer }));
    return { body: { services, missing } };
  }),
  route(operatorRoutes.resealSecrets, async () => {
    const { answers, missing } = await askAll(serviceNames, ({ reseal }) => reseal());
    const services = answers.map(({ service, answer }) => ({ service, ...answer }));
    return { body: { services, missing } };
  }),
];
