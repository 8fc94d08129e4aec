import Fieldwork
import Foundation

/// What is on a map, without drawing it.
@main
struct ReadMap {
    static func main() async throws {
        let path = CommandLine.arguments.dropFirst().first ?? "Fieldwork-data/maps/TreesOfPortland.webmap.json"
        let map = try Map.fromJSON(Data(contentsOf: URL(filePath: path)))
        try await map.load()

        // The topmost first, as a table of contents has it.
        for layer in map.operationalLayers.reversed() {
            print("\(layer.name): \(layer.isVisible ? "shown" : "hidden"), \(layer.loadStatus)")
            if let minScale = layer.minScale { print("  from 1:\(Int(minScale))") }
            guard let layer = layer as? FeatureLayer else { continue }
            for entry in layer.renderer?.legendEntries ?? [] {
                print(
                    "  \(entry.label.isEmpty ? "all" : entry.label): \(entry.symbol.svgSwatch(size: 16) ?? "no picture")"
                )
            }
        }
        for table in map.tables {
            print("\(table.displayName): \(table.isEditable ? "can be edited" : "is read only")")
        }
        for bookmark in map.bookmarks { print("Bookmark \(bookmark.name)") }
        for rule in map.rules { print("Rule \(rule)") }
    }
}
