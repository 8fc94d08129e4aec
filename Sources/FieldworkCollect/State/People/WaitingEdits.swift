import Fieldwork
import Foundation

/// What was edited in a folder of the app's data and is on no server yet, told by the journals of its maps: also of maps that
/// aren't open.
enum WaitingEdits {
    static func count(in folder: URL) -> Int {
        let maps = folder.appending(path: "maps", directoryHint: .isDirectory)
        let names = (try? FileManager.default.contentsOfDirectory(atPath: maps.path)) ?? []
        return names.reduce(0) { count, name in
            count + (EditJournal.unsettledCount(in: maps.appending(path: "\(name)/edits.jsonl")) ?? 0)
        }
    }
}
