// A press ends with its click. What it began on stays in the page until then: a panel that was drawn anew between the two
// would swallow the tap.
const afterMouse = 0;
/** Between the end of a touch and its click, milliseconds. */
const afterTouch = 400;
let held = null;
let timer = 0;
let waiting = [];

function end() {
  clearTimeout(timer);
  held = null;
  const ready = waiting;
  waiting = [];
  for (const resume of ready) resume();
}

function endIn(milliseconds) {
  clearTimeout(timer);
  timer = setTimeout(end, milliseconds);
}

function begin(event) {
  clearTimeout(timer);
  held = event.target;
}

/** Resolves when no pointer and no key is pressed in the element, and the click has been told. */
export async function released(element) {
  while (held && element?.contains(held)) await new Promise((resume) => { waiting.push(resume); });
}

window.addEventListener('pointerdown', begin, true);
window.addEventListener('pointerup', (event) => { if (held) endIn(event.pointerType === 'touch' ? afterTouch : afterMouse); }, true);
window.addEventListener('pointercancel', end, true);
window.addEventListener('click', () => { if (held) endIn(0); }, true);
// The space bar clicks when it is let go.
window.addEventListener('keydown', (event) => { if (event.key === ' ' && !event.repeat) begin(event); }, true);
window.addEventListener('keyup', (event) => { if (event.key === ' ' && held) endIn(0); }, true);
window.addEventListener('blur', end);
