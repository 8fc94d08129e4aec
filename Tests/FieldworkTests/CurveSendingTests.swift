import FieldworkGeometry
import FieldworkREST
import Foundation
import Testing

@testable import Fieldwork

/// A service that stores no curves gets lines; one that stores them gets curves from a client that says that it knows them.
@Suite("Curves on their way to a service")
struct CurveSendingTests {
    private static let arc =
        #"{"hasZ":false,"curvePaths":[[[0,0],{"c":[[10,0],[5,5]]}]],"spatialReference":{"wkid":102100}}"#

    private static func service(_ flags: [String: JSONValue]) -> ServiceDefinition {
        var service = ServiceDefinition(
            name: ServiceName(name: "Curves"),
            layers: [
                LayerDefinition(
                    id: 0, name: "Lines", geometryType: .polyline, spatialReference: .webMercator,
                    fields: [FieldDefinition(name: "OBJECTID", type: .oid, isNullable: false, isEditable: false)])
            ])
        for (name, value) in flags { service.unknownMembers.append(name, value) }
        return service
    }

    private static func request(
        _ flags: [String: JSONValue], _ mode: ServiceCurveGeometryMode
    ) throws -> (geometry: JSONValue, parameters: [String]) {
        let line = try #require(try GeoServicesJSON.geometry(from: JSONParser.parse(Array(arc.utf8))))
        try #require(line.hasCurves)
        let record = FeatureRecord(objectID: -1, globalID: nil, attributes: [:], geometry: line)
        let edit = LocalEdit(
            key: LocalEdit.Key(layerID: 0, objectID: -1), rowID: 1, globalID: nil, operation: .add, base: nil,
            current: record)
        let request = EditRequest([edit], service: service(flags), usesGlobalIDs: false, curveMode: mode)
        let geometry = try #require(request.json.arrayValue?.first?["adds"]?.arrayValue?.first?["geometry"])
        return (geometry, request.parameters.map(\.name))
    }

    private static let stores: [String: JSONValue] = ["supportsTrueCurve": true, "allowTrueCurvesUpdates": true]

    @Test(
        "Curves are densified for a service that stores none, that takes none, and for a client that keeps none",
        arguments: [
            ([:], ServiceCurveGeometryMode.trueCurveClient),
            (["supportsTrueCurve": false, "allowTrueCurvesUpdates": true], .trueCurveClient),
            (["supportsTrueCurve": true, "allowTrueCurvesUpdates": false], .trueCurveClient),
            (stores, .densifyCurves),
        ])
    func densified(flags: [String: JSONValue], mode: ServiceCurveGeometryMode) throws {
        let (geometry, parameters) = try Self.request(flags, mode)
        #expect(geometry["curvePaths"] == nil && parameters.isEmpty)
        let path = try #require(geometry["paths"]?.arrayValue?.first?.arrayValue)
        #expect(path.count > 10)
        let top = path.compactMap { $0.arrayValue?.last?.doubleValue }.max() ?? 0
        #expect(abs(top - 5) < 0.05)
    }

    @Test("A client that knows curves sends them as they are to a service that takes them, and says so")
    func asTheyAre() throws {
        let (geometry, parameters) = try Self.request(Self.stores, .trueCurveClient)
        #expect(geometry["curvePaths"] != nil && geometry["paths"] == nil)
        #expect(parameters == ["trueCurveClient"])
    }
}
