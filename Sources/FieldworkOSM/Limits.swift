/// The limits of OpenStreetMap extracts that are read.
package enum Limits {
    /// Points of OpenStreetMap ways that are kept while an extract is read: 17 bytes each.
    package static let openStreetMapNodes = 64_000_000
    /// Bytes of an OpenStreetMap block when it is unpacked, as the format has it.
    package static let openStreetMapBlockBytes = 32 << 20
    /// Bytes of an OpenStreetMap block's header, as the format has it.
    static let openStreetMapHeaderBytes = 64 << 10
}
