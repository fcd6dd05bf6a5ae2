import type { Transformation } from './transform.ts';

/** Of a small image. */
const maxSide = 512;
/** Of CPU, on two cores of 2026: of a JPEG of 12 megapixels it takes 34 to 40, of one of 24 megapixels 56. */
const quickMs = 80;
/** Weight of the latest in what an owner's small images take, where it took less. */
const learning = 1 / 32;
const maxRemembered = 1000;

const isSmall = ({ width, height }: Transformation) =>
  Math.max(width ?? 0, height ?? 0) <= maxSide && (width ?? height) !== undefined;

/**
 * Foresees which images are quick to make: small ones of owners whose small ones have been. Nobody knows how
 * large a source is before it is read, so where one was slow all of its owner's count as slow, until some
 * fifty have been quick.
 */
export const createQuickImages = () => {
  /** Milliseconds of CPU by owner. */
  const expected = new Map<string, number>();
  return {
    isQuick: (owner: string, wanted: Transformation): boolean =>
      isSmall(wanted) && (expected.get(owner) ?? 0) <= quickMs,
    learn(owner: string, wanted: Transformation, cpuMs: number): void {
      if (!isSmall(wanted)) return;
      const before = expected.get(owner) ?? 0;
      expected.delete(owner);
      expected.set(owner, Math.max(cpuMs, before + learning * (cpuMs - before)));
      const [oldest] = expected.keys();
      if (expected.size > maxRemembered && oldest !== undefined) expected.delete(oldest);
    },
  };
};
