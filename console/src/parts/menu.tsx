import { Menu } from '@base-ui/react/menu';
import type { ReactNode } from 'react';
import type { OperationId } from '../api/operation-types.ts';
import { takesRole, useWhyNot } from '../api/roles.ts';

export interface Choice {
  label: string;
  onSelect(): void;
  isDangerous?: boolean;
  isDisabled?: boolean;
  /** What it calls: who may not reads which role it takes. */
  takes?: OperationId;
}

interface MoreMenuProps {
  /** For screen readers where there are no `children`: "More of Shop". */
  label: string;
  choices: readonly Choice[];
  children?: ReactNode;
}

/** A button that opens a list of things to do. */
export const MoreMenu = ({ label, choices, children }: MoreMenuProps) => {
  const why = useWhyNot();
  return (
    <Menu.Root modal={false}>
      <Menu.Trigger {...(!children && { className: 'quiet icon', 'aria-label': label })}>
        {children ?? '⋯'}
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner className="popup" sideOffset={4} align="end">
          <Menu.Popup className="menu">
            {choices.map(({ label, onSelect, isDangerous, isDisabled = false, takes }) => {
              const isRefused = takes !== undefined && why(takes) !== undefined;
              return (
                <Menu.Item
                  key={label}
                  className={`menu-item ${isDangerous ? 'danger' : ''}`}
                  disabled={isDisabled || isRefused}
                  onClick={onSelect}
                >
                  {isRefused ? `${label} (${takesRole(takes)})` : label}
                </Menu.Item>
              );
            })}
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
};
