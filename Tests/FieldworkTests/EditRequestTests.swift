import FieldworkGeometry
import FieldworkREST
import Foundation
import Testing

@testable import Fieldwork

/// What the SDK asks of a service, and what it takes for its answer.
@Suite("Requests of edits")
struct EditRequestTests {
    private static func record(_ objectID: Int64, _ cause: String, x: Double = 0) -> FeatureRecord {
        FeatureRecord(
            objectID: objectID, globalID: nil,
            attributes: ["OBJECTID": .integer(objectID), "primcause": .text(cause), "typdamage": .text("Minor")],
            geometry: Point(x: x, y: 0, spatialReference: .webMercator))
    }

    private static func update(_ objectID: Int64, x: Double = 0) -> LocalEdit {
        var edit = LocalEdit(
            key: .init(layerID: 0, objectID: objectID), rowID: objectID, globalID: nil, operation: .update)
        edit.base = record(objectID, "before")
        edit.current = record(objectID, "after", x: x)
        return edit
    }

    private static func request(_ edits: [LocalEdit]) -> EditRequest {
        EditRequest(edits, service: DamageService.definition, usesGlobalIDs: false)
    }

    @Test("An update sends the changed fields and the id alone, and the geometry only when it was moved")
    func changedFields() throws {
        for (x, isMoved) in [(0.0, false), (5, true)] {
            let json = Self.request([Self.update(7, x: x)]).json
            let feature = try #require(json.arrayValue?.first?["updates"]?.arrayValue?.first)
            #expect(feature["attributes"] == ["OBJECTID": 7, "primcause": "after"])
            #expect((feature["geometry"] != nil) == isMoved)
        }
    }

    @Test("Of adds and deletes, too, only what is said to have succeeded has", arguments: [true, false])
    func outcomesOfOthers(isAdd: Bool) throws {
        let edits = ([1, 2, 3] as [Int64]).map { id in
            var edit = LocalEdit(
                key: .init(layerID: 0, objectID: id), rowID: id, globalID: nil, operation: isAdd ? .add : .delete)
            edit.current = isAdd ? Self.record(id, "new") : nil
            return edit
        }
        let results: JSONValue = [
            ["objectId": 1, "success": true], ["objectId": 2], ["objectId": 3, "success": .null],
        ]
        let outcomes = Self.request(edits).outcomes([["id": 0, (isAdd ? "addResults" : "deleteResults"): results]])
        #expect(outcomes.map { $0.error == nil } == [true, false, false])
    }

    @Test("A geometry that was taken away is sent as none, and one that stayed is not sent")
    func geometries() throws {
        var edit = Self.update(7, x: 5)
        edit.current?.geometry = nil
        let feature = try #require(Self.request([edit]).json.arrayValue?.first?["updates"]?.arrayValue?.first)
        #expect(feature["geometry"]?.isNull == true)
        edit.current?.geometry = edit.base?.geometry
        let same = try #require(Self.request([edit]).json.arrayValue?.first?["updates"]?.arrayValue?.first)
        #expect(same["geometry"] == nil)
    }

    @Test("Only a result that says that it succeeded is a success; an edit without a result has none")
    func outcomes() throws {
        let request = Self.request((1...4).map { Self.update($0) })
        let answer: [JSONValue] = [
            [
                "id": 0,
                "updateResults": [
                    ["objectId": 1, "success": true], ["objectId": 2],
                    ["objectId": 3, "success": false, "error": ["code": 1019, "description": "gone"]],
                ],
            ]
        ]
        let outcomes = request.outcomes(answer)
        #expect(outcomes.map(\.edit.key.objectID) == [1, 2, 3])
        #expect(outcomes.map { $0.error == nil } == [true, false, false])
        #expect(outcomes.last?.error == EditError(code: 1019, description: "gone"))
    }
}
