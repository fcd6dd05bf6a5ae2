import { describe, expect, it } from '@jest/globals';
import { detectMediaType } from './media-type.ts';

const detect = (text: string) => {
  const bytes = Buffer.from(text);
  return detectMediaType(bytes.subarray(0, 4100), bytes.length);
};

describe('the type of a file', () => {
  it.each([
    '<svg/>',
    '<svg xmlns="http://www.w3.org/2000/svg"><rect/></svg>',
    '\ufeff<svg>',
    ' \n<?xml version="1.0" encoding="utf-8"?>\n<!-- made by hand --><svg\nwidth="1"/>',
    '<?xml version="1.0"?><!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/svg11.dtd"><svg/>',
    '<!DOCTYPE svg [ <!ENTITY a "b"> ]><svg>&a;</svg>',
    '<?xml-stylesheet href="a.css"?><s:svg xmlns:s="http://www.w3.org/2000/svg"/>',
    `<!--${' '.repeat(3000)}--><svg/>`,
  ])('is SVG where the first element is: %.60s', async (text) => {
    expect(await detect(text)).toBe('image/svg+xml');
  });

  it.each([
    ['<!doctype html><svg/>', 'text/plain'],
    ['<html><svg/></html>', 'text/plain'],
    ['<svgx/>', 'text/plain'],
    ['svg', 'text/plain'],
    ['<!-- <svg/>', 'text/plain'],
    ['<!DOCTYPE', 'text/plain'],
    ['<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"/>', 'application/xml'],
    ['<?xml version="1.0"?><?', 'application/xml'],
    [`<!--${' '.repeat(5000)}--><svg/>`, 'text/plain'],
  ])('is not SVG for %.60s', async (text, type) => {
    expect(await detect(text)).toBe(type);
  });

  it('costs little to tell where much stands before the first element', async () => {
    expect(await detect('<??>'.repeat(1024))).toBe('text/plain');
    expect(await detect('<!DOCTYPE svg ['.repeat(270))).toBe('text/plain');
  });
});
