import FieldworkREST

/// The triggers that keep a layer's change log and history in PostgreSQL, so that an edit by another program is recorded like one
/// of ours. What they say is what `ChangeTriggers` says in SQLite.
///
/// Rows that our own loads write (`BulkAdds`) come with their ids and are logged together: the triggers are passed by for them.
///
/// Those after a change are deferred to the COMMIT of other programs: only there the row of the service's state is locked, so that a
/// transaction that somebody leaves open holds up no one. Ours makes them immediate (`SQLDialect.begin`).
struct PostgresTriggers {
    /// A table that lies elsewhere.
    struct Placed {
        /// In SQL.
        var table: String
        /// Its columns, by name, whose values the history is to have as the service gives them.
        var values: [String: PlacedColumn]
    }

    let layer: StoredLayer
    let schema: String
    var placed: Placed?

    private var id: Int { layer.definition.id }
    private var key: String { quoted(layer.objectIDColumn) }
    private var table: String { placed?.table ?? place(layer.tableName) }
    private var stored: [(slot: Int, column: StoredColumn)] {
        layer.columns.enumerated().filter { $0.element.isStored && $0.offset != layer.objectIDIndex }
            .map { (slot: layer.slots[$0.offset], column: $0.element) }
    }

    /// A name that other programs' search paths don't bear upon.
    private func place(_ name: String) -> String { "\(quoted(schema)).\(quoted(name))" }

    /// What the triggers do, also in place of what they did.
    var functions: [String] {
        [("fill", fill), ("log", log)].map { name, body in
            """
            CREATE OR REPLACE FUNCTION \(place("fieldwork_\(id)_\(name)")) () RETURNS trigger LANGUAGE plpgsql
            AS \(literal(body))
            """
        }
    }

    var statements: [String] {
        functions + [
            """
            CREATE TRIGGER fieldwork_\(id)_fill BEFORE INSERT ON \(table)
            FOR EACH ROW WHEN (\(Self.isNoLoad)) EXECUTE FUNCTION \(place("fieldwork_\(id)_fill")) ()
            """,
            logTrigger,
        ]
    }

    private var logTrigger: String {
        """
        CREATE CONSTRAINT TRIGGER fieldwork_\(id)_log AFTER INSERT OR UPDATE OR DELETE ON \(table)
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW\(placed == nil ? " WHEN (\(Self.isNoLoad))" : "") EXECUTE FUNCTION \(place("fieldwork_\(id)_log")) ()
        """
    }

    /// What a load says of itself for its transaction. Who may write to a service's own tables may write to its log too, so that
    /// nobody can hide more by saying it than he could otherwise; tables that lie elsewhere don't ask.
    static let load = "fieldwork.load"
    /// What triggers of others write in the course of it is no load.
    private static let isNoLoad = "current_setting('\(load)', true) IS DISTINCT FROM 'on' OR pg_trigger_depth() > 0"

    /// Puts the triggers of a table of the service's own in the place of those that an older Fieldwork made.
    var renewal: [String] {
        ["fill", "log"].map { "DROP TRIGGER IF EXISTS fieldwork_\(id)_\($0) ON \(table)" } + statements
    }

    /// Of a table that lies elsewhere: what is done there is logged, nothing is filled in.
    /// - Parameter truncated: what a TRUNCATE meets, whose rows no trigger sees.
    func placedStatements(truncated: String) -> [String] {
        let (logging, refusal) = (place("fieldwork_\(id)_log"), place("fieldwork_\(id)_truncate"))
        return [
            "CREATE FUNCTION \(logging) () RETURNS trigger LANGUAGE plpgsql \(Self.ofOwner) AS \(literal(log))",
            "CREATE FUNCTION \(refusal) () RETURNS trigger LANGUAGE plpgsql AS \(literal(truncated))",
            // A trigger needs nobody's right to fire. Who had it could put the function on a table of his own, and write into
            // the log what never was.
            "REVOKE EXECUTE ON FUNCTION \(logging) (), \(refusal) () FROM PUBLIC",
            logTrigger,
            """
            CREATE TRIGGER fieldwork_\(id)_truncate BEFORE TRUNCATE ON \(table)
            FOR EACH STATEMENT EXECUTE FUNCTION \(refusal) ()
            """,
        ]
    }

    /// Whoever may write to a table that lies elsewhere needs no right on what is logged of it. The path is fixed: no function or
    /// operator of whoever writes stands in for one that is meant.
    static let ofOwner = "SECURITY DEFINER SET search_path = pg_catalog, pg_temp"

    // MARK: New rows

    /// Gives ids to those that have none, and keeps the sequence ahead of those that bring one, which did not come from it.
    private var fill: String {
        let sequence = place("fieldwork_ids_\(id)")
        var globalID = ""
        if let column = layer.globalIDColumn.map(quoted) {
            globalID = """
                IF NEW.\(column) IS NULL THEN NEW.\(column) := '{' || upper(gen_random_uuid()::text) || '}'; END IF;
                """
        }
        return """
            BEGIN
                IF NEW.\(key) IS NULL THEN
                    NEW.\(key) := nextval(\(literal(sequence)));
                ELSIF (SELECT NEW.\(key) > last_value OR NEW.\(key) = last_value AND NOT is_called FROM \(sequence)) THEN
                    PERFORM setval(\(literal(sequence)), NEW.\(key));
                END IF;
                \(globalID)
                RETURN NEW;
            END
            """
    }

