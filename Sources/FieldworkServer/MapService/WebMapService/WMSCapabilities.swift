import FieldworkDrawing
import FieldworkGeometry
import FieldworkREST

/// The document of a `GetCapabilities`.
struct WMSCapabilities: Sendable {
    /// A layer with where its features are.
    struct Layer: Sendable {
        var definition: LayerDefinition
        /// On WGS 84.
        var degrees: Envelope
        /// In each reference in which the document tells it, by the names of the references.
        var boxes: [(name: String, box: Envelope)]

        /// - Parameter extent: nil for a layer without features: the document has no word for nowhere, and says the whole world.
        init(_ definition: LayerDefinition, extent: Envelope?) {
            self.definition = definition
            let world = Envelope(xMin: -180, yMin: -90, xMax: 180, yMax: 90, spatialReference: .wgs84)
            let known = extent.flatMap { try? GeometryEngine.projected($0, into: .wgs84) }
            degrees = known ?? world
            boxes = []
            guard let extent, known != nil else { return }
            var references: [SpatialReference] = [.wgs84, .webMercator]
            if let own = extent.spatialReference, !references.contains(own) { references.append(own) }
            boxes = references.compactMap { reference in
                guard let name = WMSReference.name(of: reference),
                    let box = try? GeometryEngine.projected(extent, into: reference)
                else { return nil }
                return (name, box)
            }
        }
    }

    let version: WMSVersion
    let service: ServiceDefinition
    let layers: [Layer]
    /// Where requests go; ends in a question mark.
    let address: String

    var bytes: [UInt8] {
        var xml = HTMLWriter()
        xml.markup("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n")
        if version == .v130 {
            xml.markup(
                "<WMS_Capabilities version=\"1.3.0\" xmlns=\"http://www.opengis.net/wms\" xmlns:xlink=\"http://www.w3.org/1999/xlink\">\n"
            )
        } else {
            xml.markup("<WMT_MS_Capabilities version=\"1.1.1\" xmlns:xlink=\"http://www.w3.org/1999/xlink\">\n")
        }
        writeService(to: &xml)
        xml.markup("<Capability>\n<Request>\n")
        writeOperations(to: &xml)
        xml.markup("</Request>\n<Exception><Format>")
        xml.text(version == .v130 ? "XML" : version.exceptionType)
        xml.markup("</Format></Exception>\n")
        writeRoot(to: &xml)
        xml.markup("</Capability>\n")
        if version == .v130 { xml.markup("</WMS_Capabilities>\n") } else { xml.markup("</WMT_MS_Capabilities>\n") }
        return xml.bytes
    }

    private var title: String { service.name.name }

    private func writeService(to xml: inout HTMLWriter) {
        xml.markup("<Service>\n<Name>")
        xml.text(version == .v130 ? "WMS" : "OGC:WMS")
        xml.plainElement("</Name>\n<Title>", title, "</Title>\n")
        let description = service.serviceDescription ?? service.description
        if !description.isEmpty { xml.plainElement("<Abstract>", description, "</Abstract>\n") }
        writeAddress(to: &xml)
        if version == .v130 {
            let side = String(FieldworkDrawing.Limits.imageSide)
            xml.element("<MaxWidth>", side, "</MaxWidth>")
            xml.element("<MaxHeight>", side, "</MaxHeight>\n")
        }
        xml.markup("</Service>\n")
    }

    /// - Parameter more: parameters that follow.
    private func writeAddress(_ more: String = "", to xml: inout HTMLWriter) {
        xml.element("<OnlineResource xlink:type=\"simple\" xlink:href=\"", address + more, "\"/>\n")
    }

    private func writeOperations(to xml: inout HTMLWriter) {
        let maps = WMSMapRequest.formats.map(\.name)
        writeOperation(
            "<GetCapabilities>", version == .v130 ? ["text/xml"] : ["application/vnd.ogc.wms_xml"],
            "</GetCapabilities>\n", to: &xml)
        writeOperation("<GetMap>", maps, "</GetMap>\n", to: &xml)
        let infos = WMSService.InfoFormat.allCases.map(\.rawValue)
        writeOperation("<GetFeatureInfo>", infos, "</GetFeatureInfo>\n", to: &xml)
    }

    private func writeOperation(
        _ open: StaticString, _ formats: [String], _ close: StaticString, to xml: inout HTMLWriter
    ) {
        xml.markup(open)
        for format in formats { xml.element("<Format>", format, "</Format>") }
        xml.markup("<DCPType><HTTP><Get>")
        writeAddress(to: &xml)
        xml.markup("</Get></HTTP></DCPType>")
        xml.markup(close)
    }

    // MARK: Layers

