// Judges the requests that our adapters make by the vendors' own API descriptions, which are not part
// of this repository: VENDOR_SPECS is the folder that holds them.
import base from './jest.config.mjs';

if (!process.env.VENDOR_SPECS)
  throw new Error('VENDOR_SPECS must name the folder of the descriptions.');

export default { ...base, testMatch: ['**/*.vendors.ts'] };
