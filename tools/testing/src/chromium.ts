import { findServer } from '@backlot/local-servers';
import { type Browser, chromium } from 'playwright-core';

/** A context of it costs a fifth of one of the whole browser, which loads its own pages for a window nobody sees. */
const withoutViewers = 'chromium-headless-shell';
const wholeBrowsers = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/** The system's Chromium; on Debian as root it is installed where it is missing. */
const chromiumPath = async (showsPdf: boolean): Promise<string> => {
  const { path } = await findServer({
    name: 'Chromium',
    candidates: showsPdf ? wholeBrowsers : [withoutViewers, ...wholeBrowsers],
    debianPackage: showsPdf ? 'chromium' : withoutViewers,
    homebrewPackage: 'chromium',
    notInDocker: true,
  });
  return path;
};

/**
 * Without a window; it asks nothing of anybody outside.
 * @param showsPdf the whole browser, which has a viewer of PDF files
 */
export const launchChromium = async ({ showsPdf = false } = {}): Promise<Browser> =>
  chromium.launch({
    executablePath: await chromiumPath(showsPdf),
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
