import { expect } from '@jest/globals';

/** What the owner of an app may want to be told of a user, as it is stored for the bus. */
export const told = (type: 'user.created' | 'user.verified' | 'user.erased', userId: string) => ({
  topic: 'app.event',
  payload: expect.objectContaining({ type, orderKey: `user/${userId}` }),
});
