import { type FormEvent, useEffect, useId, useState } from 'react';
import type { Input } from '../../../api/operation-types.ts';
import { useChange } from '../../../api/queries.ts';
import { Problem } from '../../../parts/problem.tsx';
import { notify, notifyProblem } from '../../../parts/toasts.tsx';
import type { SettingName, Settings } from './control.ts';
import { SettingControl } from './setting-control.tsx';
import { settingTexts } from './setting-texts.ts';
import { fromText, toText } from './setting-value.ts';

interface SettingRowProps {
  projectId: string;
  name: SettingName;
  settings: Settings;
  onUnsaved(name: SettingName, isUnsaved: boolean): void;
}

/** One setting: what it does, what holds unless it is set, and its value, saved by itself. */
export const SettingRow = ({ projectId, name, settings, onUnsaved }: SettingRowProps) => {
  const { label, says, unset, protects, control } = settingTexts[name];
  const value = settings[name];
  const saved = toText(control, value);
  const [text, setText] = useState<string>();
  const [wrong, setWrong] = useState<Error | null>(null);
  const id = useId();
  const update = useChange('updateProject', { changes: ['getProject'] });
  const save = (next: unknown) => {
    const body = { settings: { [name]: next } } as Input<'updateProject'>['body'];
    return update.mutateAsync({ params: { projectId }, body });
  };
  const put = async (next: unknown) => {
    setWrong(null);
    await save(next);
    setText(undefined);
    notify(`${label}: ${next === null ? 'the default holds' : 'saved'}`, {
      undo: () => save(value ?? null).catch(notifyProblem),
    });
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    try {
      put(fromText(control, text ?? saved)).catch(setWrong);
    } catch (error) {
      setWrong(error as Error);
    }
  };
  const isDirty = text !== undefined && text !== saved;
  useEffect(() => onUnsaved(name, isDirty), [onUnsaved, name, isDirty]);
  return (
    <form className="setting" onSubmit={submit}>
      <div className="stack close" id={`${id}says`}>
        <label htmlFor={id} id={`${id}label`}>
          {label} <span className="mono quiet-text">{name}</span>
        </label>
        <p>{says}</p>
        <p className="quiet-text">
          {protects} Unless set: {unset}.
        </p>
      </div>
      <div className="stack close">
        <SettingControl
          id={id}
          labelledBy={`${id}label`}
          describedBy={`${id}says`}
          control={control}
          text={text ?? saved}
          onChange={setText}
        />
        <Problem error={wrong} />
        <div className="row">
          {isDirty && (
            <>
              <button type="submit" className="primary small" disabled={update.isPending}>
                Save
              </button>
              <button type="button" className="small" onClick={() => setText(undefined)}>
                Discard
              </button>
            </>
          )}
          {!isDirty && saved !== '' && (
            <button
              type="button"
              className="quiet small"
              disabled={update.isPending}
              onClick={() => void put(null).catch(setWrong)}
            >
              Use the default
            </button>
          )}
        </div>
      </div>
    </form>
  );
};
