import { Field } from '../../parts/field.tsx';
import { accountNames, isOfAccounts, type TemplateForm } from './template-form.ts';

interface TemplateFieldsProps {
  form: TemplateForm;
  isNew: boolean;
  onChange(form: TemplateForm): void;
}

export const TemplateFields = ({ form, isNew, onChange }: TemplateFieldsProps) => {
  const bind = (name: keyof TemplateForm) => ({
    value: form[name],
    onChange: ({ target }: { target: { value: string } }) =>
      onChange({ ...form, [name]: target.value }),
  });
  return (
    <>
      {isNew && (
        <Field
          label="Name"
          hint={`What calls name. One of ${accountNames.join(', ')} words that mail of accounts.`}
        >
          {(props) => (
            <input
              {...props}
              {...bind('name')}
              className="code"
              maxLength={63}
              placeholder="order-received"
              required
            />
          )}
        </Field>
      )}
      <Field label="Subject">
        {(props) => <input {...props} {...bind('subject')} maxLength={200} required />}
      </Field>
      <Field
        label="HTML"
        hint="{{field}} stands for a value, {{#field}}…{{/field}} for a part that is there or is repeated."
      >
        {(props) => (
          <textarea
            {...props}
            {...bind('html')}
            className="code tall"
            spellCheck={false}
            required
          />
        )}
      </Field>
      <Field label="Plain text" hint="For mail programs without HTML; may be left out.">
        {(props) => <textarea {...props} {...bind('text')} className="code" rows={3} />}
      </Field>
      {isOfAccounts(form.name) ? (
        <p className="quiet-text">
          Its fields are given: app, name, link, until; of an invitation team and inviter. It has to
          say {'{{link}}'}.
        </p>
      ) : (
        <>
          <Field label="Goes to">
            {(props) => (
              <select {...props} {...bind('to')}>
                <option value="caller">The user who sends it, at their verified address</option>
                <option value="owner">You</option>
                <option value="anyone">Whom the call names</option>
              </select>
            )}
          </Field>
          <Field
            label="Who may send it"
            hint="anyone, users or role:<name>, with commas between; empty: you and your keys alone."
          >
            {(props) => <input {...props} {...bind('callers')} className="code" />}
          </Field>
          <Field
            label="Fields"
            hint="string, text, number, boolean, id and url, or an object such as an optional one, or a list."
          >
            {(props) => (
              <textarea
                {...props}
                {...bind('fields')}
                className="code"
                rows={6}
                spellCheck={false}
              />
            )}
          </Field>
        </>
      )}
    </>
  );
};
