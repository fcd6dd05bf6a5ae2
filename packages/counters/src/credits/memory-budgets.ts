import type { Budget, ProjectUse, ReservationRequest } from './credits.ts';

/** Places (`visitors:2026-11-27 1001:all`) of what calls have taken, in millicredits. */
type Taken = Map<string, number>;

/** Today, yesterday and the months around them, for projects and for visitors. */
const maxPeriods = 8;

const periodKey = ({ of, period }: Pick<Budget, 'of' | 'period'>) => `${of}:${period}`;

export interface Place {
  period: string;
  name: string;
}

/** What one owner's budgets have taken. */
export const createTakenBudgets = () => {
  const periods = new Map<string, Taken>();

  const open = (period: string): Taken => {
    const known = periods.get(period);
    if (known) return known;
    const taken: Taken = new Map();
    periods.set(period, taken);
    for (const oldest of periods.keys()) {
      if (periods.size <= maxPeriods) break;
      periods.delete(oldest);
    }
    return taken;
  };

  const adjust = (places: readonly Place[], change: number) => {
    for (const { period, name } of places) {
      const taken = open(period);
      const now = (taken.get(name) ?? 0) + change;
      if (now <= 0 && period.startsWith('visitors:')) taken.delete(name);
      else taken.set(name, now);
    }
  };

  return {
    adjust,

    /** What each budget leaves; undefined where a project's use is not loaded. */
    left(
      { budgets = [], minMillicredits }: ReservationRequest,
      monthMillicredits: number,
    ): { budget: Budget; left: number }[] | undefined {
      const all: { budget: Budget; left: number }[] = [];
      for (const budget of budgets) {
        const taken = periods.get(periodKey(budget))?.get(budget.name);
        if (taken === undefined && budget.of === 'project') return undefined;
        const { limit } = budget;
        const millicredits =
          typeof limit === 'number'
            ? limit
            : Math.max(minMillicredits, Math.floor(monthMillicredits * limit.partOfMonth));
        all.push({ budget, left: millicredits - (taken ?? 0) });
      }
      return all;
    },

    places: ({ budgets = [] }: ReservationRequest): Place[] =>
      budgets.map((budget) => ({ period: periodKey(budget), name: budget.name })),

    load(used: readonly ProjectUse[]) {
      for (const { name, period, millicredits } of used) {
        const taken = open(periodKey({ of: 'project', period }));
        if (!taken.has(name)) taken.set(name, millicredits);
      }
    },
  };
};

export type TakenBudgets = ReturnType<typeof createTakenBudgets>;
