import { Tabs } from '@base-ui/react/tabs';
import { useState } from 'react';
import { type AnyInput, describeCall } from '../api/call.ts';
import type { Input, OperationId } from '../api/operation-types.ts';
import { asCurl, asFetch, asSdk } from '../api/snippets.ts';
import { Modal } from './dialogs/modal.tsx';
import { Snippet } from './snippet.tsx';

interface ApiCallProps<Name extends OperationId> {
  name: Name;
  input: NoInfer<Input<Name>>;
  /** Where the client has a shorter way than its transport. */
  sdk?: string;
  /** Beside those of every call. */
  headers?: Readonly<Record<string, string>> | undefined;
  as?: 'operator';
}

/** A button that shows the call behind what stands on the page: as fetch, by the client, and by curl. */
export const ApiCall = <Name extends OperationId>({
  name,
  input,
  sdk,
  headers,
  as,
}: ApiCallProps<Name>) => {
  const [isOpen, setOpen] = useState(false);
  const call = { ...describeCall(name, input as unknown as AnyInput), headers };
  const texts = {
    fetch: asFetch(call, location.origin),
    SDK: sdk ?? asSdk(call, location.origin),
    curl: asCurl(call, location.origin),
  };
  return (
    <>
      <button type="button" className="quiet" onClick={() => setOpen(true)}>
        API
      </button>
      <Modal title="The API call behind this" isOpen={isOpen} onClose={() => setOpen(false)} isWide>
        <p className="quiet-text">
          <span className="mono">
            {call.method} /api/{call.project === undefined ? 'platform' : `runtime/${call.project}`}
            {call.path}
          </span>
          {as === 'operator'
            ? '; the token is that of the operator.'
            : '; the token is that of an owner, or a secret key of the project.'}
        </p>
        <Tabs.Root defaultValue="fetch" className="stack">
          <Tabs.List className="tabs">
            {Object.keys(texts).map((way) => (
              <Tabs.Tab key={way} value={way}>
                {way}
              </Tabs.Tab>
            ))}
          </Tabs.List>
          {Object.entries(texts).map(([way, text]) => (
            <Tabs.Panel key={way} value={way}>
              <Snippet text={text} />
            </Tabs.Panel>
          ))}
        </Tabs.Root>
        <footer>
          <button type="button" onClick={() => setOpen(false)}>
            Close
          </button>
        </footer>
      </Modal>
    </>
  );
};
