import { ShownOnce } from '../../parts/dialogs/shown-once.tsx';
import { Snippet } from '../../parts/snippet.tsx';

interface SecretOnceProps {
  name: string;
  secret: string;
  onClose(): void;
}

const check = `import { Webhook } from 'standardwebhooks';

// Throws unless it comes from here. body: the text as it came.
const event = new Webhook(process.env.WEBHOOK_SECRET).verify(body, request.headers);`;

/** The secret of a webhook, which no other answer shows. */
export const SecretOnce = ({ name, secret, onClose }: SecretOnceProps) => (
  <ShownOnce
    title={`The secret of ${name}`}
    secret={secret}
    says="Copy it now to where the calls arrive."
    onClose={onClose}
  >
    <p className="quiet-text">What arrives is checked with it, by Standard Webhooks:</p>
    <Snippet text={check} />
  </ShownOnce>
);
