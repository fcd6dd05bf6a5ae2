import { AuditLog } from '../audit/audit-log.tsx';

/** Of all owners, and of what is nobody's. */
export const AuditScreen = () => <AuditLog as="operator" />;
