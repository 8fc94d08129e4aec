import FieldworkREST
import Synchronization

/// The uploads that a request names: first what it asks for is noted, then it finds what was fetched. The files last as long
/// as this.
final class FoundUploads: Sendable {
    private struct State {
        var files: [String: FetchedUpload?] = [:]
        var wanted: [String] = []
    }

    private let state = Mutex(State())

    /// What is not fetched yet is an empty file, so that a reader goes on to the next.
    var finder: UploadedFile.Finder {
        { id in
            self.state.withLock { state in
                if let known = state.files[id] { return known?.file }
                if !state.wanted.contains(id) { state.wanted.append(id) }
                return UploadedFile(name: "", contentType: nil, content: AttachmentContent(bytes: []))
            }
        }
    }

    func takeWanted() -> [String] {
        state.withLock { state in
            defer { state.wanted = [] }
            return state.wanted
        }
    }

    /// - Parameter file: nil: there is none.
    func note(_ file: FetchedUpload?, for id: String) {
        state.withLock { $0.files[id] = .some(file) }
    }
}
