import Foundation

/// The recorded results of a folder, the oldest first.
package struct History: Sendable {
    package var results: [BenchResult]

    package init(_ results: [BenchResult]) { self.results = results.sorted { $0.date < $1.date } }

    /// Reads a folder's files; a folder that is not there has none.
    package init(folder: URL) throws {
        let files = (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
        self.init(
            try files.filter { $0.pathExtension == "json" }.map { file in
                do {
                    return try Self.decoder.decode(BenchResult.self, from: Data(contentsOf: file))
                } catch {
                    throw HistoryError(message: "\(file.lastPathComponent) is no result of bench: \(error)")
                }
            })
    }

    /// Writes a result as a file of its own; returns the file.
    package static func record(_ result: BenchResult, in folder: URL) throws -> URL {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let time = result.date.formatted(.iso8601).replacingOccurrences(of: ":", with: "")
        let file = folder.appending(path: "\(time)-\(result.commit).json")
        var data = try encoder.encode(result)
        data.append(UInt8(ascii: "\n"))
        // An earlier result is never replaced.
        try data.write(to: file, options: .withoutOverwriting)
        return file
    }

    private static var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return encoder
    }

    private static var decoder: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        return decoder
    }

    // MARK: One figure

    /// All that was recorded of a figure, as a table in Markdown, the oldest first.
    package func table(of figure: Figure) -> String {
        var lines = [
            "\(figure.title), \(figure.unit.rawValue)", "",
            "| date | commit | machine | load | rows | \(figure.unit.rawValue) | times the floor | times its peers |",
            "|---|---|---|---|---|---|---|---|",
        ]
        for result in results {
            for measured in result.figures where measured.name == figure.rawValue {
                let peers = (measured.timesPeers ?? [:]).sorted { $0.key < $1.key }
                let cells = [
                    result.day, result.commit, "\(result.machine.processor), \(result.machine.cores) cores",
                    result.load, "\(measured.rows)",
                    measured.value.text, measured.timesFloor?.times ?? "",
                    peers.map { "\($0.key) \($0.value.times)" }.joined(separator: ", "),
                ]
                lines.append("| \(cells.joined(separator: " | ")) |")
            }
        }
        return lines.count == 4 ? "\(figure.title): no result was recorded" : lines.joined(separator: "\n")
    }
}

package struct HistoryError: Error, CustomStringConvertible {
    package var message: String
    package var description: String { message }
}
