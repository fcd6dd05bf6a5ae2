import { KIB } from '@backlot/contract';
import type { Requester } from '@backlot/fair-shares';
import { until } from '@backlot/testing';
import { describe, expect, it } from '@jest/globals';
import { createTransferPlaces, type TransferPlace } from './transfer-places.ts';

const setUp = (count: number) => {
  let now = 0;
  const places = createTransferPlaces({
    what: 'uploads',
    places: count,
    patienceMs: 3000,
    maxWaitMs: 5000,
    now: () => now,
    random: () => 0,
  });
  /** Holds a place until it ends or gives way. */
  const upload = (owner: string, address: string, awaitsCaller = () => true) => {
    const state: { place?: TransferPlace; outcome?: string; end: () => void } = { end: () => {} };
    const requester: Requester = [owner, `project of ${owner}`, address];
    places
      .run(requester, async (place) => {
        state.place = place;
        const outcome = await new Promise<string>((resolve) => {
          state.end = () => resolve('ended');
          place.expect({ awaitsCaller, giveWay: () => resolve('gave way') });
        });
        state.outcome = outcome;
      })
      .catch(({ code }) => {
        state.outcome = code;
      });
    return state;
  };
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  return {
    places,
    upload,
    settled,
    pass(ms: number) {
      now += ms;
    },
  };
};

describe('places of bodies under way', () => {
  it('are held by an owner up to a third, and by an address up to a sixth', async () => {
    const { upload, settled } = setUp(12);
    const ofOwner = [1, 2, 3, 4, 5].map((n) => upload('owner', `address ${n}`));
    const atAddress = [1, 2, 3].map((n) => upload(`owner ${n}`, 'address'));
    await settled();
    expect(ofOwner.map(({ place }) => place !== undefined)).toEqual([
      true,
      true,
      true,
      true,
      false,
    ]);
    expect(atAddress.map(({ place }) => place !== undefined)).toEqual([true, true, false]);
    ofOwner[0]?.end();
    atAddress[0]?.end();
    await until(() => ofOwner[4]?.place && atAddress[2]?.place);
  });

  it('go, when one becomes free, to whoever holds fewest', async () => {
    const { upload, settled } = setUp(3);
    const first = [1, 2, 3].map((n) => upload(`owner ${n}`, `address ${n}`));
    await settled();
    const more = upload('owner 2', 'address 5');
    const stranger = upload('stranger', 'address 6');
    first[0]?.end();
    await until(() => stranger.place);
    expect(more.place).toBeUndefined();
    first[1]?.end();
    await until(() => more.place);
  });

  it('are given up by slow bodies alone, while somebody waits who holds fewer', async () => {
    const { upload, settled, pass } = setUp(12);
    const crowd = ['a', 'a', 'a', 'a'].map((owner, n) => upload(owner, `address ${n}`));
    const pairs = ['b', 'c'].flatMap((owner) =>
      [1, 2, 3].map((n) => upload(owner, `address of ${owner} ${n}`)),
    );
    const single = upload('d', 'address of d');
    const storing = upload('e', 'address of e', () => false);
    await settled();
    const all = [...crowd, ...pairs, single, storing];
    expect(all.every(({ place }) => place)).toBe(true);
    pass(2900);
    // Fast enough, and the others slower.
    for (const { place } of crowd.slice(0, 3)) place?.moved(64 * KIB);
    crowd[3]?.place?.moved(1);
    const stranger = upload('stranger', 'elsewhere');
    await settled();
    expect(stranger.place).toBeUndefined();
    pass(101);
    await until(() => stranger.place);
    expect(crowd.map(({ outcome }) => outcome)).toEqual([
      undefined,
      undefined,
      undefined,
      'gave way',
    ]);
    expect([...pairs, single, storing].filter(({ outcome }) => outcome)).toEqual([]);
    // Whoever holds as many as those that are slow waits in vain.
    const again = upload('b', 'yet elsewhere');
    await settled();
    pass(5000);
    await until(() => again.outcome);
    expect(again.outcome).toBe('overloaded');
  });

  it('are waited for by so many of an owner and an address, and no longer than five seconds', async () => {
    const { upload, settled, pass } = setUp(12);
    const uploads = Array.from({ length: 5 }, () => upload('owner', 'address'));
    await settled();
    expect(uploads.map(({ place, outcome }) => outcome ?? (place ? 'held' : 'waits'))).toEqual([
      'held',
      'held',
      'waits',
      'waits',
      'overloaded',
    ]);
    for (const { place } of uploads) place?.moved(0);
    pass(5000);
    for (const { place } of uploads) place?.moved(1024 * KIB);
    await until(() => uploads[2]?.outcome && uploads[3]?.outcome);
    expect(uploads.map(({ outcome }) => outcome)).toEqual([
      undefined,
      undefined,
      'overloaded',
      'overloaded',
      'overloaded',
    ]);
  });

  it('are waited for by nobody who has gone', async () => {
    const { upload, places, settled } = setUp(1);
    const holder = upload('owner', 'address');
    const caller = new AbortController();
    const requester: Requester = ['another', 'project', 'elsewhere'];
    const waiting = places.run(requester, async () => 'began', caller.signal);
    const further = () => upload('another', 'elsewhere');
    const refused = further();
    await settled();
    expect(refused.outcome).toBe('overloaded');
    caller.abort(new Error('gone'));
    await expect(waiting).rejects.toThrow('gone');
    const next = further();
    holder.end();
    await until(() => next.place);
  });

  it('are waited for by as many as there are, most of whom make room for a stranger', async () => {
    const { upload, settled } = setUp(6);
    for (let n = 0; n < 6; n++) upload(`holder ${n}`, `at ${n}`);
    await settled();
    const waiting = ['a', 'a', 'b', 'b', 'c', 'c'].map((owner, n) => upload(owner, `of ${n}`));
    const stranger = upload('stranger', 'elsewhere');
    const another = upload('another', 'elsewhere too');
    await settled();
    expect(waiting.filter(({ outcome }) => outcome === 'overloaded')).toHaveLength(2);
    expect([stranger.outcome, another.outcome]).toEqual([undefined, undefined]);
  });
});
