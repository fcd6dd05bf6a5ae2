import { type FairShares, toRequester } from '@backlot/fair-shares';
import { readShares } from '../change-log/known-shares.ts';
import { readLog, readLogEnd } from '../change-log/read-log.ts';
import { createRests } from '../change-log/rests.ts';
import { type AwaitedDeps, findAwaited } from './awaited.ts';
import type { FindCollection, LiveStream } from './stream.ts';
import type { Tail } from './tail.ts';

/** Entries that one statement looks at, and that are caught up with at most. */
const pageEntries = 500;
const maxCaughtUp = 50_000;
/** While so much is unsent, catching up waits. */
const enoughUnsent = 256 * 1024;
const waitMs = 20;

interface CatchUpDeps extends AwaitedDeps {
  find: FindCollection;
  catchUps: FairShares;
}

/** Tells a stream what it has missed, until it is where the others are. */
export const createCatchUp =
  ({ find, catchUps, ...deps }: CatchUpDeps) =>
  async (stream: LiveStream, tail: Tail, signal: AbortSignal): Promise<void> => {
    const { database } = deps;
    const projectNumber = stream.identity.project.number;
    const requester = toRequester(stream.identity);
    const rest = createRests();
    let looked = 0;
    while (!stream.queue.isEnded && !tail.join(stream)) {
      if (stream.queue.bytes > enoughUnsent) {
        await new Promise((resolve) => setTimeout(resolve, waitMs));
        continue;
      }
      const { position: after, collectionIds } = stream;
      const reading = { projectNumber, after, collectionIds, limit: pageEntries };
      const page = await catchUps.run(requester, () => readLog(database, reading), { signal });
      looked += pageEntries;
      if (page.isGone || looked > maxCaughtUp) {
        stream.reset('expired', await readLogEnd(database, projectNumber));
        continue;
      }
      const others = {
        names: new Set(stream.awaited),
        collectionIds: page.otherCollectionIds,
      };
      await findAwaited(deps, projectNumber, others);
      await stream.refresh(find);
      if (stream.collectionIds.some((id) => !collectionIds.includes(id))) continue;
      const users = stream.sharesOf === undefined ? [] : [stream.sharesOf];
      const shares = await readShares(database, projectNumber, page.entries, users);
      for (const entry of page.entries) {
        const told = stream.toFrame(entry, shares);
        if (told !== undefined) stream.tell(entry, told);
        await rest();
      }
      stream.position = page.end;
    }
    tail.wake();
  };
