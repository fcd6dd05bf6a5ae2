import { BacklotError } from '../error.ts';
import { browser, type Popup } from './browser.ts';

/** What a page keeps while its visitor is with a provider, or on the page of the platform. */
export interface Trip {
  verifier: string;
  /** Where the code is good. */
  path: string;
  isLink?: boolean;
  merge?: boolean | undefined;
}

export interface Told {
  code?: string;
  error?: string;
  error_description?: string;
}

const toBase64url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');

export const newVerifier = (): string => toBase64url(crypto.getRandomValues(new Uint8Array(32)));

/** RFC 7636: only who has the verifier can use the code. */
export const challengeOf = async (verifier: string): Promise<string> => {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier));
  return toBase64url(new Uint8Array(digest));
};

const storeName = (base: string) => `backlot sign-in ${base}`;

export const noPage = () =>
  new BacklotError(0, { code: 'no_page', error: 'This works in pages alone, in a browser.' });

/** The page without what a provider has added to its address. */
export const ownAddress = (): string => {
  if (!browser.location) throw noPage();
  const url = new URL(browser.location.href);
  for (const name of ['code', 'error', 'error_description']) url.searchParams.delete(name);
  return url.href;
};

export const keepTrip = (base: string, trip: Trip): void =>
  browser.sessionStorage?.setItem(storeName(base), JSON.stringify(trip));

/** What the address of this page tells, if it comes back from a trip that this page has begun; once. */
export const endTrip = (base: string): { trip: Trip; told: Told } | undefined => {
  const kept = browser.sessionStorage?.getItem(storeName(base));
  if (!kept || !browser.location) return undefined;
  const { searchParams } = new URL(browser.location.href);
  const told: Told = Object.fromEntries(searchParams);
  if (told.code === undefined && told.error === undefined) return undefined;
  browser.sessionStorage?.removeItem(storeName(base));
  browser.history?.replaceState(browser.history.state, '', ownAddress());
  return { trip: JSON.parse(kept) as Trip, told };
};

export const isFramed = (): boolean => browser.self !== browser.top;

/** Opened at once, as browsers allow it within a click alone; its address follows. */
export const openPopup = (): Popup => {
  const popup = browser.open?.('about:blank', 'backlot-sign-in', 'popup,width=480,height=680');
  if (!popup)
    throw new BacklotError(0, {
      code: 'popup_blocked',
      error: 'The browser has blocked the window. Allow it, then try again.',
    });
  return popup;
};

const closedLookMs = 500;

/** What the popup tells, from the origin of the API alone. @throws BacklotError when it was closed */
export const heardFrom = (popup: Popup, origin: string): Promise<Told> =>
  new Promise((resolve, reject) => {
    const end = () => {
      clearInterval(timer);
      browser.removeEventListener?.('message', hear);
    };
    const hear = (message: { origin: string; source: unknown; data: unknown }) => {
      const told = message.data as (Told & { type?: string }) | null;
      if (message.origin !== origin || message.source !== popup) return;
      if (told?.type !== 'backlot:oauth') return;
      end();
      resolve(told);
    };
    // A window of another site can not be listened to: only asked whether it is closed.
    const timer = setInterval(() => {
      if (!popup.closed) return;
      end();
      reject(new BacklotError(0, { code: 'sign_in_canceled', error: 'The window was closed.' }));
    }, closedLookMs);
    browser.addEventListener?.('message', hear);
  });
