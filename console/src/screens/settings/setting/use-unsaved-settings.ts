import { useCallback, useState } from 'react';
import { useUnsaved } from '../../../parts/use-unsaved.ts';
import type { SettingName } from './control.ts';

/** Asks before a screen is left on which a setting is not saved; each row tells whether it is. */
export const useUnsavedSettings = () => {
  const [unsaved, setUnsaved] = useState<readonly SettingName[]>([]);
  useUnsaved(unsaved.length > 0);
  return useCallback((name: SettingName, isUnsaved: boolean) => {
    setUnsaved((before) => {
      if (before.includes(name) === isUnsaved) return before;
      return isUnsaved ? [...before, name] : before.filter((one) => one !== name);
    });
  }, []);
};
