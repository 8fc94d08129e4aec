// The frame of an area on the screen: corners and edges are dragged by their handles, the edges moved by the arrow keys too.
const first = 0.12;
const inset = { left: first, top: first, right: first, bottom: first };
const least = 0.08;
const step = 0.02;
const edges = {
  North: { side: 'top', opposite: 'bottom', keys: { ArrowUp: -step, ArrowDown: step }, degrees: 90 },
  South: { side: 'bottom', opposite: 'top', keys: { ArrowUp: step, ArrowDown: -step }, degrees: 90 },
  West: { side: 'left', opposite: 'right', keys: { ArrowLeft: -step, ArrowRight: step }, degrees: 180 },
  East: { side: 'right', opposite: 'left', keys: { ArrowLeft: step, ArrowRight: -step }, degrees: 180 },
};
const corners = [['top', 'left'], ['top', 'right'], ['bottom', 'left'], ['bottom', 'right']];
const opposites = { left: 'right', right: 'left', top: 'bottom', bottom: 'top' };

function set(side, value) {
  inset[side] = Math.max(0, Math.min(value, 1 - least - inset[opposites[side]]));
}

/** Larger or smaller around the frame's own middle. */
export function scale(x, y) {
  for (const [low, high, by] of [['left', 'right', x], ['top', 'bottom', y]]) {
    const size = 1 - inset[low] - inset[high];
    const wanted = Math.min(0.98, Math.max(least, size * by));
    const grown = (wanted - size) / 2;
    const near = Math.max(0.01, inset[low] - grown);
    inset[low] = Math.min(near, 0.99 - wanted);
    inset[high] = 1 - wanted - inset[low];
  }
}

/** As large as at first, however it was pulled. */
export function reset() { for (const side of Object.keys(inset)) inset[side] = first; }

/** Where the frame is, in pixels of the free part of the map. */
export function box(free) {
  return {
    left: free.width * inset.left, top: free.height * inset.top,
    width: free.width * (1 - inset.left - inset.right), height: free.height * (1 - inset.top - inset.bottom),
  };
}

function drag(handle, sides, free, changed) {
  let from = null;
  handle.addEventListener('pointerdown', (event) => {
    if (event.button > 0) return;
    handle.setPointerCapture(event.pointerId);
    from = { x: event.clientX, y: event.clientY, inset: { ...inset } };
    event.preventDefault();
    event.stopPropagation();
  });
  handle.addEventListener('pointermove', (event) => {
    if (!from) return;
    const area = free();
    const moved = { left: (event.clientX - from.x) / area.width, top: (event.clientY - from.y) / area.height };
    for (const side of sides) {
      const by = side === 'left' || side === 'right' ? moved.left : moved.top;
      set(side, from.inset[side] + (side === 'right' || side === 'bottom' ? -by : by));
    }
    changed();
  });
  for (const name of ['pointerup', 'pointercancel']) handle.addEventListener(name, () => { from = null; });
}

function slider(name, free, changed) {
  const edge = edges[name];
  const handle = document.createElement('div');
  handle.className = `edge to-${edge.side}`;
  handle.tabIndex = 0;
  for (const [key, value] of Object.entries({
    role: 'slider', 'aria-label': `${name} edge`, 'aria-valuemin': -edge.degrees, 'aria-valuemax': edge.degrees, 'aria-valuenow': 0,
    'aria-orientation': edge.degrees === 90 ? 'vertical' : 'horizontal',
  })) handle.setAttribute(key, value);
  handle.addEventListener('keydown', (event) => {
    const by = edge.keys[event.key];
    if (by === undefined || event.shiftKey) return;
    event.preventDefault();
    event.stopPropagation();
    set(edge.side, inset[edge.side] + by);
    changed();
  });
  drag(handle, [edge.side], free, changed);
  return handle;
}

/** Makes the frame; it calls back when a hand or a key changed it. */
export function make(free, changed) {
  const frame = document.createElement('div');
  frame.className = 'frame';
  frame.setAttribute('role', 'group');
  frame.setAttribute('aria-label', 'Area to take offline');
  frame.append(document.createElement('span'));
  for (const name of Object.keys(edges)) frame.append(slider(name, free, changed));
  for (const sides of corners) {
    const corner = document.createElement('i');
    corner.className = ['corner', ...sides.map((side) => `to-${side}`)].join(' ');
    drag(corner, sides, free, changed);
    frame.append(corner);
  }
  return frame;
}

/** Tells the edges in degrees to who doesn't see them. */
export function tell(frame, values) {
  for (const name of Object.keys(edges)) {
    const handle = frame.querySelector(`.edge.to-${edges[name].side}`);
    const value = values[name.toLowerCase()];
    const way = name === 'North' || name === 'South' ? ['north', 'south'] : ['east', 'west'];
    handle.setAttribute('aria-valuenow', value.toFixed(6));
    handle.setAttribute('aria-valuetext', `${Math.abs(value).toFixed(5)} degrees ${value < 0 ? way[1] : way[0]}`);
  }
}
