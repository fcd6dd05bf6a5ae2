import { ApiError, planHeader } from '@backlot/contract';
import { hintHeader, printable } from '@backlot/http';
import type { Identity } from '@backlot/identity';
import { bypassesRules } from '../collections/access.ts';
import type { PlanReport } from '../query/plan.ts';
import { CallReader, type ReadingCall } from '../reader.ts';
import type { PlanReader } from './run-plans.ts';

/** A caller, and how what they asked for was found. */
export class ExplainedReader extends CallReader implements PlanReader {
  readonly reports: PlanReport[] = [];
  readonly #isAsked: boolean;

  /** @throws ApiError unauthenticated, forbidden: how much others' records weigh is nobody else's to know */
  constructor(call: ReadingCall, explain: string | undefined) {
    super(call);
    this.#isAsked = explain === '1' || explain === 'true';
    if (this.#isAsked) checkMayAsk(call.identity);
  }

  report(report: PlanReport): void {
    this.reports.push(report);
  }

  explained(): { explain?: PlanReport[] } {
    return this.#isAsked ? { explain: this.reports.map(rounded) } : {};
  }

  /** With the plans for the log, and what there is to say of an index that is being made. */
  headers(headers: Record<string, string>): Record<string, string> {
    const [building] = this.reports.flatMap((report) => report.building);
    const hints = [headers[hintHeader], building && buildingHint(building)].filter(Boolean);
    return {
      ...headers,
      ...(hints.length > 0 && { [hintHeader]: hints.join(' ') }),
      ...(this.reports.length > 0 && { [planHeader]: planNames(this.reports) }),
    };
  }
}

const checkMayAsk = (identity: Identity): void => {
  if (bypassesRules(identity)) return;
  throw new ApiError(
    identity.caller === 'anonymous' ? 'unauthenticated' : 'forbidden',
    '"explain" is for the project’s owner and its secret keys.',
  );
};

/** As the gateway's log has them. */
const planNames = (reports: readonly PlanReport[]): string =>
  reports.map(({ kind }) => kind).join();

const rounded = ({ waitedMs, ms, ...report }: PlanReport): PlanReport => ({
  ...report,
  waitedMs: Math.round(waitedMs),
  ms: Math.round(ms),
});

const buildingHint = (field: string): string =>
  `index_building: an index on "${printable(field)}" is being made; until the indexes of the collection are ready this looks through its records.`;
