import type { ServerResponse } from 'node:http';
import {
  ApiError,
  type CreditDirectory,
  type LimitClass,
  type ProjectUseAsking,
} from '@backlot/contract';
import {
  type Admission,
  type Budget,
  type Counters,
  CountersUnavailable,
  type RateCheck,
  type RateState,
  type ReservationOutcome,
  type ReservationRequest,
} from '@backlot/counters';
import type { Logger } from '@backlot/telemetry';
import { LRUCache } from 'lru-cache';
import type { AddressCount } from '../addresses/count-address.ts';
import { type Caller, isUncounted } from '../directory/caller.ts';
import { type GatewayProject, windowMs } from '../directory/gateway-project.ts';
import { budgetRefusal } from './budgets.ts';
import type { ReservedCredits } from './charge.ts';
import { createNoteRefusal } from './note-refusal.ts';

/** Name of the caller's own counter; undefined for those whom only the project's limit holds. */
const callerCounter = (
  caller: Caller,
  project: GatewayProject,
  address: string,
): string | undefined => {
  if (isUncounted(caller, project)) return undefined;
  switch (caller.kind) {
    case 'user':
      return `u:${caller.userId}`;
    case 'owner':
      return `o:${caller.userId}`;
    case 'anonymous':
      return `ip:${address}`;
    case 'key':
      return `k:${caller.key?.projectNumber}`;
    case 'operator':
      return undefined;
  }
};

const state = (name: string, { remaining, resetMs }: RateState) =>
  `"${name}";r=${remaining};t=${Math.ceil(resetMs / 1000)}`;

export interface AdmittedCall {
  project: GatewayProject;
  limitClass: LimitClass;
  /** Method and path of its route. */
  route: string;
  caller: Caller;
  address: string;
  /** Undefined for those whose address does not count. */
  addressCount: AddressCount | undefined;
  /** What it weighs; 1 unless stated. */
  calls?: number;
  /** What a priced call asks for. */
  request?: ReservationRequest | undefined;
  /** Its limits have counted it before. */
  isCounted?: boolean;
}

export interface Admit {
  /**
   * Counts the call against the caller's and the project's limit and states both (header fields of
   * draft-ietf-httpapi-ratelimit-headers, since its version 08: `q` calls in `w` seconds, `r` left, all free in `t`).
   * Answers the credits reserved, where some were asked for.
   * @throws ApiError rate_limited, visitor_budget, out_of_credits, project_budget, unavailable
   */
  admit(res: ServerResponse, call: AdmittedCall): Promise<ReservedCredits | undefined>;
  /**
   * Refuses a call that would be refused whatever its body says, before that is read. Asks the counters only
   * where the last priced call of the owner, or of one of its budgets, found too few credits; the call has
   * been counted then.
   * @param least what such a call costs at least
   * @throws ApiError as admit
   */
  admitUnread(
    res: ServerResponse,
    call: AdmittedCall,
    least: () => ReservationRequest | undefined,
  ): Promise<{ isCounted: boolean }>;
}

/** Time in which an attack by new accounts is seen; a session that is older counts as known. */
const knownAfterMs = 600_000;

/**
 * Calls of the project's limit that this one leaves to others. An address leaves as much as it uses, so
 * that a newcomer at another finds room however many there are (dynamic thresholds: Choudhury, Hahne
 * 1998); who is not known leaves a fifth besides. Keys, the operator and the project's owner need not.
 */
const callsToKeepFree = (
  { project, limitClass, caller, addressCount }: AdmittedCall,
  now: number,
): number => {
  const isOwner = caller.userId !== null && caller.userId === project.ownerId;
  if (!addressCount || isOwner) return 0;
  const { keptForKnown } = project.admission[limitClass];
  const isKnown = caller.signedInAtMs !== null && now - caller.signedInAtMs >= knownAfterMs;
  return addressCount.before + (isKnown ? 0 : keptForKnown);
};

const toChecks = (call: AdmittedCall, now: number): RateCheck[] => {
  const { project, limitClass, caller, address, calls = 1, isCounted = false } = call;
  if (isCounted) return [];
  const { callerLimit, callerKeyPrefix, projectCheck } = project.admission[limitClass];
  const ofProject = { ...projectCheck, keepFree: callsToKeepFree(call, now), calls };
  const counter = callerCounter(caller, project, address);
  if (counter === undefined) return [ofProject];
  return [{ key: callerKeyPrefix + counter, limit: callerLimit, windowMs, calls }, ofProject];
};

/** @throws ApiError rate_limited */
const answerLimits = (
  res: ServerResponse,
  { project, limitClass, addressCount }: AdmittedCall,
  { allowed, retryAfterMs, states: [first, second] }: Admission,
) => {
  const { policy, projectPolicy } = project.admission[limitClass];
  if (first && second) {
    res.setHeader('RateLimit-Policy', policy);
    res.setHeader('RateLimit', `${state('caller', first)}, ${state('project', second)}`);
  } else if (first) {
    res.setHeader('RateLimit-Policy', projectPolicy);
    res.setHeader('RateLimit', state('project', first));
  }
  if (allowed) return;
  addressCount?.giveBack();
  throw new ApiError('rate_limited', 'Too many calls. Wait before the next one.', {
    retryAfterSeconds: Math.max(1, Math.ceil(retryAfterMs / 1000)),
  });
};

const maxOwners = 10_000;

