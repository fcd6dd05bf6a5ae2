export { type EmailConfig, parseConfig } from './config.ts';
export { createEmailService, type EmailDeps, type EmailService } from './service.ts';
