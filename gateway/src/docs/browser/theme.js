// Before anything is drawn, so that nothing flashes; the switch itself is in main.js.
try {
  const theme = localStorage.getItem('backlot theme');
  if (theme) document.documentElement.dataset.theme = theme;
} catch {
  // Where nothing may be kept, the system's choice holds.
}
