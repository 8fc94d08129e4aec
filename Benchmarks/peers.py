#!/usr/bin/env python3
"""Programs that others wrote, started over the same rows as a service: MapServer and tipg. `make bench` runs this beside the server, and
postgis.py and tiles.py use its parts.

    python3 Benchmarks/peers.py --rows Trees.gpkg --table Trees --fields species,height --folder DIR [--clients 4] [--python PYTHON]

It copies the rows, in their order and in degrees, into a GeoPackage for MapServer and into a PostgreSQL of its own for tipg, where
they are not there from an earlier run. Then it prints one line of JSON, which says where each peer is and why others are absent, and
waits until its input ends.

Needed for MapServer: the Debian packages cgi-mapserver, spawn-fcgi, multiwatch and nginx-light; for tipg postgresql-15-postgis-3, and the
Python packages tipg and uvicorn (--python names the interpreter that has them); for both gdal-bin."""
import argparse, json, os, pwd, shutil, signal, socket, subprocess, sys, time

BINARIES = "/usr/lib/postgresql/15/bin/"
MAPSERVER = "/usr/lib/cgi-bin/mapserv"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Child:
    """A program that runs until the end of the measurement."""

    def __init__(self, words, log, wait, **options):
        self.process = subprocess.Popen(words, stdout=log, stderr=log, stdin=subprocess.DEVNULL, **options)
        self.is_group = options.get("start_new_session", False)
        for _ in range(1_200):
            if self.process.poll() is not None:
                raise SystemExit(f"{words[0]} ended at once; see {log.name}")
            if wait():
                return
            time.sleep(0.05)
        raise SystemExit(f"{words[0]} does not answer; see {log.name}")

    def family(self):
        """Its processes: itself, and those that it began."""
        parents = {}
        for name in os.listdir("/proc"):
            if name.isdigit():
                try:
                    with open(f"/proc/{name}/stat") as file:
                        parents.setdefault(int(file.read().rsplit(")", 1)[1].split()[1]), []).append(int(name))
                except (FileNotFoundError, ProcessLookupError):
                    pass
        found, open_ = [], [self.process.pid]
        while open_:
            found.append(open_.pop())
            open_ += parents.get(found[-1], [])
        return found

    def memory(self):
        """Megabytes at the highest, without code that is shared."""
        total = 0
        for process in self.family():
            try:
                with open(f"/proc/{process}/status") as file:
                    status = dict(line.split(":", 1) for line in file if ":" in line)
                total += int(status["RssAnon"].split()[0])
            except (FileNotFoundError, KeyError, ProcessLookupError):
                pass
        return total / 1_024

    def stop(self):
        if self.is_group:
            try:
                os.killpg(self.process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            self.process.wait()
        elif self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()


def listens(port):
    def look():
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", port)) == 0
    return look


class Database:
    def __init__(self, folder, log):
        self.folder, self.port, self.name = folder, free_port(), "field"
        data = os.path.join(folder, "database")
        self.as_owner = {}
        if os.getuid() == 0:
            # The server refuses to run as root.
            owner = pwd.getpwnam("postgres")
            self.as_owner = {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []}
            os.makedirs(data, mode=0o700, exist_ok=True)
            os.chown(data, owner.pw_uid, owner.pw_gid)
            os.chmod(folder, 0o755)
        self.is_new = not os.path.exists(os.path.join(data, "PG_VERSION"))
        if self.is_new:
            subprocess.run([BINARIES + "initdb", "-D", data, "-A", "trust", "-U", "bench", "-E", "UTF8", "--locale=C.UTF-8"],
                           check=True, stdout=log, stderr=log, cwd="/", **self.as_owner)
        self.child = self.start(data, self.port, log)
        if self.is_new:
            self.sql("CREATE DATABASE field", "postgres")
            self.sql("CREATE EXTENSION postgis")
        else:
            # The last run may have had a standby that COMMITs waited for.
            self.sql("ALTER SYSTEM RESET ALL")
            self.sql("SELECT pg_reload_conf()")

    def standby(self, log):
        """A copy that follows, and that each COMMIT waits for."""
        data, port = os.path.join(self.folder, "standby"), free_port()
        shutil.rmtree(data, ignore_errors=True)
        subprocess.run([BINARIES + "pg_basebackup", "-D", data, "-h", "127.0.0.1", "-p", str(self.port), "-U", "bench", "-X", "stream",
                        "-R", "--checkpoint=fast"], check=True, stdout=log, stderr=log)
        if self.as_owner:
            for path, _, files in os.walk(data):
                for name in [path] + [os.path.join(path, file) for file in files]:
                    os.chown(name, self.as_owner["user"], self.as_owner["group"])
        child = self.start(data, port, log, ["cluster_name=second"])
        self.sql("ALTER SYSTEM SET synchronous_standby_names = 'second'")
        self.sql("SELECT pg_reload_conf()")
        return child, f"postgres://bench@127.0.0.1:{port}/field"

    def start(self, data, port, log, settings=()):
        settings = ["listen_addresses=127.0.0.1", "unix_socket_directories=", "shared_buffers=1GB", "max_wal_size=4GB",
                    "max_connections=300", *settings]
        child = Child([BINARIES + "postgres", "-D", data, "-p", str(port)]
                      + [word for setting in settings for word in ("-c", setting)], log, listens(port), cwd="/", **self.as_owner)
        while subprocess.run([BINARIES + "pg_isready", "-q", "-U", "bench", "-h", "127.0.0.1", "-p", str(port)]).returncode:
            time.sleep(0.1)
        return child

    def address(self, database=None):
        return f"postgres://bench@127.0.0.1:{self.port}/{database or self.name}"

    def work_on_copy(self):
        """What is added from here on is not there for the next run. Whoever is connected is sent away."""
        self.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'field'", "postgres")
        self.sql("DROP DATABASE IF EXISTS work", "postgres")
        self.sql("CREATE DATABASE work TEMPLATE field", "postgres")
        self.name = "work"

    def sql(self, text, database=None):
        return subprocess.run(["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", self.address(database)], input=text, text=True,
                              check=True, capture_output=True).stdout.strip()


# MARK: MapServer and tipg

def absent_of_mapserver():
    """The programs that MapServer wants and that are not installed."""
    return [name for name in ["nginx", "spawn-fcgi", "multiwatch"] if not shutil.which(name)] + (
        [] if os.path.exists(MAPSERVER) else ["mapserv"])


def has_tipg(python):
    return subprocess.run([python, "-c", "import tipg, uvicorn"], capture_output=True).returncode == 0


def start_tipg(python, workers, database, folder, log):
    """Its processes, its host and port, and the path of its collections' parent."""
    port = free_port()
    environment = dict(os.environ, DATABASE_URL=database.address().replace("postgres://", "postgresql://"),
                       TIPG_DB_SCHEMAS='["public"]', TIPG_MAX_FEATURES_PER_QUERY="10000", TIPG_NAME="bench",
                       DB_MIN_CONN_SIZE="1", DB_MAX_CONN_SIZE="4")
    child = Child([python, "-m", "uvicorn", "tipg.main:app", "--host", "127.0.0.1", "--port", str(port),
                   "--workers", str(workers), "--no-access-log", "--log-level", "warning"], log, listens(port),
                  env=environment, cwd=folder)
    return child, f"127.0.0.1:{port}", "/collections/public.trees/items?bbox=%f,%f,%f,%f&limit=2000&f=geojson"


def nginx_settings(folder, name, servers):
    """A file with which nginx runs for itself, and leaves nothing elsewhere."""
    path = os.path.join(folder, f"{name}.conf")
    with open(path, "w") as file:
        file.write(f"""
daemon off; pid {folder}/{name}.pid; error_log {folder}/{name}.log; worker_processes 1;
events {{ worker_connections 256; }}
http {{
  access_log off; client_body_temp_path {folder}/body; fastcgi_temp_path {folder}/fastcgi; proxy_temp_path {folder}/proxy;
  scgi_temp_path {folder}/scgi; uwsgi_temp_path {folder}/uwsgi;
{servers}
}}
""")
    return path


def start_mapserver(map_text, processes, folder, log):
    """MapServer by FastCGI behind nginx: its processes, its host and port."""
    backend, port = free_port(), free_port()
    mapfile = os.path.join(folder, "mapserver.map")
    with open(mapfile, "w") as file:
        file.write(map_text)
    settings = nginx_settings(folder, "mapserver", f"""
  keepalive_requests 1000000;
  upstream mapserver {{ server 127.0.0.1:{backend}; keepalive {processes}; }}
  server {{
    listen 127.0.0.1:{port};
    location / {{
      fastcgi_pass mapserver; fastcgi_buffers 64 64k; fastcgi_keep_conn on;
      fastcgi_param QUERY_STRING $query_string; fastcgi_param REQUEST_METHOD $request_method;
      fastcgi_param SCRIPT_NAME /; fastcgi_param SERVER_NAME 127.0.0.1; fastcgi_param SERVER_PORT {port};
      fastcgi_param MS_MAPFILE {mapfile};
    }}
  }}""")
    configuration = os.path.join(folder, "mapserver-config")
    with open(configuration, "w") as file:
        file.write('CONFIG\n  ENV\n    MS_MAP_PATTERN "."\n  END\nEND\n')
    environment = dict(os.environ, MS_MAPFILE=mapfile, MAPSERVER_CONFIG_FILE=configuration)
    # MapServer's processes outlive the one that began them, which waits for them in vain: they are ended as a group.
    back = Child(["spawn-fcgi", "-n", "-a", "127.0.0.1", "-p", str(backend), "--", shutil.which("multiwatch"),
                  "-f", str(processes), "--", MAPSERVER], log, listens(backend), env=environment, start_new_session=True)
    front = Child(["nginx", "-c", settings], log, listens(port))
    return [back, front], f"127.0.0.1:{port}"


WFS_MAP = """
MAP
  NAME "bench"
  EXTENT -180 -90 180 90
  PROJECTION "init=epsg:4326" END
  OUTPUTFORMAT NAME "geojson" DRIVER "OGR/GEOJSON" MIMETYPE "application/json; subtype=geojson"
    FORMATOPTION "STORAGE=stream" FORMATOPTION "FORM=SIMPLE" END
  WEB METADATA
    "wfs_title" "bench" "wfs_onlineresource" "http://127.0.0.1/?" "wfs_srs" "EPSG:4326" "wfs_enable_request" "*"
    "wfs_getfeature_formatlist" "geojson"
  END END
  LAYER
    NAME "points" TYPE POINT STATUS ON PROCESSING "CLOSE_CONNECTION=DEFER"
    {connection}
    PROJECTION "init=epsg:4326" END
    METADATA "wfs_title" "points" "gml_include_items" "all" {metadata} "wfs_getfeature_formatlist" "geojson" END
  END
END
"""

WFS_PATH = "/?SERVICE=WFS&VERSION=1.0.0&REQUEST=GetFeature&TYPENAME=points&OUTPUTFORMAT=geojson&BBOX=%f,%f,%f,%f"


def wfs_map(connection, metadata):
    """A map of one layer of points in degrees, which gives GeoJSON."""
    return WFS_MAP.replace("{connection}", connection).replace("{metadata}", metadata)


# MARK: For `make bench`

class Absent(Exception):
    """A peer that cannot be measured: why, and the commands that install it."""

    def __init__(self, reason, install=""):
        super().__init__(reason)
        self.reason, self.install = reason, install


def copy_rows(target, options, arguments, log):
    """The rows in degrees, in the order of their file."""
    subprocess.run(["ogr2ogr", "-q", *options, target, arguments.rows, arguments.table, "-t_srs", "EPSG:4326", "-select", arguments.fields],
                   check=True, stdout=log, stderr=log)


def mapserver(arguments, log, children):
    absent = absent_of_mapserver() + ([] if shutil.which("ogr2ogr") else ["ogr2ogr"])
    if absent:
        raise Absent(f"{', '.join(absent)} not installed", "apt-get install cgi-mapserver spawn-fcgi multiwatch nginx-light gdal-bin")
    rows = os.path.join(arguments.folder, "points.gpkg")
    if not os.path.exists(rows):
        partial = os.path.join(arguments.folder, "partial.gpkg")
        if os.path.exists(partial):
            os.remove(partial)
        copy_rows(partial, ["-f", "GPKG", "-nln", "points"], arguments, log)
        os.rename(partial, rows)
    text = wfs_map(f'CONNECTIONTYPE OGR CONNECTION "{rows}" DATA "points"', '"gml_types" "auto" "gml_featureid" "fid"')
    started, host = start_mapserver(text, arguments.clients, arguments.folder, log)
    children += started
    version = subprocess.run([MAPSERVER, "-v"], capture_output=True, text=True).stdout.split()[2]
    return host, WFS_PATH, version, f"a GeoPackage through OGR, in {arguments.clients} processes of FastCGI behind nginx"


def tipg(arguments, log, children):
    wanted = {"PostgreSQL 15": os.path.exists(BINARIES + "postgres"), "psql": shutil.which("psql"), "ogr2ogr": shutil.which("ogr2ogr"),
              "PostGIS": os.path.exists("/usr/share/postgresql/15/extension/postgis.control"),
              "tipg with uvicorn": has_tipg(arguments.python)}
    absent = [name for name, is_there in wanted.items() if not is_there]
    if absent:
        raise Absent(f"{', '.join(absent)} not installed", "apt-get install postgresql-15-postgis-3 gdal-bin && "
                     "python3 -m venv .build/peers && .build/peers/bin/pip install tipg uvicorn")
    database = Database(arguments.folder, log)
    children.append(database.child)
    if not database.sql("SELECT to_regclass('trees')"):
        copy_rows(f"PG:host=127.0.0.1 port={database.port} dbname=field user=bench", [
            "-f", "PostgreSQL", "-overwrite", "-nln", "partial", "-lco", "GEOMETRY_NAME=geom", "-lco", "FID=id"], arguments, log)
        database.sql("VACUUM ANALYZE partial")
        database.sql("ALTER TABLE partial RENAME TO trees")
    child, host, path = start_tipg(arguments.python, os.cpu_count(), database, arguments.folder, log)
    children.append(child)
    version = subprocess.run([arguments.python, "-c", "from importlib.metadata import version; print(version('tipg'))"],
                             capture_output=True, text=True, check=True).stdout.strip()
    return host, path, version, f"PostGIS, in {os.cpu_count()} workers"


STARTERS = {"mapserver": mapserver, "tipg": tipg}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", required=True, help="a GeoPackage")
    parser.add_argument("--table", required=True)
    parser.add_argument("--fields", required=True, help="the columns that are served")
    parser.add_argument("--folder", required=True, help="where the copies are kept")
    parser.add_argument("--peers", default="mapserver,tipg")
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--python", default=sys.executable)
    arguments = parser.parse_args()
    names = arguments.peers.split(",")
    for name in names:
        if name not in STARTERS:
            parser.error(f"{name} is no peer: {', '.join(STARTERS)}")
    arguments.rows, arguments.folder = os.path.abspath(arguments.rows), os.path.abspath(arguments.folder)
    os.makedirs(arguments.folder, exist_ok=True)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    children, started, absent = [], [], []
    with open(os.path.join(arguments.folder, "log.txt"), "w") as log:
        try:
            for name in names:
                try:
                    host, path, version, reads = STARTERS[name](arguments, log, children)
                    started.append({"name": name, "version": version, "reads": reads, "port": int(host.split(":")[1]),
                                    "path": path.replace("%f,%f,%f,%f", "{box}")})
                except Absent as error:
                    absent.append({"name": name, "reason": error.reason, "install": error.install})
                except (Exception, SystemExit) as error:
                    absent.append({"name": name, "reason": f"it did not start: {error} (see {log.name})", "install": ""})
            print(json.dumps({"peers": started, "absent": absent}), flush=True)
            sys.stdin.read()
        except KeyboardInterrupt:
            pass
        finally:
            # A second signal must not keep the rest from being stopped.
            for number in [signal.SIGTERM, signal.SIGINT]:
                signal.signal(number, signal.SIG_IGN)
            # tipg before its database, nginx before MapServer.
            for child in reversed(children):
                child.stop()


if __name__ == "__main__":
    main()
