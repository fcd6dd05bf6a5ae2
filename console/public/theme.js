// Before anything is drawn, so that nothing flashes: a script of its own, because the policy allows none in the page.
try {
  const theme = localStorage.getItem('backlot theme');
  if (theme) document.documentElement.dataset.theme = theme;
} catch {
  // Where nothing may be kept, the system's choice holds.
}
