import { createRequire } from 'node:module';
import type { Test } from '@jest/test-result';

const { default: Sequencer }: typeof import('@jest/test-sequencer') = createRequire(
  import.meta.url,
)('@jest/test-sequencer');

/** Where a file takes a minute or more: begun last, it would run alone. */
const long = ['tools/survival/', 'tools/journeys/', 'services/storage/src/resumable/'];

/** What jest has not yet timed is begun by its folder, then by its size. */
export default class LongestFirst extends Sequencer {
  override async sort(tests: Test[]): Promise<Test[]> {
    const place = ({ path, duration }: Test) => {
      const found = long.findIndex((folder) => path.includes(folder));
      return duration === undefined && found >= 0 ? found : long.length;
    };
    return [...(await super.sort(tests))].sort((a, b) => place(a) - place(b));
  }
}
