import { AreaTabs } from '../../parts/area-tabs.tsx';

const pages = [
  ['mail', 'Mails'],
  ['mail/templates', 'Templates'],
] as const;

export const MailTabs = () => <AreaTabs label="Mail" pages={pages} />;
