// Colours that stand out from the ground, and the badges of what isn't sent.
const ratio = 2;
const side = 26;

export function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function context() {
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = side * ratio;
  const pen = canvas.getContext('2d', { willReadFrequently: true });
  pen.scale(ratio, ratio);
  pen.translate(side / 2, side / 2);
  pen.lineJoin = 'round';
  return pen;
}

/** What was drawn, without the empty border: the map draws every pixel of an image, a thousand times a frame. */
function image(pen) {
  const size = side * ratio;
  const { data } = pen.getImageData(0, 0, size, size);
  let [wide, high] = [1, 1];
  for (let at = 0; at < size * size; at += 1) {
    if (data[4 * at + 3] === 0) continue;
    const [x, y] = [at % size, Math.floor(at / size)];
    wide = Math.max(wide, size / 2 - x, x + 1 - size / 2);
    high = Math.max(high, size / 2 - y, y + 1 - size / 2);
  }
  // The middle stays in the middle: it stands on the feature.
  return pen.getImageData(size / 2 - wide, size / 2 - high, 2 * wide, 2 * high);
}

function luminance([r, g, b]) {
  const part = (v) => { const c = v / 255; return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; };
  return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
}

/** Red, green, blue, and how opaque, of `#rrggbb` and `rgba(…)`; null for anything else. */
function parse(text) {
  const hex = /^#([0-9a-f]{6})/i.exec(text);
  if (hex) return [...[0, 2, 4].map((at) => parseInt(hex[1].slice(at, at + 2), 16)), 1];
  const parts = /^rgba\(([\d.,e-]+)\)$/.exec(text)?.[1].split(',').map(Number);
  return parts?.length === 4 && parts.every(Number.isFinite) ? parts : null;
}

/** The colour itself where it stands out from the ground (3:1), else moved towards black or white until it does. */
export function readable(text) {
  const given = parse(text);
  const ground = parse(colour('--map-land'));
  if (!given || !ground || given[3] === 0) return text;
  const [from, alpha] = [given.slice(0, 3), given[3]];
  const base = luminance(ground);
  const target = base > 0.3 ? [0, 0, 0] : [255, 255, 255];
  for (let step = 0; step <= 10; step += 1) {
    const mixed = from.map((v, i) => Math.round(v + (target[i] - v) * step / 10));
    const own = luminance(mixed);
    if ((Math.max(base, own) + 0.05) / (Math.min(base, own) + 0.05) >= 3) return `rgba(${mixed.join(',')},${alpha})`;
  }
  return text;
}

/** Not sent: a round badge with an arrow up. Refused: a diamond with an exclamation mark. */
export function badge(refused) {
  const pen = context();
  pen.lineWidth = 2;
  pen.strokeStyle = colour('--select-gap');
  pen.fillStyle = colour(refused ? '--bad' : '--unsent');
  const shape = new Path2D(refused ? 'M0-11 11 0 0 11-11 0z' : 'M9.5 0A9.5 9.5 0 1 1-9.5 0 9.5 9.5 0 1 1 9.5 0z');
  pen.fill(shape);
  pen.stroke(shape);
  pen.strokeStyle = colour(refused ? '--on-bad' : '--on-unsent');
  pen.lineWidth = 2.2;
  pen.lineCap = 'round';
  pen.stroke(new Path2D(refused ? 'M0-5v5M0 4.6v.2' : 'M0 4.5v-8m-3.4 3.3L0-3.8l3.4 3.6'));
  return image(pen);
}

/** Calls back when the device goes over to its dark or its light look; a look that was chosen comes with a new page. */
export function onLook(callback) {
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
    if (!document.documentElement.dataset.theme) callback();
  });
}

/** Symbols in panels and the legend follow the theme as those on the map do. */
export function adaptPanels() {
  // Asked once for a look: the answer makes the browser lay out what has just come into the page.
  let isPlain = true;
  const look = () => {
    const ground = parse(colour('--map-land'));
    isPlain = !ground || (luminance(ground) > 0.3 && document.documentElement.dataset.theme !== 'sunlight');
  };
  const adapt = (root) => {
    for (const shape of root.querySelectorAll?.('.sym svg > *') ?? []) {
      const paint = (name) => {
        const given = shape.getAttribute(name);
        shape.style[name] = isPlain || !given || given === 'none' ? '' : readable(given);
      };
      const isFilled = !['none', null].includes(shape.getAttribute('fill'));
      paint('fill');
      // The outline of what is filled stays as its author wants it, as it does on the map.
      if (!isFilled) paint('stroke');
    }
  };
  look();
  adapt(document);
  onLook(() => { look(); adapt(document); });
  new MutationObserver((changes) => {
    for (const change of changes) for (const node of change.addedNodes) if (node.nodeType === 1) adapt(node);
  }).observe(document.body, { childList: true, subtree: true });
}

export const options = { pixelRatio: ratio };
