import { useState } from 'react';
import { type Data, dataIn, type Versioned } from './place.ts';
import { formatJson, readJson } from './record-json.ts';
import { findChanges } from './save.tsx';

export type Draft = ReturnType<typeof useDraft>;

/** A record as it is being changed: its fields and its JSON are two views of one draft. */
export const useDraft = (loaded: Versioned | undefined) => {
  const [base, setBase] = useState<Versioned | undefined>(loaded);
  const [data, setData] = useState<Data>(() => (loaded ? dataIn(loaded.record) : {}));
  /** What stands in the editor while it is no JSON. */
  const [text, setText] = useState<string | null>(null);
  const [wrong, setWrong] = useState<Readonly<Record<string, string>>>({});
  // The editors keep their own text: they begin anew with another version.
  const [revision, setRevision] = useState(0);
  const changes = findChanges(base ? dataIn(base.record) : {}, data);
  const isChanged = Object.keys(changes).length > 0 || text !== null;

  const take = (next: Versioned) => {
    setBase(next);
    setData(dataIn(next.record));
    setText(null);
    setWrong({});
  };
  // As others have changed it, where nothing of it is being changed here.
  if (loaded && loaded !== base && base?.version !== loaded.version && !isChanged) take(loaded);

  return {
    base,
    data,
    setData,
    changes,
    isChanged,
    isNoJson: text !== null,
    /** Another key of the editors. */
    key: `${base?.version} ${revision}`,
    json: text ?? formatJson(data),
    take,
    setJson(next: string) {
      const read = readJson(next);
      if ('data' in read) setData(read.data);
      setText('data' in read ? null : next);
    },
    setProblem(field: string, problem: string | undefined) {
      const { [field]: _, ...others } = wrong;
      setWrong(problem === undefined ? others : { ...others, [field]: problem });
    },
    /** Why it can not be saved as it stands. */
    findProblem(): Error | undefined {
      const read = text === null ? undefined : readJson(text);
      if (read && 'problem' in read) return read.problem;
      const [field] = Object.keys(wrong);
      return field === undefined ? undefined : new Error(`${field}: ${wrong[field]}`);
    },
    discard() {
      if (base) take(base);
      else {
        setData({});
        setText(null);
      }
      setRevision(revision + 1);
    },
  };
};
