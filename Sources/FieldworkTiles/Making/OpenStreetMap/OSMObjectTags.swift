import FieldworkOSM

/// The tags of an OpenStreetMap object that a basemap draws or writes.
struct OSMObjectTags {
    enum Key: String, CaseIterable {
        case highway, railway, aeroway, waterway, natural, landuse, leisure, amenity, building, place, boundary, route
        case shop, tourism, historic, office, healthcare, craft, sport
        case name, ref, bridge, tunnel, covered, area, service, capital, population, type, intermittent, access, water
        case wetland, station
        case manMade = "man_made"
        case publicTransport = "public_transport"
        case adminLevel = "admin_level"
        case number = "addr:housenumber"
        case isMaritime = "maritime"
        case layer
    }

    private let block: OSMBlock
    private var values: [(key: Key, value: Int)]
    private var names: [(key: Int, value: Int)]

    /// Knows which strings of a block are keys of interest. Each is looked up when it is met first.
    final class Reader {
        private let block: OSMBlock
        private var known: [Kind]

        private enum Kind {
            case unseen
            case other
            case name
            case key(Key)
        }

        private static let keys = Dictionary(uniqueKeysWithValues: Key.allCases.map { ($0.rawValue, $0) })

        init(_ block: OSMBlock) {
            self.block = block
            known = Array(repeating: .unseen, count: block.stringCount)
        }

        private func kind(_ index: Int) -> Kind {
            guard known.indices.contains(index) else { return .other }
            if case .unseen = known[index] {
                let text = block.string(index)
                if let key = Self.keys[text] {
                    known[index] = .key(key)
                } else {
                    known[index] = text.hasPrefix("name:") ? .name : .other
                }
            }
            return known[index]
        }

        /// nil for an object without any of the keys.
        func read(_ tags: OSMBlock.Tags) -> OSMObjectTags? {
            guard !tags.isEmpty else { return nil }
            var object = OSMObjectTags(block: block, values: [], names: [])
            for tag in tags {
                switch kind(tag.key) {
                case .key(let key): object.values.append((key, tag.value))
                case .name: object.names.append(tag)
                case .unseen, .other: break
                }
            }
            return object.values.isEmpty ? nil : object
        }
    }

    /// Empty where the object has no such tag.
    subscript(_ key: Key) -> String {
        guard let value = values.first(where: { $0.key == key })?.value else { return "" }
        return block.string(value)
    }

    func has(_ key: Key) -> Bool { values.contains { $0.key == key } }

    func isYes(_ key: Key) -> Bool { has(key) && self[key] != "no" }

    /// The name, and those in other languages where they differ.
    func names(from level: Int) -> [MapFeature.Tag] {
        let name = self[.name]
        guard !name.isEmpty else { return [] }
        var tags = [MapFeature.Tag("name", Self.text(name), from: level)]
        for entry in names {
            let key = block.string(entry.key)
            let value = block.string(entry.value)
            guard value != name, BasemapSchema.languages.contains(String(key.dropFirst(5))) else { continue }
            tags.append(MapFeature.Tag(key, Self.text(value), from: level))
        }
        return tags
    }

    static func text(_ text: String) -> VectorLayer.Value {
        .text(text.utf8.count > Limits.tileTextCharacters ? String(text.prefix(Limits.tileTextCharacters)) : text)
    }
}
