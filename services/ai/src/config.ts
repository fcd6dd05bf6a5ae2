import { z } from 'zod';

/** What the service itself needs; the all-in-one builds it too. */
export interface AiConfig {
  /** How long a call may wait for the model, a repair included. */
  answerTimeoutMs: number;
}

const environment = z.object({
  /** Contract section 5; the gateway waits 75 s. */
  BACKLOT_AI_TIMEOUT_SECONDS: z.coerce.number().min(1).max(70).default(60),
});

/** @throws ZodError that names the settings which are missing or wrong. */
export const parseConfig = (env: NodeJS.ProcessEnv): AiConfig => {
  const settings = environment.parse(env);
  return {
    answerTimeoutMs: settings.BACKLOT_AI_TIMEOUT_SECONDS * 1000,
  };
};