    /// The layer above all others has what they share.
    private func writeRoot(to xml: inout HTMLWriter) {
        xml.plainElement("<Layer queryable=\"1\">\n<Name>", title, "</Name>\n")
        xml.plainElement("<Title>", title, "</Title>\n")
        var names = ["EPSG:4326", "EPSG:3857"]
        if version == .v130 { names.insert(WMSReference.longitudeFirst, at: 0) }
        for name in layers.flatMap(\.boxes).map(\.name) where !names.contains(name) { names.append(name) }
        for name in names { writeReference(name, to: &xml) }
        if let all = GeometryEngine.combineExtents(of: layers.map(\.degrees)) { writeDegrees(all, to: &xml) }
        for layer in layers { write(layer, to: &xml) }
        xml.markup("</Layer>\n")
    }

    private func writeReference(_ name: String, to xml: inout HTMLWriter) {
        if version == .v130 {
            xml.element("<CRS>", name, "</CRS>\n")
        } else {
            xml.element("<SRS>", name, "</SRS>\n")
        }
    }

    private func write(_ layer: Layer, to xml: inout HTMLWriter) {
        let definition = layer.definition
        xml.element("<Layer queryable=\"1\">\n<Name>", String(definition.id), "</Name>\n")
        xml.plainElement("<Title>", definition.name, "</Title>\n")
        if !definition.description.isEmpty { xml.plainElement("<Abstract>", definition.description, "</Abstract>\n") }
        writeDegrees(layer.degrees, to: &xml)
        for (name, box) in layer.boxes {
            xml.markup(version == .v130 ? "<BoundingBox CRS=\"" : "<BoundingBox SRS=\"")
            xml.text(name)
            let isNorthFirst = box.spatialReference.map { WMSReference(name, $0, version).isNorthFirst } ?? false
            let corners =
                isNorthFirst ? [box.yMin, box.xMin, box.yMax, box.xMax] : [box.xMin, box.yMin, box.xMax, box.yMax]
            xml.element("\" minx=\"", "\(corners[0])", "\"")
            xml.element(" miny=\"", "\(corners[1])", "\"")
            xml.element(" maxx=\"", "\(corners[2])", "\"")
            xml.element(" maxy=\"", "\(corners[3])", "\"/>\n")
        }
        writeStyle(definition, to: &xml)
        writeScales(definition, to: &xml)
        xml.markup("</Layer>\n")
    }

    private func writeDegrees(_ box: Envelope, to xml: inout HTMLWriter) {
        let (west, east) = (max(box.xMin, -180), min(box.xMax, 180))
        let (south, north) = (max(box.yMin, -90), min(box.yMax, 90))
        if version == .v130 {
            xml.element("<EX_GeographicBoundingBox><westBoundLongitude>", "\(west)", "</westBoundLongitude>")
            xml.element("<eastBoundLongitude>", "\(east)", "</eastBoundLongitude>")
            xml.element("<southBoundLatitude>", "\(south)", "</southBoundLatitude>")
            xml.element(
                "<northBoundLatitude>", "\(north)", "</northBoundLatitude></EX_GeographicBoundingBox>\n")
        } else {
            xml.element("<LatLonBoundingBox minx=\"", "\(west)", "\"")
            xml.element(" miny=\"", "\(south)", "\"")
            xml.element(" maxx=\"", "\(east)", "\"")
            xml.element(" maxy=\"", "\(north)", "\"/>\n")
        }
    }

    private func writeStyle(_ layer: LayerDefinition, to xml: inout HTMLWriter) {
        xml.markup("<Style><Name>default</Name><Title>default</Title><LegendURL width=\"")
        xml.text("\(SwatchLook.side)")
        xml.element("\" height=\"", "\(SwatchLook.side)", "\"><Format>image/png</Format>")
        writeAddress(
            "service=WMS&version=\(version.rawValue)&request=GetLegendGraphic&format=image/png&layer=\(layer.id)",
            to: &xml)
        xml.markup("</LegendURL></Style>\n")
    }

    /// The standard's scales are of pixels of 0.28 mm; those of layers of 96 pixels to the inch.
    private func writeScales(_ layer: LayerDefinition, to xml: inout HTMLWriter) {
        guard version == .v130 else { return }
        let factor = MapFrame.metersPerInch / 96 / 0.000_28
        if layer.maxScale > 0 {
            xml.element("<MinScaleDenominator>", "\(layer.maxScale * factor)", "</MinScaleDenominator>\n")
        }
        if layer.minScale > 0 {
            xml.element("<MaxScaleDenominator>", "\(layer.minScale * factor)", "</MaxScaleDenominator>\n")
        }
    }
}
