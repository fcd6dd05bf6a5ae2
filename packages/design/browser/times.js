/** Times of pages that servers write, in the viewer's zone; exact on hover. */
for (const time of document.querySelectorAll('time[datetime]')) {
  const at = new Date(time.dateTime);
  time.title = time.textContent;
  time.textContent = at.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
}
