import FieldworkGeometry
import FieldworkREST
import Foundation

extension WMSService {
    /// `GetCapabilities`: what there is, in either version of the standard.
    func capabilities(_ request: ServiceRequest) async throws -> Answer {
        let version = WMSVersion(wished: request.parameters["version"] ?? request.parameters["wmtver"])
        let service = published.definition
        var layers: [WMSCapabilities.Layer] = []
        for layer in try TileService.layers(of: service) {
            let extent = try await map.features.extent(of: layer, in: published)
            layers.append(WMSCapabilities.Layer(layer, extent: extent))
        }
        let path = service.name.path.split(separator: "/").map {
            $0.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? String($0)
        }
        let address = "\(request.origin)/\(instance)/services/\(path.joined(separator: "/"))/MapServer/WMSServer?"
        let document = WMSCapabilities(version: version, service: service, layers: layers, address: address)
        let type = version == .v130 ? "text/xml;charset=utf-8" : "application/vnd.ogc.wms_xml;charset=utf-8"
        return Answer(contentType: type, body: .bytes(document.bytes)).tagged()
    }
}
