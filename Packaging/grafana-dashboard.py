#!/usr/bin/env python3
"""Writes grafana-dashboard.json: a board for Grafana over the metrics of Fieldwork."""
import json
import pathlib

SOURCE = {"type": "prometheus", "uid": "${source}"}
RATE = "[$__rate_interval]"


def panel(number, title, queries, kind="timeseries", unit="short", width=12):
    return {
        "id": number, "title": title, "type": kind, "datasource": SOURCE,
        "gridPos": {"h": 8, "w": width, "x": (number - 1) * width % 24, "y": (number - 1) * width // 24 * 8},
        "fieldConfig": {"defaults": {"unit": unit, "min": 0}, "overrides": []},
        "targets": [
            {"refId": chr(65 + index), "datasource": SOURCE, "expr": expression, "legendFormat": legend}
            for index, (expression, legend) in enumerate(queries)
        ],
    }


QUANTILE = "histogram_quantile({}, sum by (le) (rate(fieldwork_request_duration_seconds_bucket" + RATE + ")))"
PANELS = [
    ("Every service can be read", [("fieldwork_ready", ""), ("fieldwork_services_unreadable", "unreadable")], "stat", "short"),
    ("Requests a second", [("sum by (operation) (rate(fieldwork_requests_total" + RATE + "))", "{{operation}}")], "timeseries", "reqps"),
    ("Errors a second", [("sum by (operation) (rate(fieldwork_errors_total" + RATE + "))", "{{operation}}")], "timeseries", "reqps"),
    ("Time of a request", [(QUANTILE.format(q), f"{int(float(q) * 100)} %") for q in ("0.5", "0.95", "0.99")], "timeseries", "s"),
    ("Under way", [("fieldwork_requests_in_flight", "requests"), ("fieldwork_jobs", "jobs of synchronisations")], "timeseries", "short"),
    ("Sent", [("sum(rate(fieldwork_sent_bytes_total" + RATE + "))", "bytes"), ("rate(fieldwork_answers_broken_off_total" + RATE + ")", "broken off")], "timeseries", "Bps"),
    ("Features", [("fieldwork_features", "{{service}}")], "timeseries", "short"),
    ("Size of the files", [("fieldwork_service_bytes", "{{service}}")], "timeseries", "bytes"),
    ("Edits", [("rate(fieldwork_generation" + RATE + ")", "{{service}}")], "timeseries", "short"),
    ("Replicas", [("fieldwork_replicas", "{{service}}")], "timeseries", "short"),
    ("Longest without a synchronisation", [("fieldwork_sync_lag_seconds", "{{service}}")], "timeseries", "s"),
    ("Open conflicts", [("fieldwork_conflicts_open", "{{service}}")], "timeseries", "short"),
    ("Memory", [("process_resident_memory_bytes", "process"), ("fieldwork_tile_cache_bytes", "tiles")], "timeseries", "bytes"),
    ("Files and connections", [("process_open_fds", "open"), ("fieldwork_services", "services")], "timeseries", "short"),
]


def main():
    board = {
        "title": "Fieldwork", "uid": "fieldwork", "schemaVersion": 39, "timezone": "browser", "refresh": "30s",
        "time": {"from": "now-6h", "to": "now"}, "tags": ["fieldwork"],
        "templating": {"list": [{"name": "source", "type": "datasource", "query": "prometheus", "label": "Prometheus"}]},
        "panels": [panel(number, title, queries, kind, unit) for number, (title, queries, kind, unit) in enumerate(PANELS, 1)],
    }
    target = pathlib.Path(__file__).with_suffix(".json")
    target.write_text(json.dumps(board, indent=2) + "\n")


if __name__ == "__main__":
    main()
