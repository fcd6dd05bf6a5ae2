import { describe, expect, it } from '@jest/globals';
import { createQuickImages } from './quick-images.ts';
import type { Transformation } from './transform.ts';

const sized = (width?: number, height?: number): Transformation => ({
  width,
  height,
  fit: 'inside',
  format: 'webp',
});
const thumbnail = sized(200);

describe('quick images', () => {
  it('are small ones', () => {
    const { isQuick } = createQuickImages();
    const sizes = [[200], [undefined, 512], [512, 512], [513], [200, 4096], [undefined, 600], []];
    expect(sizes.map(([width, height]) => isQuick('ada', sized(width, height)))).toEqual([
      true,
      true,
      true,
      false,
      false,
      false,
      false,
    ]);
  });

  it('are not those of an owner of whom one was slow, until some fifty were quick', () => {
    const { isQuick, learn } = createQuickImages();
    learn('ada', thumbnail, 300);
    expect(isQuick('ada', thumbnail)).toBe(false);
    expect(isQuick('ben', thumbnail)).toBe(true);
    let quick = 0;
    for (; !isQuick('ada', thumbnail); quick++) learn('ada', thumbnail, 20);
    expect(quick).toBe(49);
    learn('ada', thumbnail, 300);
    expect(isQuick('ada', thumbnail)).toBe(false);
  });

  it('do not hang on what large ones took', () => {
    const { isQuick, learn } = createQuickImages();
    learn('ada', sized(2000), 300);
    expect(isQuick('ada', thumbnail)).toBe(true);
  });

  it('are remembered of the latest 1,000 owners', () => {
    const { isQuick, learn } = createQuickImages();
    for (let owner = 0; owner <= 1000; owner++) learn(`${owner}`, thumbnail, 300);
    expect(isQuick('0', thumbnail)).toBe(true);
    expect(isQuick('1', thumbnail)).toBe(false);
  });
});
