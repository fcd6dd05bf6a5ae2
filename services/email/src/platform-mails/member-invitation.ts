import { oneLine, type Payload, roleInWords, showProjectName } from '@backlot/contract';
import { greet, type MailContent, until } from './templates.ts';

const may = {
  viewer: 'sees everything in it and changes nothing',
  editor: 'changes its records and files, and makes calls that cost credits',
  admin: 'sets it up as its owner does, but for its deletion and where its money goes',
} as const;

export const memberInvitationContent = (
  invited: Pick<
    Payload<'member.invited'>,
    'projectId' | 'projectName' | 'role' | 'invitedBy' | 'to' | 'expiresAt'
  > & { url: string },
): MailContent => {
  const name = showProjectName({ id: invited.projectId, name: invited.projectName });
  const by = invited.invitedBy === null ? 'somebody' : oneLine(invited.invitedBy);
  return {
    subject: `You are invited to work on ${name}`,
    greeting: greet(null),
    paragraphs: [
      `${by} invites you to work on the project ${name} on Backlot, as ${roleInWords(invited.role)}: who is one ${may[invited.role]}.`,
      `The link can be used once, until ${until(invited.expiresAt)}, by an account with the address ${oneLine(invited.to)}. If you have none yet, you can make one there.`,
    ],
    action: { label: 'See the invitation', url: invited.url },
    footer:
      'You get this mail because somebody on Backlot entered your address. If you do not know why, do nothing.',
  };
};
