import {
  ApiError,
  type ConfigChange,
  type ConfigProject,
  type ImportedProject,
  type ProjectConfig,
} from '@backlot/contract';
import { ask, type Parts, type Refusal } from '../project-file/carry-out.ts';
import { findChanges, normalize, originsAfter, partFor } from '../project-file/plan.ts';
import type { Importing } from './imports.ts';

type Left = ImportedProject['left'];

const toRefusal = ({ code, message, hint }: Refusal) =>
  new ApiError(code, message, hint === undefined ? {} : { hint });

/** They may lead to origins that were verified for the other project, and are not yet for this one. */
const mayBeLeft = ({ section }: ConfigChange) => section === 'mailTemplates';

/**
 * Sets in a new project what a config says. Nothing is undone where a part refuses: who makes the project erases it.
 * Returns the entries that it can not have yet.
 * @throws ApiError that a part refuses with
 */
export const createFillConfig = (parts: Parts) => {
  const fillPart = async (
    { name, directory }: Parts[number],
    project: ConfigProject,
    changes: readonly ConfigChange[],
  ): Promise<Left> => {
    const own = changes.filter((change) => partFor(change) === name);
    if (own.length === 0) return [];
    const { refused } = await ask(directory, project, own, { isTrial: false, isCopy: true });
    if (!refused) return [];
    if (!own.every(mayBeLeft)) throw toRefusal(refused);
    const left: Left = [];
    for (const change of own) {
      const single = await ask(directory, project, [change], { isTrial: false, isCopy: true });
      const entry = `${change.section}.${change.name}`;
      if (single.refused) left.push({ entry, reason: single.refused.message });
    }
    return left;
  };

  return async (
    { id, number, ownerId }: Importing,
    config: ProjectConfig,
    check: () => void,
  ): Promise<Left> => {
    const changes = findChanges({}, normalize(config));
    const allowedOrigins = originsAfter(undefined, changes);
    const project = { id, number, ownerId, allowedOrigins };
    const left: Left = [];
    for (const part of parts) {
      check();
      left.push(...(await fillPart(part, project, changes)));
    }
    return left;
  };
};

export type FillConfig = ReturnType<typeof createFillConfig>;
