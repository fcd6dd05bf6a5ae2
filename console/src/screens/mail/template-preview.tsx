import { useState } from 'react';
import type { Answer } from '../../api/operation-types.ts';
import { useCall } from '../../api/queries.ts';
import { Field } from '../../parts/field.tsx';
import { HtmlPreview } from '../../parts/html-preview/html-preview.tsx';
import { Loading } from '../../parts/lists/loading.tsx';
import { Problem } from '../../parts/problem.tsx';
import { inOrder } from '../../parts/words/visible-text.ts';
import { isOfAccounts, sampleData } from './template-form.ts';

interface TemplatePreviewProps {
  projectId: string;
  template: Answer<'getMailTemplate'>;
  /** There are changes that are not saved. */
  isOld: boolean;
}

const parse = (text: string): Record<string, unknown> | undefined => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** How the saved template looks with the data that stands beside it; nothing is sent. */
export const TemplatePreview = ({ projectId, template, isOld }: TemplatePreviewProps) => {
  const { name, fields, updatedAt } = template;
  const [written, setWritten] = useState<string>();
  const text = written ?? JSON.stringify(sampleData(fields), null, 2);
  const data = parse(text);
  const given = isOfAccounts(name);
  const input = { params: { projectId, name }, body: given || !data ? {} : { data } };
  // What it shows is another one after each change.
  const shown = useCall('previewMailTemplate', { ...input, version: updatedAt } as typeof input, {
    enabled: given || data !== undefined,
  });
  return (
    <section className="stack" aria-label="Preview">
      <h2>{isOld ? 'As it is saved' : 'Preview'}</h2>
      {shown.error && <Problem error={shown.error} again={() => void shown.refetch()} />}
      {shown.isLoading && <Loading />}
      {shown.data && (
        <>
          <p>
            <span className="quiet-text">Subject</span>{' '}
            <strong>{inOrder(shown.data.subject)}</strong>
          </p>
          <HtmlPreview title="Preview of the mail" html={shown.data.html} />
        </>
      )}
      {!given && (
        <Field
          label="Data"
          hint="As a call gives it; nothing is sent."
          problem={data === undefined ? 'It has to be JSON.' : undefined}
        >
          {(props) => (
            <textarea
              {...props}
              className="code"
              rows={6}
              spellCheck={false}
              value={text}
              onChange={({ target }) => setWritten(target.value)}
            />
          )}
        </Field>
      )}
    </section>
  );
};
