// Photos and files of a form: what is chosen or dropped goes to the process at once, with what is typed, and is on its disk
// when the form shows it.
import * as panels from './panels.js';
import { announce } from './live.js';

async function stage(form, files) {
  if (files.length === 0) return;
  const data = new FormData(form);
  for (const [name, value] of [...data]) if (value instanceof File) data.delete(name);
  for (const file of files) data.append('files', file, file.name);
  data.append('stage', 'yes');
  form.dataset.sending = 'yes';
  const shown = await panels.open(form.getAttribute('action'), { method: 'POST', body: data, focus: false });
  delete form.dataset.sending;
  if (!shown) return;
  const rows = document.querySelectorAll('#photos [role="group"]');
  rows[rows.length - files.length]?.querySelector('input:not([type="checkbox"])')?.focus();
  announce(files.length === 1 ? 'Photo or file added. It is kept when you save.' : `${files.length} photos and files added. They are kept when you save.`);
}

function dropTarget(event) {
  if (![...event.dataTransfer?.types ?? []].includes('Files')) return null;
  return event.target.closest?.('form[data-form]')?.querySelector('#photos') ?? null;
}

export function start() {
  document.addEventListener('change', (event) => {
    if (event.target.matches?.('input[data-stage]')) stage(event.target.form, [...event.target.files]);
  });
  document.addEventListener('dragover', (event) => {
    const section = dropTarget(event);
    if (!section) return;
    event.preventDefault();
    section.classList.add('dropping');
  });
  document.addEventListener('dragleave', (event) => {
    if (!event.relatedTarget) document.querySelector('.dropping')?.classList.remove('dropping');
  });
  document.addEventListener('drop', (event) => {
    const section = dropTarget(event);
    if (!section) return;
    event.preventDefault();
    section.classList.remove('dropping');
    stage(section.closest('form'), [...event.dataTransfer.files]);
  });
  document.addEventListener('keydown', (event) => {
    const panel = document.querySelector('#panel[data-photo]');
    if (!panel || event.altKey || event.ctrlKey || event.metaKey) return;
    const step = { ArrowLeft: 'previous', ArrowRight: 'next' }[event.key];
    const link = step && panel.querySelector(`[data-step="${step}"]`);
    if (link && panel.contains(document.activeElement)) { event.preventDefault(); link.click(); }
  });
}
