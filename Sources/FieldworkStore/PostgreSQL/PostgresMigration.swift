import FieldworkREST

/// Brings what an older Fieldwork made of services up to date, in the caller's transaction.
struct PostgresMigration {
    let connection: StoreConnection

    /// All services, also those that nobody sees.
    func run() throws {
        let path = try connection.text("SELECT current_setting('search_path')") ?? ""
        for schema in try connection.texts("SELECT schema_name FROM fieldwork.services ORDER BY schema_name") {
            try connection.run("SELECT set_config('search_path', ?, true)") {
                try $0.bind("\(quoted(schema)), \(path)", at: 1)
            }
            try connection.execute(PostgresTables.makingLongReads)
            let layers = try ServiceCatalogue.read(from: connection).layers.values.filter { !$0.isPlaced }
            for layer in layers.sorted(by: { $0.definition.id < $1.definition.id }) {
                for statement in PostgresTriggers(layer: layer, schema: schema).renewal {
                    try connection.execute(statement)
                }
            }
        }
    }
}
