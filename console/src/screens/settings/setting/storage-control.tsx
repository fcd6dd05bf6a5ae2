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

interface LinesProps {
  label: string;
  placeholder: string;
  value: string[] | undefined;
  onChange(value: string[] | undefined): void;
}

const Lines = ({ label, placeholder, value, onChange }: LinesProps) => {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <textarea
        id={id}
        className="code"
        rows={3}
        placeholder={placeholder}
        value={value?.join('\n') ?? ''}
        onChange={({ target }) =>
          onChange(
            target.value === '' ? undefined : target.value.split('\n').map((line) => line.trim()),
          )
        }
      />
    </div>
  );
};

/** Which files may be uploaded, and how much. */
export const StorageControl = ({ text, onChange }: StorageControlProps) => {
  const storage = (readForm(text) ?? {}) as Storage;
  const change = (part: Storage) => onChange(writeForm({ ...storage, ...part }));
  return (
    <>
      <Lines
        label="Kinds of files, one a line"
        placeholder={'All kinds, or\nimage/*\napplication/pdf'}
        value={storage.types}
        onChange={(types) => change({ types } as Storage)}
      />
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
      <Lines
        label="Roles in a group that upload files for it, beside its owners and admins, one a line"
        placeholder={'All members, or\nmember'}
        value={storage.groupRoles}
        onChange={(groupRoles) => change({ groupRoles } as Storage)}
      />
    </>
  );
};
