/** In which state a mail is, in words. */
export const mailStates = {
  queued: { label: 'waiting', says: 'It goes out shortly, or is tried again.', badge: '' },
  sent: { label: 'sent', says: 'The mail server has taken it.', badge: 'good' },
  captured: {
    label: 'in the mailbox',
    says: 'This installation sends no mail: it lies in the dev mailbox.',
    badge: 'accent',
  },
  failed: { label: 'failed', says: 'It was not delivered.', badge: 'bad' },
} as const;

export const MailState = ({ state }: { state: keyof typeof mailStates }) => {
  const { label, says, badge } = mailStates[state];
  return (
    <span className={`badge ${badge}`} title={says}>
      {label}
    </span>
  );
};
