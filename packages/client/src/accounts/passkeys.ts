import { BacklotError } from '../error.ts';
import { browser } from './browser.ts';

const unsupported = () =>
  new BacklotError(0, { code: 'no_passkeys', error: 'This browser can not use passkeys.' });

const explain = (error: Error): Error => {
  if (error.name === 'InvalidStateError')
    return new BacklotError(0, {
      code: 'conflict',
      error: 'This device has a passkey for this account already.',
    });
  // The browser does not tell whether it was refused, closed or took too long.
  if (error.name === 'NotAllowedError' || error.name === 'AbortError')
    return new BacklotError(0, {
      code: 'sign_in_canceled',
      error: 'No passkey was used.',
    });
  return error;
};

const ask = async (way: 'create' | 'get', publicKey: object): Promise<unknown> => {
  try {
    const credential = await browser.navigator?.credentials?.[way]({ publicKey });
    if (!credential) throw unsupported();
    return credential.toJSON();
  } catch (error) {
    throw explain(error as Error);
  }
};

type Options = () => Promise<object>;

/** A passkey that the browser makes. @throws BacklotError */
export const makePasskey = async (options: Options): Promise<unknown> => {
  const parse = browser.PublicKeyCredential?.parseCreationOptionsFromJSON;
  if (!parse) throw unsupported();
  return ask('create', parse(await options()));
};

/** One that the browser has. @throws BacklotError */
export const showPasskey = async (options: Options): Promise<unknown> => {
  const parse = browser.PublicKeyCredential?.parseRequestOptionsFromJSON;
  if (!parse) throw unsupported();
  return ask('get', parse(await options()));
};
