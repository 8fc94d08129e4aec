#!/usr/bin/env python3
"""Makes the pictures of Documentation/tour.md: starts the demo and the app as they are built, and a browser without a window,
and takes one picture of each screen. Only the standard library is needed; `scripts/setup test` installs the browser."""
import base64, json, os, re, shutil, socket, struct, subprocess, sys, tempfile, time, urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROGRAM = os.environ.get("FIELDWORK_EXECUTABLE", os.path.join(ROOT, ".build/debug/fieldwork"))
BROWSERS = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"]
PICTURES = os.path.join(ROOT, "Documentation/tour")
PATIENCE = 240.0
# Name, path, theme, width and height of the window, how much smaller the picture is. T stands for a tree.
SCREENS = [
    ("map", "map/T", "light", 1280, 800, 0.45), ("map-dark", "map/T", "dark", 1280, 800, 0.45),
    ("map-sunlight", "map/T", "sunlight", 1280, 800, 0.45), ("pop-up", "T", "light", 1280, 800, 0.45),
    ("form", "T/edit", "light", 1280, 800, 0.45), ("add", "add/0", "light", 1280, 800, 0.45),
    ("list", "list/0", "light", 1280, 800, 0.45),
    ("list-groups", "list/0?group=Condition", "light", 1280, 800, 0.45), ("history", "T/history", "light", 390, 640, 0.75),
    ("changes", "changes", "light", 390, 640, 0.75), ("layers", "layers", "light", 390, 640, 0.75),
    ("settings", "settings", "light", 390, 640, 0.75), ("keys", "help/keys", "light", 390, 844, 0.75),
    ("phone-map", "map/T", "light", 390, 844, 0.7), ("phone-pop-up", "T", "light", 390, 844, 0.7),
    ("phone-form", "T/edit", "light", 390, 844, 0.7), ("phone-photos", "T/photos", "light", 390, 844, 0.7),
    ("phone-add", "add/0", "light", 390, 844, 0.7), ("phone-list", "list", "light", 390, 844, 0.7),
]


class Page:
    """One page of the browser, over its debugging protocol (a WebSocket, RFC 6455)."""

    def __init__(self, address):
        _, _, host, path = address.split("/", 3)
        name, port = host.split(":")
        self.socket = socket.create_connection((name, int(port)), timeout=60)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(
            f"GET /{path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode())
        self.file = self.socket.makefile("rb")
        while self.file.readline().strip():
            pass
        self.next = 0

    def send(self, text):
        payload, mask = text.encode(), os.urandom(4)
        size = len(payload)
        head = struct.pack("!BB", 0x81, 0x80 | size) if size < 126 else struct.pack("!BBH", 0x81, 0xFE, size)
        if size > 0xFFFF:
            head = struct.pack("!BBQ", 0x81, 0xFF, size)
        self.socket.sendall(head + mask + bytes(byte ^ mask[i % 4] for i, byte in enumerate(payload)))

    def receive(self):
        message = b""
        while True:
            first, second = self.file.read(2)
            size = second & 0x7F
            if size == 126:
                size = struct.unpack("!H", self.file.read(2))[0]
            elif size == 127:
                size = struct.unpack("!Q", self.file.read(8))[0]
            message += self.file.read(size)
            if first & 0x80:
                return message

    def command(self, method, **parameters):
        self.next += 1
        self.send(json.dumps({"id": self.next, "method": method, "params": parameters}))
        while True:
            answer = json.loads(self.receive())
            if answer.get("id") == self.next:
                return answer.get("result", {})

    def value(self, script):
        result = self.command(
            "Runtime.evaluate", expression=f"(async () => JSON.stringify([await ({script})]))()", awaitPromise=True,
            returnByValue=True)
        text = result.get("result", {}).get("value")
        return json.loads(text)[0] if text else None

    def wait(self, script):
        until = time.time() + PATIENCE
        while time.time() < until:
            if self.value(f"Boolean({script})"):
                return
            time.sleep(0.1)
        sys.exit(f"The page never came to: {script}")

    def go(self, address):
        self.value("document.documentElement.dataset.left = 'yes'")
        self.command("Page.navigate", url=address)
        self.wait("document.readyState === 'complete' && !document.documentElement.dataset.left")
        self.wait("document.documentElement.dataset.map === 'ready'")


def start(arguments, output, pattern):
    """Starts the program and waits for the line with its address."""
    process = subprocess.Popen([PROGRAM] + arguments, stdout=output, stderr=output)
    until = time.time() + PATIENCE
    while time.time() < until:
        with open(output.name, encoding="utf-8") as text:
            found = re.search(pattern, text.read())
        if found:
            return process, found.group(1)
        time.sleep(0.1)
    process.kill()
    sys.exit("fieldwork " + arguments[0] + " did not start")


def browse(folder):
    program = next((path for path in BROWSERS if os.access(path, os.X_OK)), None) or sys.exit("Chromium is missing")
    profile = os.path.join(folder, "browser")
    process = subprocess.Popen(
        [program, "--headless=new", "--no-sandbox", "--remote-debugging-port=0", f"--user-data-dir={profile}",
         "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--hide-scrollbars", "about:blank"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until = time.time() + PATIENCE
    while time.time() < until:
        try:
            with open(os.path.join(profile, "DevToolsActivePort"), encoding="utf-8") as file:
                port = file.read().split()[0]
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/json") as answer:
                pages = json.load(answer)
            return process, Page(next(page for page in pages if page["type"] == "page")["webSocketDebuggerUrl"])
        except (OSError, IndexError, StopIteration):
            time.sleep(0.1)
    process.kill()
    sys.exit("The browser did not start")


def main():
    folder, processes = tempfile.mkdtemp(), []
    try:
        demo = os.path.join(folder, "demo")
        with open(os.path.join(folder, "demo.txt"), "w+b") as output:
            process, _ = start(["demo", "--data", demo, "--port", "0"], output, r"services (http://\S+)")
            processes.append(process)
        web_map = os.path.join(demo, "maps", "TreesOfPortland.webmap.json")
        with open(os.path.join(folder, "app.txt"), "w+b") as output:
            process, app = start(
                ["collect", "--map", web_map, "--data", os.path.join(folder, "crew"), "--port", "0"], output,
                r"app (http://\S+/)")
            processes.append(process)
        process, page = browse(folder)
        processes.append(process)
        for domain in ["Page", "Runtime"]:
            page.command(domain + ".enable")
        size(page, 1280, 800)
        page.go(app)
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
            page.wait("document.getElementById('busy').hidden && [...document.images].every((image) => image.complete)")
            # The map draws what has come within the next frames.
            time.sleep(2)
            clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": scale}
            picture = base64.b64decode(page.command("Page.captureScreenshot", format="png", clip=clip)["data"])
            with open(os.path.join(PICTURES, name + ".png"), "wb") as file:
                file.write(picture)
            print(f"{name}.png, {len(picture)} bytes")
    finally:
        for process in reversed(processes):
            process.terminate()
            process.wait()
        shutil.rmtree(folder, ignore_errors=True)


def size(page, width, height):
    page.command(
        "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 840)


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


main()
