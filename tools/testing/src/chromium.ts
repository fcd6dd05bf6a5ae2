import { execFile } from 'node:child_process';
import { access } from 'node:fs/promises';
import { promisify } from 'node:util';
import { type Browser, chromium } from 'playwright-core';

const run = promisify(execFile);
const candidates = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
];

const installed = async () => {
  for (const path of candidates) {
    if (
      await access(path).then(
        () => true,
        () => false,
      )
    )
      return path;
  }
  return undefined;
};

/**
 * The system's Chromium. On Debian as root it is installed where it is missing; elsewhere the error
 * says what to install.
 */
const chromiumPath = async (): Promise<string> => {
  const found = await installed();
  if (found) return found;
  const isRoot = process.getuid?.() === 0;
  const hasApt = await access('/usr/bin/apt-get').then(
    () => true,
    () => false,
  );
  if (isRoot && hasApt) {
    await run('apt-get', ['update']);
    await run('apt-get', ['install', '-y', '--no-install-recommends', 'chromium'], {
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
      maxBuffer: 64 * 1024 * 1024,
    });
  }
  const now = await installed();
  if (now) return now;
  throw new Error(
    'The browser tests need Chromium: install the package "chromium" (Debian: apt-get install chromium).',
  );
};

/** Without a window; it asks nothing of anybody outside. */
export const launchChromium = async (): Promise<Browser> =>
  chromium.launch({
    executablePath: await chromiumPath(),
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
