#!/usr/bin/env python3
"""Measures what people and rights cost: requests with a token beside the same ones without, and searches among many items.

    python3 Benchmarks/portal.py [--features 200000] [--requests 2000] [--items 100000] [--people 10000] [--searches 2000] [--data DIR]

It publishes points as a service that everyone may see, and asks for boxes of about 1,000 of them and for single ones over one
connection: without a token and with one, in turns, so that both see the same machine. Then it fills the portal with people and items,
written into its file as the portal writes them, and searches as nobody, as a viewer and as an administrator.

FIELDWORK_EXECUTABLE names the program to measure: a release build."""
import argparse, http.client, json, os, random, re, signal, socket, sqlite3, statistics, subprocess, tempfile, time, urllib.parse

SIDE, WEST, SOUTH, IN_A_BOX = 10.0, -125.0, 40.0, 1_000
PASSWORD = "correct horse"
WORDS = """oak elm lime ash birch maple cedar poplar river bridge road path park school station harbour market tower field
crew survey damage report north south east west upper lower old new summer winter flood storm repair plan draft final""".split()


def run(*words, **options):
    subprocess.run([PROGRAM, *words], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)


def serve(data):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [PROGRAM, "serve", "--data", data, "--port", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(600):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return process, port
        except OSError:
            time.sleep(0.05)
    raise SystemExit("the server does not answer")


def stop(process):
    process.send_signal(signal.SIGINT)
    process.wait()


def ask(connection, path, token=None, form=None):
    """Sends a request. Returns the seconds until all of the answer was there, and the answer."""
    headers = {"X-Esri-Authorization": f"Bearer {token}"} if token else {}
    body = urllib.parse.urlencode(form) if form else None
    if form:
        headers["Content-Type"] = "application/x-www-form-urlencoded"
    began = time.perf_counter()
    connection.request("POST" if form else "GET", path, body, headers)
    answer = connection.getresponse().read()
    return time.perf_counter() - began, answer


def quantile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def sign_in(connection, name):
    form = {"username": name, "password": PASSWORD, "client": "requestip", "f": "json"}
    seconds, answer = ask(connection, "/arcgis/tokens/generateToken", form=form)
    return seconds, json.loads(answer)["token"]


def requests(connection, token, arguments):
    layer = "/arcgis/rest/services/Points/FeatureServer/0"
    side = SIDE * (IN_A_BOX / arguments.features) ** 0.5

    def box():
        x, y = WEST + random.random() * (SIDE - side), SOUTH + random.random() * (SIDE - side)
        place = urllib.parse.quote(f"{x},{y},{x + side},{y + side}")
        return f"{layer}/query?geometry={place}&geometryType=esriGeometryEnvelope&inSR=4326&outFields=*&f=json"

    def single():
        return f"{layer}/{random.randint(1, arguments.features)}?f=json"

    for name, path, count in [("boxes of 1,000", box, arguments.requests // 4), ("single features", single, arguments.requests)]:
        times = {False: [], True: []}
        for number in range(count + 20):
            address = path()
            # The one that comes second finds the pages in memory: they take turns.
            for has_token in ([False, True] if number % 2 else [True, False]):
                seconds, answer = ask(connection, address, token if has_token else None)
                assert b'"error"' not in answer[:40], answer[:300]
                if number >= 20:
                    times[has_token].append(seconds)
        medians = {key: statistics.median(values) for key, values in times.items()}
        pairs = statistics.median(b - a for a, b in zip(times[False], times[True]))
        print(
            f"{name}: {medians[False] * 1e3:.3f} ms without a token, {medians[True] * 1e3:.3f} ms with one: "
            f"{(medians[True] / medians[False] - 1) * 100:+.1f} % (median of the differences {pairs * 1e6:+.0f} µs, {count} pairs)")


def fill(file, arguments):
    """Writes people and items as the portal does."""
    database = sqlite3.connect(file)
    person = database.execute("SELECT * FROM portal_people WHERE name = 'ana'").fetchone()
    columns = [row[1] for row in database.execute("PRAGMA table_info(portal_people)")]
    people = []
    for number in range(arguments.people):
        row = dict(zip(columns, person))
        row.update(name=f"p{number}", shown=f"p{number}", id=f"{number:032x}", role="org_user")
        people.append(tuple(row[column] for column in columns))
    database.executemany(f"INSERT INTO portal_people VALUES ({','.join('?' * len(columns))})", people)
    columns = [row[1] for row in database.execute("PRAGMA table_info(portal_items)")]
    item = dict(zip(columns, database.execute("SELECT * FROM portal_items WHERE type = 'Web Map'").fetchone()))
    items = []
    for number in range(arguments.items):
        title = " ".join(random.sample(WORDS, 3)) + f" {number}"
        tags = random.sample(WORDS, 3)
        fields = json.loads(item["fields"])
        fields.update(tags=tags, snippet=" ".join(random.sample(WORDS, 6)))
        access = random.randint(0, 2)
        row = dict(item)
        row.update(
            id=f"{number + 2**64:032x}", owner=f"p{random.randrange(arguments.people)}", title=title, sort_title=title.lower(),
            everyone=int(access == 2), organisation=int(access >= 1), created=1_700_000_000_000 + number * 1_000,
            modified=1_700_000_000_000 + number * 1_000, fields=json.dumps(fields))
        items.append(tuple(row[column] for column in columns))
    database.executemany(f"INSERT INTO portal_items VALUES ({','.join('?' * len(columns))})", items)
    database.commit()
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()


def searches(connection, tokens, arguments):
    def word():
        return random.choice(WORDS)

    kinds = [
        lambda: word(), lambda: f"{word()} {word()}", lambda: f"title:{word()}", lambda: f'title:"{word()} {word()}"',
        lambda: f"tags:{word()} AND type:\"Web Map\"", lambda: f"owner:p{random.randrange(arguments.people)}",
        lambda: f"{word()} -{word()}", lambda: f"{word()[:3]}*", lambda: f"({word()} OR {word()}) AND tags:{word()}",
        lambda: f"modified:[{1_700_000_000_000 + random.randrange(arguments.items) * 1_000:019d} TO 0001900000000000000]",
        lambda: "type:\"Web Map\"",
    ]
    times, found, slowest = [], 0, (0, "")
    for number in range(arguments.searches):
        text = kinds[number % len(kinds)]()
        query = urllib.parse.urlencode({"q": text, "num": 20, "f": "json", "sortField": random.choice(["modified", "title"])})
        seconds, answer = ask(connection, f"/arcgis/sharing/rest/search?{query}", tokens[number % len(tokens)])
        read = json.loads(answer)
        assert "error" not in read, (text, read)
        found += read["total"] > 0
        times.append(seconds)
        slowest = max(slowest, (seconds, text))
    print(
        f"searches among {arguments.items:,} items of {arguments.people:,} people: p50 {quantile(times, 0.5) * 1e3:.1f} ms, "
        f"p99 {quantile(times, 0.99) * 1e3:.1f} ms, longest {slowest[0] * 1e3:.1f} ms ({slowest[1]}); "
        f"{found} of {len(times)} found something")


def main():
    global PROGRAM
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, standard in [
        ("features", 200_000), ("requests", 2_000), ("items", 100_000), ("people", 10_000), ("searches", 2_200)
    ]:
        parser.add_argument(f"--{name}", type=int, default=standard)
    parser.add_argument("--data", help="an empty folder to work in")
    arguments = parser.parse_args()
    PROGRAM = os.environ.get("FIELDWORK_EXECUTABLE", ".build/release/fieldwork")
    random.seed(1)
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.data or scratch
        data = os.path.join(folder, "data")
        with open(os.path.join(folder, "points.csv"), "w") as file:
            file.write("name,kind,height,x,y\n")
            for number in range(arguments.features):
                x, y = WEST + random.random() * SIDE, SOUTH + random.random() * SIDE
                file.write(f"Point {number},{random.choice(WORDS)},{random.random() * 40:.2f},{x:.6f},{y:.6f}\n")
        run("publish", file.name, "--service", "Points", "--x", "x", "--y", "y", "--data", data)
        for name, role in [("ana", "administrator"), ("vic", "viewer")]:
            run("users", "add", name, "--role", role, "--data", data, input=PASSWORD.encode() + b"\n")
        run("share", "Points", "--everyone", "--data", data)
        map_file = os.path.join(folder, "map.webmap.json")
        with open(map_file, "w") as file:
            json.dump({"operationalLayers": [], "baseMap": {"baseMapLayers": [], "title": "none"},
                       "spatialReference": {"wkid": 102100}, "version": "2.31"}, file)
        run("items", "add", map_file, "--title", "First", "--owner", "ana", "--data", data)
        print(f"load of the machine before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
        process, port = serve(data)
        connection = http.client.HTTPConnection("127.0.0.1", port)
        connection.connect()
        connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        signs = [sign_in(connection, "ana")[0] for _ in range(10)]
        print(f"sign-in, hash included: {statistics.median(signs) * 1e3:.0f} ms")
        requests(connection, sign_in(connection, "ana")[1], arguments)
        stop(process)
        fill(os.path.join(data, "portal.sqlite"), arguments)
        process, port = serve(data)
        connection = http.client.HTTPConnection("127.0.0.1", port)
        tokens = [None] + [sign_in(connection, name)[1] for name in ("vic", "ana")]
        searches(connection, tokens, arguments)
        stop(process)
        print(f"load of the machine after: {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
