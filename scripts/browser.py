"""A browser without a window for scripts: started, told what to do over its debugging protocol, and stopped. Only the standard
library is needed; `scripts/setup test` installs the browser."""
import base64, json, os, re, socket, struct, subprocess, sys, time, urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROGRAM = os.environ.get("FIELDWORK_EXECUTABLE", os.path.join(ROOT, ".build/debug/fieldwork"))
BROWSERS = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"]
PATIENCE = 240.0


class Page:
    """One page of the browser, over its debugging protocol (a WebSocket, RFC 6455)."""

    def __init__(self, address):
        _, _, host, path = address.split("/", 3)
        name, port = host.split(":")
        self.socket = socket.create_connection((name, int(port)), timeout=PATIENCE)
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
        if size < 126:
            head = struct.pack("!BB", 0x81, 0x80 | size)
        elif size <= 0xFFFF:
            head = struct.pack("!BBH", 0x81, 0xFE, size)
        else:
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
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"].get("exception", {}).get("description", script))
        text = result.get("result", {}).get("value")
        return json.loads(text)[0] if text else None

    def wait(self, script):
        until = time.time() + PATIENCE
        while time.time() < until:
            try:
                if self.value(f"Boolean({script})"):
                    return
            except RuntimeError:
                # What it asks for is not there yet.
                pass
            time.sleep(0.1)
        sys.exit(f"The page never came to: {script}")

    def go(self, address):
        self.value("document.documentElement.dataset.left = 'yes'")
        self.command("Page.navigate", url=address)
        self.wait("document.readyState === 'complete' && !document.documentElement.dataset.left")
        self.wait("document.documentElement.dataset.map === 'ready' || document.querySelector('main.welcome')")


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
         # The map's drawing is done by software here, and the page's is not sent there too: as where there is no graphics card.
         "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-gpu-rasterization",
         "--hide-scrollbars", "about:blank"],
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


def size(page, width, height):
    page.command(
        "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 840)
