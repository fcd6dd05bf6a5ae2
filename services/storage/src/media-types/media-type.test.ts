import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import sharp from 'sharp';
import { detectMediaType, headBytes } from './media-type.ts';

const detectIn = (bytes: Buffer) =>
  detectMediaType(bytes.subarray(0, headBytes), bytes.length, bytes.subarray(-headBytes));
const detect = (text: string) => detectIn(Buffer.from(text));

/** A zip whose entries are stored, in this order. */
const zip = (entries: Record<string, Buffer>): Buffer => {
  const locals: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, content] of Object.entries(entries)) {
    const shared = Buffer.alloc(26);
    shared.writeUInt16LE(20, 0);
    shared.writeUInt32LE(crc32(content), 10);
    shared.writeUInt32LE(content.length, 14);
    shared.writeUInt32LE(content.length, 18);
    shared.writeUInt16LE(name.length, 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), shared, Buffer.from(name), content]);
    const more = Buffer.alloc(14);
    more.writeUInt32LE(offset, 10);
    const central = [Buffer.from('PK\x01\x02\x14\x00'), shared, more, Buffer.from(name)];
    locals.push(local);
    directory.push(...central);
    offset += local.length;
  }
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06');
  end.writeUInt32LE(Buffer.concat(directory).length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, ...directory, end]);
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

  it.each([
    ['BMI,name\n21.5,Ada\n', 'text/plain'],
    ['BM', 'text/plain'],
    ['ID3,title\n1,x\n', 'text/plain'],
    ['MZ;a;b\n1;2;3\n', 'text/plain'],
    ['II*,a\n', 'text/plain'],
    ['GIF89a', 'image/gif'],
    ['{\\rtf1 Hello}', 'application/rtf'],
    ['BEGIN:VCARD\nVERSION:4.0\nEND:VCARD\n', 'text/vcard'],
  ])('is text where all of it is, whatever letters it begins with: %j', async (text, type) => {
    expect(await detect(text)).toBe(type);
  });

  it.each(['%PDF-1.7\n', '\n%PDF-1.4\n', '\r\n \t%PDF-2.0\n', '\ufeff%PDF-1.7\n'])(
    'is PDF behind white space too: %j',
    async (begin) => {
      const rest = Buffer.from('%\xe2\xe3\xcf\xd3\n1 0 obj\n<<>>\nendobj\n', 'latin1');
      expect(await detectIn(Buffer.concat([Buffer.from(begin), rest]))).toBe('application/pdf');
    },
  );

  it('is TIFF where its directory stands behind the pixels', async () => {
    const pixels = { raw: { width: 90, height: 90, channels: 3 } } as const;
    const content = await sharp(randomBytes(90 * 90 * 3), pixels)
      .tiff({ compression: 'none' })
      .toBuffer();
    expect(content.readUInt32LE(4)).toBeGreaterThan(headBytes);
    expect(await detectIn(content)).toBe('image/tiff');
  });

  it.each([
    ['word/document.xml', 'wordprocessingml.document'],
    ['xl/workbook.xml', 'spreadsheetml.sheet'],
    ['ppt/presentation.xml', 'presentationml.presentation'],
  ])('is an office document whose list of types comes late: %s', async (main, type) => {
    const picture = randomBytes(9000);
    const types = Buffer.from('<Types/>');
    const late = zip({ 'media/a.png': picture, [main]: picture, '[Content_Types].xml': types });
    expect(await detectIn(late)).toBe(`application/vnd.openxmlformats-officedocument.${type}`);
    expect(await detectIn(zip({ 'media/a.png': picture }))).toBe('application/zip');
  });
});
