import { HomeFrame } from '../../shell/home-frame.tsx';
import { AuditLog } from './audit-log.tsx';

export const OwnAuditScreen = () => (
  <HomeFrame>
    <AuditLog />
  </HomeFrame>
);
