// The first pages: says what is under way, and makes any picture that the browser can draw one that Fieldwork reads.
// All of it works without this script; pictures are then taken as JPEG alone.

// Longer edge of a picture of a code, in pixels: more makes it no easier to read.
const EDGE = 2000;
const busy = document.getElementById('busy');

function says(form) {
  if (form.dataset.busy !== 'address') return form.dataset.busy;
  try {
    return `Asking ${new URL(form.elements.service.value.trim()).host} for its maps`;
  } catch {
    return 'Opening the map';
  }
}

// Null where the browser can't draw it: then the picture goes as it is, and the answer tells what is wrong with it.
async function jpeg(file) {
  let picture;
  try {
    picture = await createImageBitmap(file);
  } catch {
    return null;
  }
  const ratio = Math.min(1, EDGE / Math.max(picture.width, picture.height));
  const canvas = document.createElement('canvas');
  canvas.width = Math.max(1, Math.round(picture.width * ratio));
  canvas.height = Math.max(1, Math.round(picture.height * ratio));
  const context = canvas.getContext('2d');
  // What is transparent is paper.
  context.fillStyle = '#fff';
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(picture, 0, 0, canvas.width, canvas.height);
  picture.close();
  const blob = await new Promise((done) => { canvas.toBlob(done, 'image/jpeg', 0.9); });
  return blob && new File([blob], 'code.jpg', { type: 'image/jpeg' });
}

async function send(input) {
  if (input.files.length === 0) return;
  show(input.form);
  const made = await jpeg(input.files[0]);
  if (made) {
    const files = new DataTransfer();
    files.items.add(made);
    input.files = files.files;
  }
  input.form.requestSubmit();
}

function show(form) {
  busy.textContent = says(form);
  busy.hidden = false;
  for (const button of document.querySelectorAll('button')) button.setAttribute('aria-disabled', 'true');
  document.documentElement.dataset.sending = 'yes';
}

document.documentElement.classList.add('script');
for (const button of document.querySelectorAll('button[data-show]')) {
  const field = document.getElementById(button.dataset.show);
  button.hidden = false;
  button.setAttribute('aria-pressed', 'false');
  button.addEventListener('click', () => {
    const isShown = field.type === 'text';
    field.type = isShown ? 'password' : 'text';
    button.setAttribute('aria-pressed', String(!isShown));
  });
}
document.addEventListener('change', (event) => {
  if (event.target.matches?.('input[data-picture]')) send(event.target);
});
document.addEventListener('submit', (event) => {
  if (event.target.dataset.busy) show(event.target);
});
// A second press while the first is under way would ask twice.
document.addEventListener('click', (event) => {
  if (document.documentElement.dataset.sending && event.target.closest?.('button')) event.preventDefault();
});
// A page that comes back from the browser's memory is at rest.
window.addEventListener('pageshow', (event) => {
  if (!event.persisted) return;
  delete document.documentElement.dataset.sending;
  busy.hidden = true;
  for (const button of document.querySelectorAll('button')) button.removeAttribute('aria-disabled');
  for (const input of document.querySelectorAll('input[data-picture]')) input.value = '';
});
