package import FieldworkREST
import Foundation
import Synchronization

/// The data of one service in a schema of PostgreSQL. As many processes as wanted read and write it at a time: the row of the
/// service's state is locked for as long as one of them writes.
package final class PostgresService: ServiceData {
    package let writer: Writer
    package let readers: ReaderPool
    package let source: ConnectionSource
    /// Where queries are answered: by the first that can; if none can, by `readers`.
    let standbys: [StandbyReaders]
    private let catalogue: Mutex<ServiceCatalogue>

    init(source: ConnectionSource, standbys: [StandbyReaders] = [], catalogue: ServiceCatalogue) {
        self.source = source
        self.standbys = standbys
        self.catalogue = Mutex(catalogue)
        writer = Writer(source: source, catalogue: catalogue, options: GeoPackageFile.Options())
        readers = ReaderPool(source: source, readers: Limits.sessionReaders, streams: Limits.sessionStreams)
    }

    /// Nothing tells whether anybody has written since: each content is compared before any of it is given.
    package var verifiedContents: VerifiedContents? { nil }

    package var catalogueSnapshot: ServiceCatalogue { catalogue.withLock { $0 } }

    package var definition: ServiceDefinition { catalogue.withLock { $0.definition } }

    package func layer(_ id: Int) throws -> StoredLayer { try catalogue.withLock { try $0.layer(id) } }

    package func adopt(_ fresh: ServiceCatalogue) { catalogue.withLock { $0 = fresh } }

    package func querying<Result>(_ body: (ReaderPool) async throws -> Result) async throws -> Result {
        for standby in standbys {
            if let result = try await standby.answer(behind: readers, body) { return result }
        }
        return try await body(readers)
    }

    /// What is wrong with the data, in words; empty when all is well.
    func check() async throws -> [String] {
        let layers = catalogue.withLock { $0.definition.layers.compactMap { [layers = $0.layers] in layers[$0.id] } }
        return try await writer.inspect { connection in
            let attachments = AttachmentCheck(connection: connection)
            return try layers.flatMap { layer in
                try PostgresCheck(layer: layer, connection: connection).run() + attachments.run(layer)
            } + attachments.contents()
        }
    }

    func close() async {
        for standby in standbys { await standby.close() }
        await readers.close()
        await writer.close()
    }
}
