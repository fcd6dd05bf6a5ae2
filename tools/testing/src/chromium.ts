import { findServer } from '@backlot/local-servers';
import { type Browser, chromium } from 'playwright-core';

/** The system's Chromium; on Debian as root it is installed where it is missing. */
const chromiumPath = async (): Promise<string> => {
  const candidates = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
  const { path } = await findServer({
    name: 'Chromium',
    candidates,
    debianPackage: 'chromium',
    notInDocker: true,
  });
  return path;
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
