import { recordRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Channels } from '../channels/channels.ts';

export const broadcastMessage = (channels: Channels) =>
  route(recordRoutes.broadcastMessage, async ({ body, identity }) => {
    await channels.say(identity, body.channel, body.data);
    return { body: undefined };
  });

export const setPresence = (channels: Channels) =>
  route(recordRoutes.setPresence, async ({ body, identity }) => {
    channels.setPresence(identity, body);
    return { body: undefined };
  });

export const listPresence = (channels: Channels) =>
  route(recordRoutes.listPresence, async ({ query, identity }) => ({
    body: channels.list(identity, query.channel),
  }));
