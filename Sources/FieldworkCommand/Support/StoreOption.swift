import ArgumentParser

/// A database in place of a folder of services.
struct StoreOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A database of services in place of a folder: postgres://user@host/database. Leave the password to ~/.pgpass.",
            valueName: "address"))
    var store: String?

    func validate() throws {
        if let store { try Self.check(store) }
    }

    static func check(_ store: String) throws {
        guard store.hasPrefix("postgres://") || store.hasPrefix("postgresql://") else {
            throw ValidationError("The address of a database begins with postgres://.")
        }
    }
}
