import { version } from 'virtual:contract';
import { Screen } from '../../parts/screen.tsx';
import { Health } from './health.tsx';
import { Reconciliation } from './reconciliation.tsx';
import { TopSpenders } from './top-spenders.tsx';
import './operator.css';

/** Whether all is well, and who makes the load. */
export const OverviewScreen = () => (
  <Screen title="Overview" says={<>This installation, version {version}.</>}>
    <Health />
    <TopSpenders />
    <Reconciliation />
  </Screen>
);
