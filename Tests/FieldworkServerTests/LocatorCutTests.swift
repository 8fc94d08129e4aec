import FieldworkLocator
import FieldworkREST
import Foundation
import TestSupport
import Testing

@testable import FieldworkServer

/// The part of a locator that a client takes along.
@Suite("Locators cut for an area", .fewAtATime)
struct LocatorCutServiceTests {
    @Test(
        "A client gets the part of a locator around an area as a locator file; nothing there, or no area, is an error")
    func part() async throws {
        try await PeopleServer.with { people in
            let path = "Trees/GeocodeServer/cut"
            let answer = try await people.get(path, ["area": "-122.501,45.500,-122.499,45.502"], as: "viewer")
            #expect(answer.errorCode == nil && answer.header("Content-Disposition")?.contains("Town.locator") == true)
            let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).locator")
            defer { try? FileManager.default.removeItem(at: file) }
            try Data(answer.body).write(to: file)
            let locator = try await Locator.open(file, readers: 1)
            #expect(locator.information.addressCount == 2)
            #expect(try await locator.candidates(for: "121 Main St, Alderton").first?.score == 100)
            await locator.close()
            let mercator =
                #"{"xmin":-13636800,"ymin":5700500,"xmax":-13636500,"ymax":5700900,"spatialReference":{"wkid":102100}}"#
            #expect(try await people.post(path, ["area": mercator], as: "viewer").errorCode == nil)
            for wrong in ["", "1,2", "3,3,1,1", "10,10,11,11"] {
                #expect(
                    try await people.get(path, ["f": "json", "area": wrong], as: "viewer").errorCode == 400, "\(wrong)")
            }
            #expect(try await people.get(path, ["area": "-122.501,45.500,-122.499,45.502"], as: nil).errorCode == 499)
        }
    }
}
