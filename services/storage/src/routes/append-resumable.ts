import type { IncomingMessage } from 'node:http';
import { storageRoutes } from '@backlot/contract';
import { discardBody, route } from '@backlot/http';
import type { Nouns } from '../nouns.ts';
import { comingIn } from '../resumable/append.ts';
import { statedIn } from '../resumable/tus-headers.ts';
import { progressHeaders, tusRoute } from './tus-route.ts';

export const appendResumable = ({ resumableUploads, links, config }: Nouns) =>
  tusRoute(
    route(
      storageRoutes.appendResumable,
      async ({ params, header, sent, identity }) => {
        const req = sent.value as IncomingMessage;
        const { usedMillicredits, ...upload } = await resumableUploads.append(
          identity,
          params.id,
          statedIn(header),
          (missing, isAwaited) => comingIn(req, missing, config.uploadIdleMs, isAwaited),
        );
        return {
          body: undefined,
          headers: progressHeaders(links, identity, upload),
          ...(usedMillicredits === undefined ? {} : { usedMillicredits }),
        };
      },
      {
        receive: async (req) => ({
          value: req,
          text: '',
          // What came after the caller was told to make room.
          release: async () => discardBody(req),
        }),
      },
    ),
  );
