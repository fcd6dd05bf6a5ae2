import { withBed } from './records/bed.ts';
import { compareSubjects, createSubject } from './rules.ts';

/** What the log of changes costs a write, beside a collection without one; a minute on a quiet machine. */
export const benchHistory = (): Promise<void> =>
  withBed(async (bed) => {
    const subject = (name: string, history: boolean) =>
      createSubject(bed, {
        name,
        access: 'public-read',
        collection: `history_${history}`,
        history,
      });
    const without = await subject('without history', false);
    const logged = await subject('with history', true);
    await compareSubjects([without, { ...logged, bound: 1.2 }], ['create', 'patch']);
  });
