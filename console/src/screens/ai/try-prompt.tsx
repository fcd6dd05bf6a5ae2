import { type FormEvent, useState } from 'react';
import { useChange } from '../../api/queries.ts';
import { Field } from '../../parts/field.tsx';
import { Loading } from '../../parts/lists/loading.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Takes } from '../../parts/takes.tsx';

const maxTokens = 500;

/** What the model answers with this system text, saved or not. */
export const TryPrompt = ({ projectId, system }: { projectId: string; system: string }) => {
  const [message, setMessage] = useState('');
  const generate = useChange('generateText', { changes: ['getUsage', 'getCredits'] });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    generate.mutate({
      project: projectId,
      body: { system, messages: [{ role: 'user', content: message }], maxTokens },
    });
  };
  return (
    <Takes name="generateText">
      <form className="stack close" onSubmit={submit}>
        <Field label="Try it" hint="As it stands above. It costs a credit or two of yours.">
          {(props) => (
            <div className="row nowrap">
              <input
                {...props}
                placeholder="What a user might write"
                required
                value={message}
                onChange={({ target }) => setMessage(target.value)}
              />
              <button type="submit" disabled={generate.isPending || system.trim() === ''}>
                Ask
              </button>
            </div>
          )}
        </Field>
        {generate.isPending && <Loading lines={2} />}
        <Problem error={generate.error} />
        {generate.data && !generate.isPending && (
          <output className="callout ai-answer">{generate.data.text}</output>
        )}
      </form>
    </Takes>
  );
};
