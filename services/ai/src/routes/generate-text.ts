import { ApiError, aiRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Nouns } from '../nouns.ts';

export const generateText = ({ generations }: Nouns) =>
  route(
    aiRoutes.generateText,
    async ({ identity, body, signal, header }) => {
      const asking = { identity, body, signal };
      if (body.stream) {
        if (header('idempotency-key') !== undefined) {
          throw new ApiError('invalid_header', 'A stream takes no Idempotency-Key.');
        }
        return { events: generations.stream(asking) };
      }
      const { usedMillicredits, commit, ...answer } = await generations.generate(asking);
      return {
        body: answer,
        commit,
        ...(usedMillicredits === undefined ? {} : { usedMillicredits }),
      };
    },
    { isSlow: true },
  );
