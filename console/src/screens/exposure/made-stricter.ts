import { call } from '../../api/call.ts';
import { queryClient } from '../../api/queries.ts';
import { confirm } from '../../parts/dialogs/confirm.tsx';
import { notify, notifyProblem } from '../../parts/toasts.tsx';
import { effectWords, ruleWords, type Stricter } from './report.ts';

const setAccess = async (projectId: string, collection: string, { body }: Stricter['set']) => {
  await call('setCollectionAccess', { params: { projectId, collection }, body });
  for (const read of ['getExposure', 'listCollections', 'getCollection'])
    void queryClient.invalidateQueries({ queryKey: [read] });
};

/** Says first what changes, then sets the rule. */
export const makeStricter = async (
  projectId: string,
  collection: string,
  stricter: Stricter,
): Promise<void> => {
  const { title, means, action } = ruleWords[stricter.rule];
  const isSure = await confirm({
    title: `${title} in ${collection}?`,
    says: `${means} ${effectWords(stricter)}. It holds within seconds, and can be undone right after.`,
    action,
  });
  if (!isSure) return;
  try {
    await setAccess(projectId, collection, stricter.set);
    const bringBack = async () => {
      await setAccess(projectId, collection, stricter.undo);
      notify(`${collection} has its rules from before again`);
    };
    notify(`${collection} has stricter rules`, { undo: () => bringBack().catch(notifyProblem) });
  } catch (error) {
    notifyProblem(error as Error);
  }
};
