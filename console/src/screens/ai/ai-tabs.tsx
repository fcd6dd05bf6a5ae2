import { AreaTabs } from '../../parts/area-tabs.tsx';

const pages = [
  ['ai', 'Calls and tokens'],
  ['ai/prompts', 'Prompts'],
  ['ai/budgets', 'Model and budgets'],
] as const;

export const AiTabs = () => <AreaTabs label="AI" pages={pages} />;
