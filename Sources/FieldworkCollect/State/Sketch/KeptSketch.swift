import Fieldwork
import Foundation

/// A session as its file has it.
struct KeptSketch: Sendable, Codable {
    let id: UUID
    let key: String
    let template: String?
    let base: Data?
    let snaps: Bool
    let snapped: String?
    let editor: GeometryEditorState?

    init(_ session: SketchSession) {
        (id, key, template, base) = (session.id, session.key, session.template, session.base)
        (snaps, snapped, editor) = (session.snaps, session.snapped, session.editor.savedState)
    }
}

/// The sketches of a map that were begun and neither saved nor thrown away.
struct SketchShelf: Sendable {
    let directory: URL

    init(_ map: OpenMap) { self.init(directory: map.folder.appending(path: "sketches")) }

    init(directory: URL) { self.directory = directory }

    private func file(_ key: String) -> URL { directory.appending(path: "\(StableHash.hex(key)).json") }

    /// The session that was begun; nil where none was, or its file can't be read.
    /// - Parameters:
    ///   - kind: that of the layer.
    ///   - reference: that of the layer. Files of earlier versions hold neither of them.
    func session(_ key: String, kind: GeometryKind, reference: SpatialReference?) -> SketchSession? {
        guard let data = try? Data(contentsOf: file(key)),
            let kept = try? JSONDecoder().decode(KeptSketch.self, from: data), kept.key == key
        else { return nil }
        if let state = kept.editor {
            let editor = GeometryEditor()
            editor.start(withState: state)
            return SketchSession(kept, editor: editor)
        }
        guard let earlier = try? JSONDecoder().decode(EarlierSketch.self, from: data) else { return nil }
        return SketchSession(kept, editor: earlier.editor(kind, reference))
    }

    func put(_ session: SketchSession) throws {
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        try JSONEncoder().encode(KeptSketch(session)).write(to: file(session.key), options: .atomic)
    }

    func remove(_ key: String) { try? FileManager.default.removeItem(at: file(key)) }
}
