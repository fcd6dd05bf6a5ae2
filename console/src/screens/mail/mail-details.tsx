import type { ReactNode } from 'react';
import type { Item } from '../../api/operation-types.ts';
import { Modal } from '../../parts/dialogs/modal.tsx';
import { HtmlPreview } from '../../parts/html-preview/html-preview.tsx';
import { formatBytes } from '../../parts/words/numbers.ts';
import { Time } from '../../parts/words/time.tsx';
import { inOrder } from '../../parts/words/visible-text.ts';
import { MailState } from './mail-state.tsx';

const Fact = ({ name, children }: { name: string; children: ReactNode }) => (
  <>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </>
);

interface MailDetailsProps {
  mail: Item<'listEmails'>;
  onClose(): void;
}

/** One mail: whom it went to, what became of it, and how it looks. */
export const MailDetails = ({ mail, onClose }: MailDetailsProps) => {
  const { subject, from, to, cc, bcc, replyTo, status, error, createdAt, attachments, html } = mail;
  return (
    <Modal title={inOrder(subject)} isOpen onClose={onClose} isWide>
      {error && (
        <div className={`callout ${status === 'failed' ? 'bad' : 'warn'}`}>
          <p>{error}</p>
        </div>
      )}
      <dl className="facts">
        <Fact name="State">
          <MailState state={status} /> <Time at={createdAt} />
        </Fact>
        <Fact name="From">{from}</Fact>
        <Fact name="To">{to.join(', ')}</Fact>
        {cc && cc.length > 0 && <Fact name="Copy to">{cc.join(', ')}</Fact>}
        {bcc && bcc.length > 0 && <Fact name="Blind copy to">{bcc.join(', ')}</Fact>}
        {replyTo && <Fact name="Answers to">{replyTo}</Fact>}
        {attachments && attachments.length > 0 && (
          <Fact name="Files">
            {attachments.map(({ name, size }) => `${name} (${formatBytes(size)})`).join(', ')}
          </Fact>
        )}
      </dl>
      {html === '' ? (
        <p className="quiet-text">
          Its words are not kept: it holds a link that works once, for its recipient alone.
        </p>
      ) : (
        <HtmlPreview title="The mail" html={html} />
      )}
      <footer>
        <button type="button" onClick={onClose}>
          Close
        </button>
      </footer>
    </Modal>
  );
};
