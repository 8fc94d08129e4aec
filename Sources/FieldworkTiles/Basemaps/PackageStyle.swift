package import FieldworkGeometry

/// The style of a package of vector tiles: one of ours for the layers that we make, the package's own, or a plain one.
package enum PackageStyle {
    /// - Parameters:
    ///   - title: what the map is called.
    ///   - look: of the styles of ours; others have one look.
    ///   - language: the reader's.
    package static func json(
        _ package: any TilePackage, title: String, addresses: StyleDocument.Addresses, look: BasemapLook = .light,
        language: String? = nil
    ) throws(TileError) -> JSONValue {
        let description = package.description
        if description.schema == BasemapSchema.mark {
            return BasemapStyle(look: look, language: language).json(description, name: title, addresses: addresses)
        }
        let own = try package.resource("styles/root.json")
        guard let own, let json = try? JSONParser.parse(own), var object = json.objectValue else {
            return GenericStyle.json(description, addresses: addresses)
        }
        // A package's style names its tiles and fonts relative to itself; foreign addresses in it are not kept.
        let shell = StyleDocument.wrapped(
            name: title, layers: json["layers"]?.arrayValue ?? [], addresses: addresses,
            levels: description.levels, attribution: description.attribution, hasSprites: json["sprite"] != nil,
            source: json["sources"]?.objectValue?.keys.first ?? "esri")
        for member in ["sources", "sprite", "glyphs"] { object[member] = shell[member] }
        return .object(object)
    }

    /// The fonts that a style letters with. Names within expressions are found as well.
    static func fonts(_ style: JSONValue) -> [String] {
        var fonts = Set<String>()
        func take(_ value: JSONValue) {
            guard let list = value.arrayValue else { return }
            let names = list.compactMap(\.stringValue)
            // A list of names is a stack of fonts; an expression has other lists within.
            if names.count == list.count, names.first != "literal", let first = names.first { fonts.insert(first) }
            for part in list { take(part) }
        }
        for layer in style["layers"]?.arrayValue ?? [] {
            if let font = layer["layout"]?["text-font"] { take(font) }
        }
        return fonts.sorted()
    }
}
