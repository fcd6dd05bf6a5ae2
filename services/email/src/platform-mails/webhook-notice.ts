import { oneLine } from '@backlot/contract';
import { greet, type MailContent } from './templates.ts';

export const webhookStoppedContent = (stopped: {
  name: string | null;
  projectName: string;
  projectId: string;
  webhook: string;
  host: string;
  reason: string;
}): MailContent => {
  const address = `/api/platform/projects/${stopped.projectId}/webhooks/${stopped.webhook}`;
  return {
    subject: `The webhook ${stopped.webhook} of ${stopped.projectName} is off`,
    greeting: greet(stopped.name),
    paragraphs: [
      `the webhook "${stopped.webhook}" of your project ${oneLine(stopped.projectName)} (${stopped.projectId}), which leads to ${oneLine(stopped.host)}, was switched off: ${oneLine(stopped.reason)}.`,
      'What waits is kept for 7 days; what happens while it is off is not told.',
      `GET ${address}/deliveries shows what came of each try. Setting the webhook again (PUT ${address}) switches it on.`,
    ],
    footer: 'You get this mail because you own this project on Backlot.',
  };
};
