// Tells about a wrong value while it is typed; the process checks everything again on Save.
function complaint(input) {
  const text = input.value.trim();
  if (text === '') return 'required' in input.dataset ? 'Fill this in.' : '';
  if (input.dataset.check === 'integer' && !/^[-\u2212+]?\d+$/.test(text)) return 'Type a whole number.';
  if (input.dataset.check === 'number' && !Number.isFinite(Number(text.replace('\u2212', '-').replace(',', '.')))) return 'Type a number.';
  const value = Number(text.replace('\u2212', '-').replace(',', '.'));
  if (input.dataset.low && value < Number(input.dataset.low)) return `${text} is less than ${input.dataset.low}, the smallest value this layer takes.`;
  if (input.dataset.high && value > Number(input.dataset.high)) return `${text} is more than ${input.dataset.high}, the largest value this layer takes.`;
  const limit = Number(input.dataset.limit ?? 0);
  if (limit > 0 && [...input.value].length > limit) return `${[...input.value].length} characters are more than the ${limit} this field holds.`;
  return '';
}

/** From four fifths of the length on, what is left of it. */
function left(input) {
  const hint = document.getElementById(input.id.replace('field-', 'hint-'));
  const limit = Number(input.dataset.limit);
  const used = [...input.value].length;
  if (!hint) return;
  hint.hidden = used < limit * 0.8 || used > limit;
  hint.textContent = `${limit - used} characters left`;
}

function check(input) {
  const message = document.getElementById(input.id.replace('field-', 'message-'));
  if (!message) return;
  const text = complaint(input);
  message.querySelector('span').textContent = text;
  message.hidden = text === '';
  if (text) input.setAttribute('aria-invalid', 'true');
  else input.removeAttribute('aria-invalid');
}

export function start() {
  document.addEventListener('focusout', (event) => { if (event.target.matches?.('[data-check]')) check(event.target); });
  document.addEventListener('input', (event) => {
    if (event.target.dataset?.limit) left(event.target);
    if (event.target.matches?.('[data-check][aria-invalid="true"]')) check(event.target);
  });
  document.addEventListener('keydown', (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key === 's') {
      const form = document.querySelector('#panel form[data-form]');
      if (form) { event.preventDefault(); form.requestSubmit(); }
    }
  });
}
