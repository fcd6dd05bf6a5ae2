import { ApiError, aiRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Generations } from '../generations/generations.ts';

export const generateText = (generations: Generations) =>
  route(
    aiRoutes.generateText,
    async ({ identity, body, signal, header }) => {
      const call = { identity, body, signal };
      if (body.stream) {
        if (header('idempotency-key') !== undefined) {
          throw new ApiError('invalid_header', 'A stream takes no Idempotency-Key.');
        }
        return { events: generations.stream(call) };
      }
      const { usedMillicredits, commit, ...answer } = await generations.generate(call);
      return {
        body: answer,
        commit,
        ...(usedMillicredits === undefined ? {} : { usedMillicredits }),
      };
    },
    // A schema takes as long as a body several times its size does elsewhere.
    { isSlow: true, largeBodyBytes: 4096 },
  );
