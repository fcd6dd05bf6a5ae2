import { hash } from 'node:crypto';

/** As `GatewayConfig.operatorTokenHash` and the directories hold it. */
export const hashToken = (token: string): string => hash('sha256', token, 'base64url');
