import { z } from 'zod';
import { ApiError } from '../error-codes.ts';

/** What the operator suspends beside the whole of a project. */
export const capabilities = ['mail', 'ai', 'uploads', 'writes', 'payments'] as const;
export type Capability = (typeof capabilities)[number];

export const suspendable = ['all', ...capabilities] as const;
export type Suspendable = (typeof suspendable)[number];

const words: Readonly<Record<Suspendable, string>> = {
  all: 'This project is suspended',
  mail: 'Mail is suspended in this project',
  ai: 'AI is suspended in this project',
  uploads: 'Uploads are suspended in this project',
  writes: 'Writing is suspended in this project',
  payments: 'Payments are suspended in this project',
};

export const suspendedError = (suspended: Suspendable): ApiError =>
  new ApiError(
    'suspended',
    `${words[suspended]} by the operator of the platform, who alone can lift it.`,
    { hint: 'Its owner reads the reason: GET /api/platform/projects/<project id>.' },
  );

/** As owners and operators see it. */
export const suspension = z
  .object({
    of: z.enum(['project', 'owner']),
    capability: z.enum(suspendable).describe('all: everything'),
    reason: z.string(),
    since: z.iso.datetime(),
  })
  .meta({ id: 'Suspension' });
export type Suspension = z.infer<typeof suspension>;
