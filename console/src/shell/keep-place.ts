/** What had the focus last, and what that stands in. */
let path: readonly HTMLElement[] = [];

const onFocus = ({ target }: FocusEvent) => {
  const around: HTMLElement[] = [];
  for (let at = target as HTMLElement | null; at && at !== document.body; at = at.parentElement)
    around.push(at);
  path = around;
};

const canTake = (element: HTMLElement) =>
  element.isConnected && !element.matches(':disabled') && element.checkVisibility();

const forget = () => {
  path = [];
};

const onKey = (event: KeyboardEvent) => {
  if (event.key !== 'Tab') return;
  const { activeElement, body } = document;
  // Whoever goes on by themselves, past the last control too, has not lost their place.
  if (activeElement && activeElement !== body) return forget();
  const [last] = path;
  if (last && canTake(last)) {
    event.preventDefault();
    last.focus();
    return;
  }
  const around = path.find(
    (element) => canTake(element) && element.closest('main, [role="dialog"]'),
  );
  if (!around) return;
  // The browser goes on from here to what comes next.
  if (!around.hasAttribute('tabindex')) {
    around.tabIndex = -1;
    around.addEventListener('blur', () => around.removeAttribute('tabindex'), { once: true });
  }
  around.focus({ preventScroll: true });
};

/** A button that rests while it works, or is gone when it has, does not send the next Tab to the page's beginning. */
export const keepPlace = (): (() => void) => {
  addEventListener('focusin', onFocus);
  addEventListener('keydown', onKey, true);
  addEventListener('pointerdown', forget, true);
  return () => {
    removeEventListener('focusin', onFocus);
    removeEventListener('keydown', onKey, true);
    removeEventListener('pointerdown', forget, true);
  };
};
