import type { GivenRole } from '@backlot/contract';

/** What each role may, in a sentence. */
export const roleSays: Readonly<Record<GivenRole, string>> = {
  viewer:
    'Viewers read records, users, files, mails, payments, usage and live calls; no keys, secrets or exports.',
  editor:
    'Editors do what viewers may, change data, block users and make calls that cost the owner’s credits.',
  admin:
    'Admins do all that the owner may in the project: settings, rules, keys and members. Only the owner deletes it.',
};
