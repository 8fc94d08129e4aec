#!/usr/bin/env python3
"""Makes the pictures of Documentation/tour.md: starts the demo and the app as they are built, and a browser without a window,
and takes one picture of each screen. Only the standard library is needed; `scripts/setup test` installs the browser."""
import base64, os, shutil, tempfile, time

from browser import ROOT, browse, size, start

PICTURES = os.path.join(ROOT, "Documentation/tour")
# Name, path, theme, width and height of the window, how much smaller the picture is. T stands for a tree.
SCREENS = [
    ("start", "start", "light", 1280, 800, 0.45), ("map", "map/T", "light", 1280, 800, 0.45), ("map-dark", "map/T", "dark", 1280, 800, 0.45),
    ("map-sunlight", "map/T", "sunlight", 1280, 800, 0.45), ("pop-up", "T", "light", 1280, 800, 0.45),
    ("form", "T/edit", "light", 1280, 800, 0.45), ("add", "add/0", "light", 1280, 800, 0.45),
    ("list", "list/0", "light", 1280, 800, 0.45),
    ("list-groups", "list/0?group=Condition", "light", 1280, 800, 0.45), ("history", "T/history", "light", 390, 640, 0.75),
    ("changes", "changes", "light", 390, 640, 0.75), ("layers", "layers", "light", 390, 640, 0.75),
    ("settings", "settings", "light", 390, 640, 0.75), ("keys", "help/keys", "light", 390, 844, 0.75),
    ("phone-start", "start", "light", 390, 844, 0.7), ("phone-map", "map/T", "light", 390, 844, 0.7), ("phone-pop-up", "T", "light", 390, 844, 0.7),
    ("phone-form", "T/edit", "light", 390, 844, 0.7), ("phone-photos", "T/photos", "light", 390, 844, 0.7),
    ("phone-add", "add/0", "light", 390, 844, 0.7), ("phone-list", "list", "light", 390, 844, 0.7),
]


def main():
    folder, processes = tempfile.mkdtemp(), []
    try:
        demo = os.path.join(folder, "demo")
        with open(os.path.join(folder, "demo.txt"), "w+b") as output:
            process, _ = start(["demo", "--data", demo, "--port", "0"], output, r"services (http://\S+)")
            processes.append(process)
        web_map = os.path.join(demo, "maps", "TreesOfPortland.webmap.json")
        with open(os.path.join(folder, "app.txt"), "w+b") as output:
            process, door = start(
                ["collect", "--map", web_map, "--data", os.path.join(folder, "crew"), "--port", "0"], output,
                r"app (http://\S+)")
            processes.append(process)
        process, page = browse(folder)
        processes.append(process)
        for domain in ["Page", "Runtime"]:
            page.command(domain + ".enable")
        size(page, 1280, 800)
        # The printed address has the key; the browser keeps the cookie that it gives.
        page.go(door)
        app = door.split("?")[0]
        page.wait("document.querySelector('#nearby .lrow')")
        tree = "f/" + page.value("document.querySelector('#nearby .lrow').dataset.feature")
        photograph(page, tree)
        os.makedirs(PICTURES, exist_ok=True)
        for name, path, theme, width, height, scale in SCREENS:
            size(page, width, height)
            # Chosen as a user does it: the map is drawn in the theme's colours when the page comes.
            page.value(
                "fetch('/settings', { method: 'POST', body: new URLSearchParams({ theme: '%s' }) }).then(() => 1)" % theme)
            page.go(app + path.replace("T", tree, 1) if "T" in path else app + path)
            picture(page, name, width, height, scale)
        work_offline(page, app, tree)
    finally:
        for process in reversed(processes):
            process.terminate()
            process.wait()
        shutil.rmtree(folder, ignore_errors=True)


def picture(page, name, width, height, scale):
    page.wait("document.getElementById('busy').hidden && [...document.images].every((image) => image.complete)")
    # The map draws what has come within the next frames.
    time.sleep(2)
    clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": scale}
    taken = base64.b64decode(page.command("Page.captureScreenshot", format="png", clip=clip)["data"])
    with open(os.path.join(PICTURES, name + ".png"), "wb") as file:
        file.write(taken)
    print(f"{name}.png, {len(taken)} bytes")


def work_offline(page, app, tree):
    """Takes the shown area along, goes on without the service, and changes a tree there."""
    size(page, 1280, 800)
    page.go(app + "offline/new")
    page.wait("document.querySelector('.area-figure')")
    picture(page, "area", 1280, 800, 0.45)
    page.value("document.getElementById('area-form').requestSubmit(), 1")
    page.wait("document.querySelector('#panel').innerText.includes('is on this device')")
    picture(page, "download", 1280, 800, 0.45)
    page.value("document.querySelector('#panel form[action=\"/offline/mode\"]').requestSubmit(), 1")
    page.wait("document.getElementById('state').innerText.includes('Offline')")
    page.value(
        "fetch('/%s/edit', { method: 'POST', body: new URLSearchParams({ session: crypto.randomUUID(), 'field.Condition': 'Poor' }) })"
        ".then((answer) => answer.ok)" % tree)
    for name, path in [("changes-offline", "changes"), ("offline", "offline"), ("phone-offline", "map/" + tree)]:
        size(page, 390, 640 if name != "phone-offline" else 844)
        page.go(app + path)
        picture(page, name, 390, 640 if name != "phone-offline" else 844, 0.75)


def photograph(page, tree):
    """A drawn picture stands for a photo; one is saved with the tree, one waits in its form."""
    page.value(
        """(async () => {
          const canvas = new OffscreenCanvas(1200, 900), draw = canvas.getContext('2d');
          draw.fillStyle = '#b8d4e8'; draw.fillRect(0, 0, 1200, 900);
          draw.fillStyle = '#8a9a6a'; draw.fillRect(0, 640, 1200, 260);
          draw.fillStyle = '#5b4a43'; draw.fillRect(560, 420, 80, 320);
          draw.fillStyle = '#2f7d4b'; draw.beginPath(); draw.arc(600, 320, 240, 0, 7); draw.fill();
          const blob = await canvas.convertToBlob({ type: 'image/jpeg', quality: 0.95 });
          for (const name of ['Crown.jpg', 'Trunk.jpg']) {
            const form = new FormData();
            form.append('session', crypto.randomUUID());
            if (name === 'Trunk.jpg') form.append('stage', 'yes');
            form.append('files', new File([blob], name, { type: 'image/jpeg' }));
            await fetch('/TREE/edit', { method: 'POST', body: form });
          }
          return true; })()""".replace("TREE", tree))


if __name__ == "__main__":
    main()
