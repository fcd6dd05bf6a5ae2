import { describe, expect, it } from '@jest/globals';
import { createNoteFindings, quietMs } from './note-findings.ts';

const bed = () => {
  let at = 1_000_000;
  const told: { projectNumber: number; seen: { calls: number }[] }[] = [];
  let fails = false;
  const append = async (_topic: string, payload: unknown) => {
    if (fails) throw new Error('no database');
    told.push(payload as (typeof told)[number]);
  };
  const findings = createNoteFindings({ append } as never, () => at);
  return {
    findings,
    told: () => told.splice(0),
    pass: (ms: number) => (at += ms),
    fail: (whether: boolean) => {
      fails = whether;
    },
  };
};
const mail = { projectNumber: 7, kind: 'mailWords', signs: ['prize'], examples: ['a'] } as const;

describe('what a service notes of abuse', () => {
  it('is told at once, added up, and then once in five minutes for a project', async () => {
    const { findings, told, pass } = bed();
    findings.note(mail);
    findings.note({ ...mail, signs: ['pressure', 'prize'], examples: ['b'] });
    await findings.report();
    const one = { kind: 'mailWords', subject: '', signs: ['prize', 'pressure'], calls: 2 };
    expect(told()).toEqual([{ projectNumber: 7, seen: [{ ...one, examples: ['b', 'a'] }] }]);
    for (let n = 0; n < 3; n++) {
      findings.note(mail);
      await findings.report();
    }
    findings.note({ ...mail, projectNumber: 8 });
    await findings.report();
    expect(told()).toMatchObject([{ projectNumber: 8 }]);
    pass(quietMs);
    await findings.report();
    expect(told()).toMatchObject([{ projectNumber: 7, seen: [{ calls: 3 }] }]);
  });

  it('is nothing without a sign, nor of the owners’ own project', async () => {
    const { findings, told } = bed();
    findings.note({ ...mail, signs: [] });
    findings.note({ ...mail, projectNumber: 1 });
    await findings.report();
    expect(told()).toEqual([]);
  });

  it('is bounded in subjects, signs and examples', async () => {
    const { findings, told } = bed();
    for (let n = 0; n < 30; n++) {
      findings.note({ ...mail, kind: 'exposure', subject: `c${n}` });
      findings.note({ ...mail, signs: [`s${n}`], examples: [`e${n}`] });
    }
    await findings.report();
    const [{ seen } = { seen: [] }] = told();
    expect(seen).toHaveLength(20);
    expect(seen).toContainEqual(expect.objectContaining({ kind: 'mailWords', calls: 30 }));
    for (const one of seen as unknown as { signs: string[]; examples: string[] }[])
      expect([one.signs.length <= 12, one.examples.length <= 5]).toEqual([true, true]);
  });

  it('is told again where it could not be, and all of it at the end', async () => {
    const { findings, told, fail } = bed();
    findings.note(mail);
    fail(true);
    await expect(findings.report()).rejects.toThrow('no database');
    findings.note(mail);
    fail(false);
    await findings.report();
    expect(told()).toMatchObject([{ seen: [{ calls: 2 }] }]);
    findings.note(mail);
    await findings.reportAll();
    expect(told()).toMatchObject([{ seen: [{ calls: 1 }] }]);
  });
});
