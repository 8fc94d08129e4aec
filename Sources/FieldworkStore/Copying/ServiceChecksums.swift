import FieldworkGeometry
import FieldworkREST

/// The checksums of all that a service is, by the labels of its tables. Two services are equal when these are, on whatever
/// stores they lie.
enum ServiceChecksums {
    static func read(_ catalogue: ServiceCatalogue, on connection: StoreConnection) throws -> [String: TableChecksum] {
        var result = ofDefinition(catalogue)
        for table in try ServiceTables(catalogue, on: connection).all() {
            var checksum = ChecksumCounter(geometryIndex: table.geometryIndex)
            try table.forEachRow(on: connection, srsID: table.srsID) { checksum.add($0) }
            result[table.label] = checksum.finish()
        }
        result[AttachmentTables.media] = try ContentCopier(source: connection).run(to: nil)
        // A table that one store has not made yet is an empty one on the other.
        return result.filter { $0.value.rows > 0 }
    }

    static func ofDefinition(_ catalogue: ServiceCatalogue) -> [String: TableChecksum] {
        var checksum = ChecksumCounter()
        checksum.add([.text(catalogue.definition.storageJSON.text)])
        return ["fieldwork_service": checksum.finish()]
    }

    /// The tables in which two services differ.
    static func differences(_ one: [String: TableChecksum], _ other: [String: TableChecksum]) -> [String] {
        Set(one.keys).union(other.keys).filter { one[$0] != other[$0] }.sorted()
    }
}

extension ServiceChecksums {
    /// Reads a copy again as it lies there. Throws `StoreError.corrupt` when it is not what was read from the original.
    static func verify(_ checksums: [String: TableChecksum], on copy: StoreConnection) throws {
        let differences = differences(checksums, try read(ServiceCatalogue.read(from: copy), on: copy))
        guard differences.isEmpty else {
            throw StoreError(
                .corrupt, "The copy is not what the original is: \(differences.joined(separator: ", ")) differ.")
        }
    }
}
