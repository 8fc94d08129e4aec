package import FieldworkREST

/// Copies all services of a store into another one, of whatever kind: each whole or not at all, and compared before it is seen.
/// Done again after it was interrupted, it goes on with what is not there yet.
package struct StoreCopier: Sendable {
    package enum Step: Sendable {
        case comparing
        /// The service was copied by an earlier run.
        case wasThere
        case copying(CopyProgress)
        case copied([String: TableChecksum])
    }

    let source: any ServiceStore
    let target: any ServiceStore

    package init(from source: any ServiceStore, to target: any ServiceStore) {
        self.source = source
        self.target = target
    }

    /// Throws `StoreError.serviceExists`, and has done nothing, when the target has something else of the name of a service;
    /// `StoreError.busy` at the end when somebody has edited meanwhile what was copied already.
    /// - Returns: the number of services.
    package func run(_ report: @escaping @Sendable (ServiceName, Step) -> Void) async throws -> Int {
        let names = try await source.serviceNames()
        let present = Set(try await target.serviceNames())
        for name in names where present.contains(name) {
            report(name, .comparing)
            try await compare(name)
            report(name, .wasThere)
        }
        var edited: [String] = []
        for name in names where !present.contains(name) {
            try Task.checkCancellation()
            let original = try await source.data(of: name)
            let checksums = try await target.takeOver(original.source, as: name, verifies: true) {
                report(name, .copying($0))
            }
            report(name, .copied(checksums))
        }
        for name in names {
            let (there, here) = (try await source.data(of: name), try await target.data(of: name))
            if try await there.generation() != here.generation() { edited.append(name.path) }
        }
        guard edited.isEmpty else {
            throw StoreError(
                .busy,
                """
                Edits were made meanwhile, of which the copy has not all: \(edited.joined(separator: ", ")). Stop the server, \
                remove these from the target and copy again.
                """)
        }
        return names.count
    }

    private func compare(_ name: ServiceName) async throws {
        let here = try await Self.checksums(of: target.data(of: name).source, name)
        let there = try await Self.checksums(of: source.data(of: name).source, name)
        let differences = ServiceChecksums.differences(here, there)
        guard differences.isEmpty else {
            throw StoreError(
                .serviceExists,
                """
                The target has a service \(name.path) that is something else: \(differences.joined(separator: ", ")) differ. \
                Nothing was copied.
                """)
        }
    }

    private static func checksums(
        of source: ConnectionSource, _ name: ServiceName
    ) async throws -> [String: TableChecksum] {
        try await OneTimeWorker().run {
            try source.readOneState { connection in
                var catalogue = try ServiceCatalogue.read(from: connection)
                catalogue.definition.name = name
                return try ServiceChecksums.read(catalogue, on: connection)
            }
        }
    }
}
