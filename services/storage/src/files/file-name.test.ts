import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { cleanFileName, findFileNameSigns } from './file-name.ts';

describe('the name of a file', () => {
  it.each([
    ['', 'file'],
    ['...', 'file'],
    ['/', 'file'],
    ['\u0000\u202e', 'file'],
    ['.htaccess', '.htaccess'],
    ['a/b\\c.txt', 'c.txt'],
    ['  a b.txt  ', 'a b.txt'],
    ['e\u0301', 'é'],
    ['\ud800a', '\ufffda'],
    [`${'x'.repeat(300)}.jpeg`, `${'x'.repeat(250)}.jpeg`],
    [`a.${'x'.repeat(300)}`, `a.${'x'.repeat(253)}`],
    ['😀'.repeat(200), '😀'.repeat(127)],
  ])('%j becomes %j', (given, cleaned) => {
    expect(cleanFileName(given)).toBe(cleaned);
  });

  it.each([
    ['PayPal-login.html', ['signInPage']],
    ['dhl_tracking.svg', ['signInPage']],
    ['invoice.pdf.exe', ['doubleExtension']],
    ['photo.jpg .scr', ['doubleExtension', 'script']],
    ['setup.hta', ['script']],
  ])('has signs of harm: %s', (name, signs) => {
    expect(findFileNameSigns(name)).toEqual(signs);
  });

  it.each([
    'index.html',
    'report.pdf',
    'setup.exe',
    'v1.2.zip',
    'logo.svg',
    'login.png',
    'a.tar.gz',
  ])('has none: %s', (name) => {
    expect(findFileNameSigns(name)).toEqual([]);
  });

  it('is a base name that can be shown, put into an address and cleaned again', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 600 }), (given) => {
        const name = cleanFileName(given);
        expect(name.length).toBeGreaterThan(0);
        expect(name.length).toBeLessThanOrEqual(255);
        expect(name).not.toMatch(/[/\\\p{Cc}\u202a-\u202e]/u);
        expect(['.', '..']).not.toContain(name);
        expect(decodeURIComponent(encodeURIComponent(name))).toBe(name);
        expect(cleanFileName(name)).toBe(name);
      }),
      { numRuns: 2000 },
    );
  });
});
