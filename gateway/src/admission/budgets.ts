import { ApiError, isAmong, type LimitClass, type ProjectSettings } from '@backlot/contract';
import type { Budget } from '@backlot/counters';
import type { Caller } from '../directory/caller.ts';
import type { GatewayProject } from '../directory/gateway-project.ts';

/** Kinds of calls that cost credits, as settings name them; by the class of their routes. */
const kinds = { ai: 'ai', upload: 'uploads', email: 'email' } as const;
type PricedClass = keyof typeof kinds;
const isPriced = (limitClass: LimitClass): limitClass is PricedClass => limitClass in kinds;

/** Of the owner's month, a day: all visitors of a project together. */
const partOfVisitors = 0.2;
/** Of what all of them may: one of them. */
const partOfOne = 0.2;
/** Homes and offices share an address: it has what so many accounts have where the owner sets a budget. */
const accountsPerAddress = 5;

const dayMs = 24 * 60 * 60 * 1000;
const utcDay = (ms: number) => new Date(ms).toISOString().slice(0, 'yyyy-mm-dd'.length);

/** Accounts are free, so that one without a verified address is its network address's. */
const isStranger = ({ kind, emailVerified }: Caller) =>
  kind === 'anonymous' || emailVerified === false;

export interface BudgetedCall {
  project: GatewayProject;
  caller: Caller;
  address: string;
  limitClass: LimitClass;
}

const numberSetting = ({ identity }: GatewayProject, name: keyof ProjectSettings) => {
  const value = identity.settings[name];
  return typeof value === 'number' ? value : undefined;
};

/** What the owner allows one visitor a day for this kind of calls, in millicredits; undefined where not said. */
const ownSetting = (project: GatewayProject, limitClass: PricedClass, perUnit: number) => {
  const setting = numberSetting(project, `${kinds[limitClass]}PerVisitorPerDay`);
  return setting && setting * (limitClass === 'email' ? perUnit : 1000);
};

const visitorBudgets = (
  { project, caller, address, limitClass }: BudgetedCall & { limitClass: PricedClass },
  perUnit: number,
  period: string,
): Budget[] => {
  const set = ownSetting(project, limitClass, perUnit);
  const prefix = set === undefined ? `${project.number}` : `${project.number}:${limitClass}`;
  const budget = (name: string, limit: Budget['limit']): Budget => ({
    of: 'visitors',
    name,
    period,
    limit,
  });
  if (!isStranger(caller)) {
    const otherwise = { partOfMonth: partOfVisitors };
    return [
      budget(`${prefix}:user:${caller.userId}`, set ?? otherwise),
      budget(
        `${prefix}:accounts:${address}`,
        set === undefined ? otherwise : set * accountsPerAddress,
      ),
    ];
  }
  const all = numberSetting(project, 'visitorCreditsPerDay');
  const one =
    all === undefined
      ? { partOfMonth: partOfVisitors * partOfOne }
      : Math.floor(all * 1000 * partOfOne);
  return [
    budget(`${prefix}:address:${address}`, set ?? one),
    budget(
      `${project.number}:all`,
      all === undefined ? { partOfMonth: partOfVisitors } : all * 1000,
    ),
  ];
};

const projectBudgets = (project: GatewayProject, day: string): Budget[] =>
  (
    [
      ['creditsPerDay', day],
      ['creditsPerMonth', day.slice(0, 'yyyy-mm'.length)],
    ] as const
  ).flatMap(([setting, period]) => {
    const credits = numberSetting(project, setting);
    const name = String(project.number);
    return credits === undefined ? [] : [{ of: 'project', name, period, limit: credits * 1000 }];
  });

/**
 * What bounds a priced call beside the owner's credits: the day of its visitor and of all visitors, and
 * the caps of its project (docs/api.md, "Budgets").
 * @param perUnit the price in force, millicredits
 */
export const budgetsFor = (call: BudgetedCall, perUnit: number, nowMs: number): Budget[] => {
  const { project, caller, limitClass } = call;
  const day = utcDay(nowMs);
  const isVisitor = caller.kind === 'anonymous' || caller.kind === 'user';
  return [
    ...(isVisitor && isPriced(limitClass)
      ? visitorBudgets({ ...call, limitClass }, perUnit, day)
      : []),
    ...projectBudgets(project, day),
  ];
};

const untilMidnight = (nowMs: number) => Math.ceil((dayMs - (nowMs % dayMs)) / 1000);

/** Of a call for which this budget leaves too little. */
export const budgetRefusal = (
  { of, name, period }: Budget,
  { project, limitClass }: BudgetedCall,
  nowMs: number,
): ApiError => {
  if (of === 'project') {
    const isDay = period.length === 'yyyy-mm-dd'.length;
    const setting = isDay ? 'creditsPerDay' : 'creditsPerMonth';
    return new ApiError(
      'project_budget',
      `The project "${project.identity.name}" has used the credits that its owner allows it a ${isDay ? 'day' : 'month'}.`,
      {
        hint: `The owner can change its setting ${setting}; the ${isDay ? 'day' : 'month'} ends at midnight UTC.`,
      },
    );
  }
  const isOfAll = name.endsWith(':all');
  const setting = isOfAll
    ? 'visitorCreditsPerDay'
    : isPriced(limitClass)
      ? `${kinds[limitClass]}PerVisitorPerDay`
      : '';
  return new ApiError(
    'visitor_budget',
    isOfAll
      ? 'The visitors of this app have used what it allows them together for today.'
      : 'You have used what this app allows a visitor for today.',
    {
      hint: `The day ends at midnight UTC. A user whose e-mail address is verified has a budget of their own; the owner can change the setting ${setting}.`,
      retryAfterSeconds: untilMidnight(nowMs),
    },
  );
};

/** Why the setting `callers` keeps this visitor from calls of this kind; owners, keys and the operator may make all. */
export const notAmongCallers = (
  { callers }: GatewayProject,
  caller: Caller,
  limitClass: LimitClass,
): ApiError | undefined => {
  if (!callers || !isPriced(limitClass)) return undefined;
  const allowed = callers[kinds[limitClass]];
  const isVisitor = caller.kind === 'anonymous' || caller.kind === 'user';
  if (!allowed || !isVisitor || isAmong(allowed, caller)) return undefined;
  const hint = `The setting callers.${kinds[limitClass]} of the project says who may.`;
  return caller.kind === 'anonymous' && allowed.length > 0
    ? new ApiError(
        'unauthenticated',
        'This app allows this call to signed-in users: sign in first.',
        { hint },
      )
    : new ApiError('forbidden', 'This app does not allow you this call.', { hint });
};
