// Keys of the page of a conflict: 1 and 2 choose for the value that has the focus, or for the first one without a choice.
function group() {
  const focused = document.activeElement?.closest?.('#panel[data-conflict] fieldset');
  return focused ?? [...document.querySelectorAll('#panel[data-conflict] fieldset')].find((set) => !set.querySelector('input:checked'));
}

export function start() {
  document.addEventListener('keydown', (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || !['1', '2'].includes(event.key)) return;
    const input = group()?.querySelectorAll('input')[Number(event.key) - 1];
    if (!input) return;
    event.preventDefault();
    input.checked = true;
    input.focus();
  });
}
