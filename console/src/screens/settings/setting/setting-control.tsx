import { CallersControl } from './callers-control.tsx';
import type { Control } from './control.ts';
import { SignUpControl } from './sign-up-control.tsx';
import { bytesWords, StorageControl } from './storage-control.tsx';

interface ControlProps {
  id: string;
  labelledBy: string;
  describedBy: string;
  control: Control;
  text: string;
  onChange(text: string): void;
}

/** The field, or the fields, of one setting. */
export const SettingControl = (props: ControlProps) => {
  const { id, labelledBy, describedBy, control, text, onChange } = props;
  if (control.kind === 'sign-up') return <SignUpControl {...props} />;
  if (control.kind === 'callers' || control.kind === 'storage')
    return (
      // The label leads here: it names the group.
      <fieldset
        id={id}
        aria-labelledby={labelledBy}
        aria-describedby={describedBy}
        className="words"
      >
        {control.kind === 'callers' ? (
          <CallersControl text={text} onChange={onChange} />
        ) : (
          <StorageControl text={text} onChange={onChange} />
        )}
      </fieldset>
    );
  const shared = {
    id,
    'aria-describedby': describedBy,
    value: text,
    onChange: ({ target }: { target: { value: string } }) => onChange(target.value),
  };
  if (control.kind === 'choice')
    return (
      <select {...shared}>
        <option value="">Default</option>
        {control.choices.map(([value, words]) => (
          <option key={String(value)} value={String(value)}>
            {words}
          </option>
        ))}
      </select>
    );
  if (control.kind === 'number')
    return (
      <div className="row unit">
        <input {...shared} type="number" min={0} step={1} placeholder="Default" />
        <span className="quiet-text">{control.unit}</span>
      </div>
    );
  if (control.kind === 'bytes')
    return (
      <div className="row unit">
        <input {...shared} type="number" min={0} step={1} placeholder="Default" />
        <span className="quiet-text">{bytesWords(text)}</span>
      </div>
    );
  if (control.kind === 'text')
    return <input {...shared} className="code" placeholder={control.placeholder} />;
  return <textarea {...shared} className="code" rows={3} placeholder={control.placeholder} />;
};
