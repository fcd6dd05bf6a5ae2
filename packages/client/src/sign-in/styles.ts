/** Variables of the page begin with --backlot, those in here with --_, so that none is another's. */
const css = `
:host {
  color-scheme: light dark;
  --_ink: var(--backlot-ink, light-dark(#16181d, #eceef1));
  --_quiet: var(--backlot-quiet, light-dark(#565d68, #a3aab6));
  --_surface: var(--backlot-surface, light-dark(#ffffff, #1b1d21));
  --_control: var(--backlot-control, light-dark(#ffffff, #141518));
  --_line: var(--backlot-line, light-dark(#e3e5e9, #2b2e34));
  --_field-line: var(--backlot-field-line, light-dark(#8a919d, #6f7784));
  --_accent: var(--backlot-accent, light-dark(#2456c4, #8fb0ff));
  --_on-accent: var(--backlot-on-accent, light-dark(#ffffff, #0f1a33));
  --_bad: var(--backlot-bad, light-dark(#b3261e, #ff8f86));
  --_good: var(--backlot-good, light-dark(#17693a, #6fcf97));
  --_radius: var(--backlot-radius, 6px);
  --_font: var(--backlot-font, system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif);
  --_width: var(--backlot-width, 24rem);
  --_edge: 1px;
  display: block;
  box-sizing: border-box;
  max-width: var(--_width);
  padding: 1.5rem;
  border: var(--_edge) solid var(--_line);
  border-radius: calc(var(--_radius) * 1.5);
  background: var(--_surface);
  color: var(--_ink);
  font: 1rem/1.5 var(--_font);
}
:host([hidden]) { display: none; }
:host([theme="light"]) { color-scheme: light; }
:host([theme="dark"]) { color-scheme: dark; }
:host([theme="plain"]) {
  color-scheme: inherit;
  --_ink: var(--backlot-ink, inherit);
  --_quiet: var(--backlot-quiet, inherit);
  --_surface: var(--backlot-surface, transparent);
  --_font: var(--backlot-font, inherit);
  padding: 0;
  border: 0;
  font: inherit;
  max-width: var(--backlot-width, none);
}
:host([theme="contrast"]) {
  --_ink: var(--backlot-ink, light-dark(#000000, #ffffff));
  --_quiet: var(--backlot-quiet, light-dark(#000000, #ffffff));
  --_surface: var(--backlot-surface, light-dark(#ffffff, #000000));
  --_control: var(--backlot-control, light-dark(#ffffff, #000000));
  --_line: var(--backlot-line, light-dark(#000000, #ffffff));
  --_field-line: var(--backlot-field-line, light-dark(#000000, #ffffff));
  --_accent: var(--backlot-accent, light-dark(#00309c, #ffe45c));
  --_on-accent: var(--backlot-on-accent, light-dark(#ffffff, #000000));
  --_bad: var(--backlot-bad, light-dark(#8c0009, #ffb3ab));
  --_good: var(--backlot-good, light-dark(#00461d, #8df0b4));
  --_edge: 2px;
}
*, ::before, ::after { box-sizing: border-box; }
form, .content, .ways { display: grid; gap: 1rem; }
.content:empty, .ways:empty, .links:empty, p:empty { display: none; }
h1, h2, h3 { margin: 0; font: 600 1.25rem/1.4 var(--_font); overflow-wrap: anywhere; outline: none; }
p { margin: 0; overflow-wrap: anywhere; }
.says, .hint { color: var(--_quiet); }
.hint { font-size: 0.875rem; }
.problem { color: var(--_bad); font-weight: 500; }
.notice { color: var(--_good); font-weight: 500; }
.field { display: grid; gap: 0.25rem; }
label { font-weight: 500; }
input, button { font: inherit; color: inherit; min-height: 2.75rem; border-radius: var(--_radius); }
input {
  width: 100%;
  min-width: 0;
  padding: 0.5rem 0.75rem;
  border: var(--_edge) solid var(--_field-line);
  background: var(--_control);
}
input[readonly] { background: transparent; }
input[aria-invalid="true"] { border-color: var(--_bad); }
input[type="checkbox"] { width: 1.25rem; min-height: 1.25rem; margin: 0; accent-color: var(--_accent); }
.check { display: flex; align-items: center; gap: 0.5rem; }
.check label { font-weight: 400; }
.code { font-variant-numeric: tabular-nums; letter-spacing: 0.25em; }
button {
  display: inline-flex;
  align-items: center;
  justify-content: center;
  gap: 0.75rem;
  padding: 0.5rem 1rem;
  border: var(--_edge) solid var(--_field-line);
  background: var(--_control);
  font-weight: 500;
  cursor: pointer;
}
button:hover { border-color: var(--_ink); }
button.primary { border-color: transparent; background: var(--_accent); color: var(--_on-accent); }
button.primary:hover { filter: brightness(0.94); }
button.link {
  min-height: 1.5rem;
  padding: 0;
  border: 0;
  background: none;
  color: var(--_accent);
  text-decoration: underline;
  text-underline-offset: 0.2em;
  text-align: start;
}
button:disabled { opacity: 0.6; cursor: default; }
:focus-visible { outline: 2px solid var(--_accent); outline-offset: 2px; }
button svg { width: 1.25rem; height: 1.25rem; flex: none; }
.links { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0.5rem 1.5rem; }
.content > .link { justify-self: start; }
.or { display: flex; align-items: center; gap: 0.75rem; color: var(--_quiet); }
.or::before, .or::after { content: ""; flex: 1; border-block-start: 1px solid var(--_line); }
:host([theme="plain"]) button.link { color: var(--backlot-accent, inherit); }
:host([theme="plain"]) button.primary {
  border-color: currentcolor;
  background: var(--backlot-accent, transparent);
  color: var(--backlot-on-accent, inherit);
}
:host([theme="plain"]) :is(.problem, .notice, .says, .hint) { color: inherit; }
:host([theme="plain"]) :is(h1, h2, h3) { font: inherit; font-size: 1.25em; font-weight: 600; }
@media (forced-colors: active) { button { border-color: ButtonText; } }
`;

let sheet: CSSStyleSheet | undefined;

/** One for all forms of the page: a sheet that a script makes is let in by every policy. */
export const styles = (): CSSStyleSheet => {
  if (!sheet) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(css);
  }
  return sheet;
};
