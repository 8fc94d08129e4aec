package import FieldworkREST
import Foundation
import Synchronization

/// The data of one service in a schema of PostgreSQL. As many processes as wanted read and write it at a time: the row of the
/// service's state is locked for as long as one of them writes.
package final class PostgresService: ServiceData {
    package let writer: Writer
    package let readers: ReaderPool
    private let catalogue: Mutex<ServiceCatalogue>

    init(source: ConnectionSource, catalogue: ServiceCatalogue) {
        self.catalogue = Mutex(catalogue)
        writer = Writer(source: source, catalogue: catalogue, options: GeoPackageFile.Options())
        readers = ReaderPool(source: source, readers: Limits.sessionReaders, streams: Limits.sessionStreams)
    }

    package var catalogueSnapshot: ServiceCatalogue { catalogue.withLock { $0 } }

    package var definition: ServiceDefinition { catalogue.withLock { $0.definition } }

    package func layer(_ id: Int) throws -> StoredLayer { try catalogue.withLock { try $0.layer(id) } }

    package func adopt(_ fresh: ServiceCatalogue) { catalogue.withLock { $0 = fresh } }

    func close() async {
        await readers.close()
        await writer.close()
    }
}
