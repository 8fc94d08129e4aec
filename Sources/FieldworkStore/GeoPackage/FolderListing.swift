package import Foundation
import Synchronization

/// What was read of a folder and of folders in it, kept for as long as none of them has changed: a folder's time of change is one look,
/// whatever lies in it.
///
/// A folder's time of change has the grain of its file system's clock, and another change may follow within the same grain: what was
/// read of a folder that changed a moment ago is not kept.
package final class FolderListing<Value: Sendable>: Sendable {
    /// The folders that a value was read of, each as it was before.
    package struct Folders: Sendable {
        fileprivate var versions: [(path: String, version: FileVersion?)] = []

        /// To be called before the folder is listed.
        package mutating func look(at folder: URL) {
            versions.append((folder.path, FileVersion(path: folder.path)))
        }

        fileprivate var areUnchanged: Bool { versions.allSatisfy { FileVersion(path: $0.path) == $0.version } }
        /// A folder that is not there has not changed a moment ago either.
        fileprivate var areSettled: Bool { versions.allSatisfy { $0.version?.isSettled != false } }
    }

    private let kept = Mutex<(folders: Folders, value: Value)?>(nil)

    package init() {}

    /// - Parameter read: lists the folders, each of which it looks at before.
    package func value(_ read: (inout Folders) throws -> Value) rethrows -> Value {
        if let kept = kept.withLock({ $0 }), kept.folders.areUnchanged { return kept.value }
        var folders = Folders()
        let value = try read(&folders)
        if folders.areSettled { kept.withLock { $0 = (folders, value) } }
        return value
    }
}