    // MARK: Changes

    private var log: String {
        let isRekeyed = "OLD.\(key) IS DISTINCT FROM NEW.\(key)"
        return """
            DECLARE
                state record;
                current bigint;
            BEGIN
                IF TG_OP = 'UPDATE' AND NOT (\(isRekeyed) OR \(differs)) THEN RETURN NULL; END IF;
                SELECT generation, inside, muted INTO state FROM \(place("fieldwork_state")) WHERE id = 1;
                current := state.generation;
                IF state.inside = 0 THEN
                    \(Self.openGeneration(in: schema))
                    IF TG_OP <> 'UPDATE' THEN
                        UPDATE \(place("fieldwork_counts"))
                            SET row_count = row_count + CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END WHERE layer_id = \(id);
                    END IF;
                END IF;
                IF state.muted = 1 THEN RETURN NULL; END IF;
                IF TG_OP = 'INSERT' THEN
                    \(change(.add, "NEW"));
                ELSIF TG_OP = 'DELETE' THEN
                    \(change(.delete, "OLD"));
                    \(keep(.delete));
                ELSIF \(isRekeyed) THEN
                    \(change(.delete, "OLD"));
                    \(keep(.delete));
                    \(change(.add, "NEW"));
                ELSE
                    \(change(.update, "NEW"));
                    \(keep(.update));
                END IF;
                RETURN NULL;
            END
            """
    }

    /// Another program doesn't announce its transaction: the first row that it changed opens a generation, which is its own until
    /// its COMMIT. Counts are kept row by row then.
    static func openGeneration(in schema: String) -> String {
        func place(_ name: String) -> String { "\(quoted(schema)).\(quoted(name))" }
        return """
            UPDATE \(place("fieldwork_state")) SET generation = generation + 1, counted = generation + 1, writer = txid_current()
                WHERE id = 1 AND writer <> txid_current() RETURNING generation INTO current;
            IF FOUND THEN
                INSERT INTO \(place("fieldwork_generations")) (generation, moment)
                    VALUES (current, to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'));
            ELSE
                SELECT generation INTO current FROM \(place("fieldwork_state")) WHERE id = 1;
            END IF;
            """
    }

    private func change(_ operation: FeatureChange.Operation, _ row: String) -> String {
        let masks =
            operation == .update
            ? (0..<ChangeTriggers.maskCount).map(mask) : Array(repeating: "NULL", count: ChangeTriggers.maskCount)
        let merged = (1...ChangeTriggers.maskCount).map { "changed_\($0) = l.changed_\($0) | excluded.changed_\($0)" }
        return """
            INSERT INTO \(place("fieldwork_changes")) AS l
                VALUES (\(id), \(row).\(key), current, \(operation.number), \(masks.joined(separator: ", ")))
                ON CONFLICT (layer_id, object_id, generation, operation) DO UPDATE SET \(merged.joined(separator: ", "))
            """
    }

    private func isDistinct(_ name: String) -> String { "OLD.\(quoted(name)) IS DISTINCT FROM NEW.\(quoted(name))" }

    /// By the bytes: what equality of geometries means depends on who asks.
    private func geometryIsDistinct(_ name: String) -> String {
        "OLD.\(quoted(name))::bytea IS DISTINCT FROM NEW.\(quoted(name))::bytea"
    }

    private func mask(_ number: Int) -> String {
        func bit(_ condition: String, _ position: Int) -> String {
            "CASE WHEN \(condition) THEN 1::bigint << \(position) ELSE 0 END"
        }
        var bits = stored.filter { $0.slot / ChangeTriggers.bitsPerMask == number }.map {
            bit(isDistinct($0.column.name), $0.slot % ChangeTriggers.bitsPerMask)
        }
        if number == 0, let geometry = layer.geometryColumn {
            bits.append(bit(geometryIsDistinct(geometry), ChangeTriggers.geometryBit))
        }
        return bits.isEmpty ? "0" : bits.joined(separator: " | ")
    }

    private var differs: String {
        var differences = stored.map { isDistinct($0.column.name) }
        if let geometry = layer.geometryColumn { differences.append(geometryIsDistinct(geometry)) }
        return differences.isEmpty ? "false" : differences.joined(separator: " OR ")
    }

    private func keep(_ operation: FeatureChange.Operation) -> String {
        let names = stored.map(\.column.name) + (layer.geometryColumn.map { [$0] } ?? [])
        let values = names.map { placed?.values[$0]?.read(of: "OLD") ?? "OLD.\(quoted($0))" }
        return """
            INSERT INTO \(place(layer.historyTable))
                (fieldwork_object_id, fieldwork_generation, fieldwork_operation\(names.map { ", \(quoted($0))" }.joined()))
                VALUES (OLD.\(key), current, \(operation.number)\(values.map { ", \($0)" }.joined()))
            """
    }
}
