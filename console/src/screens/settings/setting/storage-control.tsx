import { useId } from 'react';
import { formatBytes } from '../../../parts/words/numbers.ts';
import type { Settings } from './control.ts';
import { readForm, writeForm } from './setting-value.ts';

type Storage = NonNullable<Settings['storage']>;

interface StorageControlProps {
  text: string;
  onChange(text: string): void;
}

/** Beside a field of bytes: what that number comes to. */
export const bytesWords = (value: number | string | undefined): string =>
  Number(value ?? 0) < 1024 ? 'bytes' : `bytes: ${formatBytes(Number(value))}`;

interface BytesProps {
  label: string;
  value: number | undefined;
  onChange(value: number | undefined): void;
}

const Bytes = ({ label, value, onChange }: BytesProps) => {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <div className="row unit">
        <input
          id={id}
          type="number"
          min={0}
          step={1}
          placeholder="No limit"
          value={value ?? ''}
          onChange={({ target }) =>
            onChange(target.value === '' ? undefined : Number(target.value))
          }
        />
        <span className="quiet-text">{bytesWords(value)}</span>
      </div>
    </div>
  );
};

/** Which files may be uploaded, and how much. */
export const StorageControl = ({ text, onChange }: StorageControlProps) => {
  const id = useId();
  const storage = (readForm(text) ?? {}) as Storage;
  const change = (part: Storage) => onChange(writeForm({ ...storage, ...part }));
  return (
    <>
      <div className="field">
        <label htmlFor={id}>Kinds of files, one a line</label>
        <textarea
          id={id}
          className="code"
          rows={3}
          placeholder={'All kinds, or\nimage/*\napplication/pdf'}
          value={storage.types?.join('\n') ?? ''}
          onChange={({ target }) =>
            change({
              types:
                target.value === ''
                  ? undefined
                  : target.value.split('\n').map((line) => line.trim()),
            } as Storage)
          }
        />
      </div>
      <Bytes
        label="Largest file"
        value={storage.maxBytes}
        onChange={(maxBytes) => change({ maxBytes } as Storage)}
      />
      <Bytes
        label="One user in all"
        value={storage.perUser}
        onChange={(perUser) => change({ perUser } as Storage)}
      />
    </>
  );
};
