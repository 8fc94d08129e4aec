import FieldworkGeometry
import FieldworkREST

/// The versions of the Web Map Service that are spoken: OGC 01-068r3 and OGC 06-042.
enum WMSVersion: String, Sendable, Hashable {
    case v111 = "1.1.1"
    case v130 = "1.3.0"

    /// The greatest version that isn't above what the client asks for, else the least; without a wish the greatest.
    init(wished text: String?) {
        guard let text else {
            self = .v130
            return
        }
        let numbers = text.split(separator: ".").map { Int($0) ?? 0 }
        self = numbers.lexicographicallyPrecedes([1, 3]) ? .v111 : .v130
    }

    /// The version of a request that follows the capabilities. The older ones name the reference `SRS`.
    init(of parameters: RequestParameters) {
        self.init(wished: parameters["version"] ?? parameters["wmtver"] ?? (parameters["srs"] == nil ? nil : "1.1.1"))
    }

    /// What names the reference of a map.
    var referenceParameter: String { self == .v130 ? "CRS" : "SRS" }
    /// What name the column and the row of a pixel.
    var pixelParameters: (column: String, row: String) { self == .v130 ? ("I", "J") : ("X", "Y") }
    /// The type of answers that tell what went wrong.
    var exceptionType: String { self == .v130 ? "text/xml;charset=utf-8" : "application/vnd.ogc.se_xml" }
}

/// A spatial reference as the Web Map Service names it, with the order in which it writes a position.
struct WMSReference: Sendable {
    /// As the client names it.
    let name: String
    let reference: SpatialReference
    /// Version 1.3.0 follows the register: EPSG:4326 has the latitude first.
    let isNorthFirst: Bool

    init(_ name: String, _ reference: SpatialReference, _ version: WMSVersion) {
        self.name = name
        self.reference = reference
        isNorthFirst = version == .v130 && name != Self.longitudeFirst && reference.isNorthFirst
    }

    /// Degrees on WGS 84 with the longitude first, by its name of version 1.3.0.
    static let longitudeFirst = "CRS:84"

    init(_ parameters: RequestParameters, _ version: WMSVersion) throws(WMSException) {
        let parameter = version.referenceParameter
        guard let name = parameters[parameter]?.uppercased() else { throw .missing(parameter) }
        if name == Self.longitudeFirst, version == .v130 {
            self.init(name, .wgs84, version)
            return
        }
        let number = name.hasPrefix("EPSG:") ? Int(name.dropFirst(5)) : nil
        guard let number, let wkid = WKID(number), let reference = SpatialReference(wkid: wkid) else {
            throw WMSException(
                code: "Invalid\(parameter)",
                "'\(parameter)' must be EPSG: and the number of a reference that is known\(version == .v130 ? ", or CRS:84" : "")."
            )
        }
        self.init(name, reference, version)
    }

    /// The name of a reference in capabilities; nil for one that the register of EPSG has not.
    static func name(of reference: SpatialReference) -> String? {
        reference.latestWKID.flatMap { $0 < 32_768 ? "EPSG:\($0)" : nil }
    }

    /// `BBOX`: the corners of a map.
    func box(_ parameters: RequestParameters) throws(WMSException) -> Envelope {
        guard let text = parameters["bbox"] else { throw .missing("BBOX") }
        let words = text.prefix(512).split(separator: ",", omittingEmptySubsequences: false)
        let numbers = words.compactMap { Double($0.filter { $0 != " " }) }
        guard words.count == 4, numbers.count == 4, numbers.allSatisfy(\.isFinite), numbers[0] < numbers[2],
            numbers[1] < numbers[3]
        else { throw WMSException("'BBOX' must be four numbers by commas: the lesser corner and the greater one.") }
        return isNorthFirst
            ? Envelope(
                xMin: numbers[1], yMin: numbers[0], xMax: numbers[3], yMax: numbers[2], spatialReference: reference)
            : Envelope(
                xMin: numbers[0], yMin: numbers[1], xMax: numbers[2], yMax: numbers[3], spatialReference: reference)
    }
}
