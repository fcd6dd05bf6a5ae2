import { describe, expect, it } from '@jest/globals';
import { createPlaces } from './places.ts';

describe('places', () => {
  const takeAll = (places: ReturnType<typeof createPlaces>, address: string) => {
    let taken = 0;
    while (places.take(address) === 'taken') taken++;
    return taken;
  };

  it('are bounded for an address', () => {
    const places = createPlaces({ total: 1000, perAddress: 10 });
    expect(takeAll(places, 'a')).toBe(10);
    expect(places.take('a')).toBe('address-full');
    expect(places.take('b', 10)).toBe('taken');
    expect(places.take('b')).toBe('address-full');
  });

  it('are left for newcomers by however many addresses', () => {
    const alone = createPlaces({ total: 1000, perAddress: 1000 });
    expect(takeAll(alone, 'a')).toBe(500);
    expect(alone.take('a')).toBe('full');

    const crowded = createPlaces({ total: 1000, perAddress: 1000 });
    for (let round = 0; round < 1000; round++)
      for (let address = 0; address < 20; address++) crowded.take(`a${address}`);
    expect(takeAll(crowded, 'newcomer')).toBeGreaterThanOrEqual(20);
  });

  it('that are left can be taken again', () => {
    const places = createPlaces({ total: 4, perAddress: 2 });
    expect([places.take('a', 2), places.take('b', 2)]).toEqual(['taken', 'taken']);
    expect(places.take('c')).toBe('full');
    places.leave('a', 2);
    places.leave('b');
    expect([places.take('c'), places.take('a')]).toEqual(['taken', 'taken']);
  });
});
