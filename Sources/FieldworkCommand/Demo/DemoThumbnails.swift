import Fieldwork
import FieldworkGeometry
import FieldworkPortal
import FieldworkREST
import Foundation

/// Pictures of the demo's maps and services, drawn by the server itself when it has begun to answer.
struct DemoThumbnails {
    var portal: FieldworkPortal.Portal
    /// The address of the services.
    var services: String

    /// The protocol's size.
    private static let size = "600,400"

    /// Gives a map and its service their picture once. What somebody has removed or replaced stays so.
    func prepare(service: String, map id: String) async throws {
        let mark = "demo thumbnail \(service)"
        guard try await portal.mark(mark) == nil else { return }
        guard let picture = try await picture(service, map: id) else { return }
        let items = [id, try await portal.item(ofService: service)?.id].compactMap(\.self)
        for item in items {
            var change = ItemChange()
            change.thumbnail = ItemContent(
                name: ItemContent.thumbnail, type: "image/png", fileName: "thumbnail.png", modified: 0, bytes: picture)
            do {
                try await portal.updateItem(item, change, for: .everybody, by: .commandLine)
            } catch let error as FieldworkPortal.PortalError where error.kind == .notFound {
                continue
            }
        }
        try await portal.setMark("made", mark)
    }

    /// What the map shows at first; nil where the server gives no picture of it.
    private func picture(_ service: String, map id: String) async throws -> [UInt8]? {
        guard let document = try await portal.content(ItemContent.data, of: id, for: .everybody),
            let map = try? JSONParser.parse(document.bytes),
            let frame = map["initialState"]?["viewpoint"]?["targetGeometry"],
            let reference = frame["spatialReference"]?["wkid"]?.integerValue
        else { return nil }
        let sides = ["xmin", "ymin", "xmax", "ymax"].compactMap { frame[$0]?.doubleValue }
        guard sides.count == 4,
            var address = URLComponents(string: "\(services)/\(service)/MapServer/export")
        else { return nil }
        address.queryItems = [
            ("bbox", sides.map { "\($0)" }.joined(separator: ",")), ("bboxSR", "\(reference)"), ("size", Self.size),
            ("format", "png"), ("f", "image"),
        ].map { URLQueryItem(name: $0.0, value: $0.1) }
        guard let url = address.url else { return nil }
        let (bytes, answer) = try await ArcGISURLSession().data(from: url)
        guard answer.mimeType?.hasPrefix("image/png") == true else { return nil }
        return [UInt8](bytes)
    }
}
