import { recordRoutes } from '@backlot/contract';
import { type FairShares, toRequester } from '@backlot/fair-shares';
import { route } from '@backlot/http';
import type { Exposures } from '../exposure/exposure.ts';
import type { TrafficReports } from '../exposure/traffic-reports.ts';

export const getExposure = (exposures: Exposures) =>
  route(recordRoutes.getExposure, async ({ identity, signal }) => ({
    body: await exposures(identity, signal),
  }));

export const listRefusals = (reports: TrafficReports, reads: FairShares) =>
  route(recordRoutes.listRefusals, async (call) => {
    const { identity } = call;
    const read = () => reports.refusals(identity.project.number);
    return { body: await reads.run(toRequester(identity), read, call) };
  });

export const listVisits = (reports: TrafficReports, reads: FairShares) =>
  route(recordRoutes.listVisits, async (call) => {
    const { identity, query } = call;
    const read = () => reports.visits(identity.project.number, query.days);
    return { body: await reads.run(toRequester(identity), read, call) };
  });
