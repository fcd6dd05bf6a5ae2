import { aiRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Generations } from '../generations.ts';

export const generateText = (generations: Generations) =>
  route(aiRoutes.generateText, async ({ identity, body }) => {
    const { usedMillicredits, ...answer } = await generations.generate(identity, body);
    return { body: answer, ...(usedMillicredits === undefined ? {} : { usedMillicredits }) };
  });
