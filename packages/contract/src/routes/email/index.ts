export * from './emails.ts';
export * from './mail-templates.ts';
export * from './mailbox.ts';
export * from './receive-sendgrid-events.ts';
export * from './send-email.ts';
