import Foundation

/// Gives each layer of a map the number under which addresses, journal and drafts name it. A number once given stays, also
/// when the map's author adds, removes or moves layers: what was kept under it would else belong to another layer.
struct LayerNumbers {
    private let file: URL
    private var numbers: [String: Int]

    init(file: URL) throws {
        self.file = file
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        let stored = (try? Data(contentsOf: file)).flatMap { try? JSONDecoder().decode([String: Int].self, from: $0) }
        numbers = stored ?? [:]
    }

    /// The number of a layer of a service: the service's own where it is free, the next free one above 1,000 elsewhere.
    /// - Parameter occurrence: 0 for the first time that the layer is in the map.
    mutating func number(service: String, layer: Int, occurrence: Int) -> Int {
        let key = "\(service) \(layer) \(occurrence)"
        if let known = numbers[key] { return known }
        let taken = Set(numbers.values)
        var number = layer
        if taken.contains(number) { number = max(1_000, (taken.max() ?? 0) + 1) }
        numbers[key] = number
        return number
    }

    func save() throws {
        try JSONEncoder().encode(numbers).write(to: file, options: .atomic)
    }
}
