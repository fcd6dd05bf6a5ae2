import { setTimeout as sleep } from 'node:timers/promises';
import { apiAt } from '@backlot/testing/platform-api';

export interface Writing {
  /** Of calls that were answered as they should be. */
  written(): number;
  /** How many had which answer: 0 is none. */
  answers: ReadonlyMap<number, number>;
  stop(): Promise<void>;
}

const mostOwn = 8;

/** Callers who create, change and delete records of a collection, whatever happens to the platform. */
export const startWriters = (
  bases: readonly string[],
  {
    count,
    pauseMs,
    key,
    collection,
  }: { count: number; pauseMs: number; key: string; collection: string },
  random: () => number,
): Writing => {
  const answers = new Map<number, number>();
  let isOver = false;

  const write = async (n: number) => {
    const own: string[] = [];
    const pick = () => own[Math.floor(random() * own.length)] ?? '';
    while (!isOver) {
      const call = apiAt(bases[Math.floor(random() * bases.length)] ?? '');
      const send = async (method: string, path: string, data?: object) => {
        const options = { token: key, ...(data && { body: { data } }) };
        const answer = await call(method, `/db/${collection}${path}`, options).catch(
          () => undefined,
        );
        const status = answer?.status ?? 0;
        answers.set(status, (answers.get(status) ?? 0) + 1);
        return answer;
      };
      const data = { n: Math.floor(random() * 10), open: random() < 0.6, by: n };
      const chance = own.length >= mostOwn ? 0.5 + random() / 2 : random();
      if (own.length === 0 || chance < 0.4) {
        const made = await send('POST', '', data);
        if (made?.status === 201) own.push(made.body.id);
      } else if (chance < 0.8) await send('PATCH', `/${pick()}`, data);
      else {
        const [id = ''] = own.splice(Math.floor(random() * own.length), 1);
        await send('DELETE', `/${id}`);
      }
      await sleep(random() * 2 * pauseMs);
    }
  };
  const writing = Promise.all(Array.from({ length: count }, (_, n) => write(n)));
  return {
    answers,
    written: () =>
      [...answers].reduce(
        (sum, [status, count]) => (status < 300 && status > 0 ? sum + count : sum),
        0,
      ),
    async stop() {
      isOver = true;
      await writing;
    },
  };
};
