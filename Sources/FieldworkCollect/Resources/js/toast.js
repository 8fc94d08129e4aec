// A toast stays six seconds, and as long as it is pointed at or has the focus.
const seconds = 6;
let timer = 0;

function arm() {
  clearTimeout(timer);
  const toast = document.querySelector('#over [data-toast]');
  if (!toast) return;
  const held = () => toast.matches(':hover') || toast.contains(document.activeElement);
  const tick = () => { if (held()) timer = setTimeout(tick, 1000); else toast.remove(); };
  timer = setTimeout(tick, seconds * 1000);
}

export function start(onChange) {
  onChange(arm);
  arm();
}