/** Of owners, and of visitors and projects with a budget. */
const maxOutOfCredits = 20_000;
const budgetKey = (ownerId: string, { period, name }: Budget) => `${ownerId} ${period} ${name}`;

/** Whose last priced call found too few credits. */
const createOutOfCredits = () => {
  const keys = new LRUCache<string, true>({ maxSize: maxOutOfCredits, sizeCalculation: () => 1 });
  const all = ({ ownerId, budgets = [] }: ReservationRequest) => [
    ownerId,
    ...budgets.map((budget) => budgetKey(ownerId, budget)),
  ];
  return {
    has: (request: ReservationRequest) => all(request).some((key) => keys.has(key)),
    note(request: ReservationRequest, outcome: ReservationOutcome | undefined) {
      const { ownerId } = request;
      if (outcome?.kind === 'insufficient') keys.set(ownerId, true);
      if (outcome?.kind === 'over_budget') keys.set(budgetKey(ownerId, outcome.budget), true);
      if (outcome?.kind === 'reserved') for (const key of all(request)) keys.delete(key);
    },
  };
};

export const createAdmit = (
  counters: Counters,
  credits: CreditDirectory,
  { now, log }: { now: () => number; log: Logger },
): Admit => {
  const isDue = createReloadGate(now);
  const outOfCredits = createOutOfCredits();
  const noteRefusal = createNoteRefusal(credits, now, log);

  /** @throws ApiError visitor_budget, project_budget */
  const refuse = (call: AdmittedCall, { ownerId }: ReservationRequest, budget: Budget): never => {
    const { id: projectId, number: projectNumber } = call.project;
    const { address, route } = call;
    noteRefusal(ownerId, { projectId, projectNumber, kind: budget.of, address, route });
    throw budgetRefusal(budget, call, now());
  };

  const admit: Admit['admit'] = async (res, call) => {
    const { request } = call;
    const admission = await admitLoaded(counters, credits, toChecks(call, now()), request, isDue);
    answerLimits(res, call, admission);
    const { reservation } = admission;
    if (!request) return undefined;
    outOfCredits.note(request, reservation);
    if (reservation?.kind === 'over_budget') return refuse(call, request, reservation.budget);
    return reservedCredits(reservation);
  };

  return {
    admit,
    async admitUnread(res, call, least) {
      const refusal = counters.knownRefusal(toChecks(call, now()));
      if (refusal) answerLimits(res, call, refusal);
      const request = least();
      if (!request || !outOfCredits.has(request)) return { isCounted: false };
      await admit(res, { ...call, request });
      void counters.settle(request.ownerId, request.callId, 0);
      return { isCounted: true };
    },
  };
};

/** A month has begun, or a grant was missed: an owner without credits is loaded again, but not by every call. */
const createReloadGate = (now: () => number): ((ownerId: string) => boolean) => {
  const loadedAt = new LRUCache<string, number>({ maxSize: maxOwners, sizeCalculation: () => 1 });
  return (ownerId) => {
    if (now() - (loadedAt.get(ownerId) ?? 0) < 1000) return false;
    loadedAt.set(ownerId, now());
    return true;
  };
};

/** What of projects its budgets have to know. */
const projectUse = ({ budgets = [] }: ReservationRequest): ProjectUseAsking | undefined => {
  const ofProject = budgets.filter(({ of }) => of === 'project');
  const [first] = ofProject;
  return (
    first && { projectNumber: Number(first.name), periods: ofProject.map(({ period }) => period) }
  );
};

const creditsUnavailable = (cause?: unknown) =>
  new ApiError('unavailable', 'Credits can not be checked right now. Try again shortly.', {
    cause,
    retryAfterSeconds: 3,
  });

/** An owner whose credits are not in the counters is loaded from the ledger, and asked for again. */
const admitLoaded = async (
  counters: Counters,
  credits: CreditDirectory,
  checks: readonly RateCheck[],
  request: ReservationRequest | undefined,
  isDue: (ownerId: string) => boolean,
): Promise<Admission> => {
  const admission = await counters.admit(checks, request);
  if (!request || !admission.reservation) return admission;
  const { kind } = admission.reservation;
  const mayBeOutdated = kind === 'insufficient' && isDue(request.ownerId);
  if (kind !== 'unloaded' && !mayBeOutdated) return admission;
  try {
    await credits.loadOwner(request.ownerId, projectUse(request));
  } catch (cause) {
    // The refusal stands: under load one of many calls without credits would be told something else.
    if (mayBeOutdated) return admission;
    throw creditsUnavailable(cause);
  }
  if (kind === 'unloaded') return counters.admit(checks, request);
  // The call has been counted; only its reservation is tried again.
  return { ...(await counters.admit([], request)), states: admission.states };
};

const reservedCredits = (
  reservation: Exclude<ReservationOutcome, { kind: 'over_budget' }> | undefined,
): ReservedCredits | undefined => {
  switch (reservation?.kind) {
    case undefined:
      return undefined;
    case 'reserved':
      return { millicredits: reservation.millicredits, boundBy: reservation.boundBy?.of };
    case 'insufficient':
      throw new ApiError('out_of_credits', 'The owner of this app has run out of credits.');
    case 'unloaded':
      throw creditsUnavailable();
    case 'unavailable':
      throw creditsUnavailable(new CountersUnavailable('Credits were not reserved.', reservation));
  }
};
