/// How far the loading of an object has come.
public enum LoadStatus: Sendable {
    /// Nobody has asked for it yet.
    case notLoaded
    /// It is being loaded.
    case loading
    /// All properties can be read.
    case loaded
    /// The last attempt failed; `retryLoad` starts another.
    case failed
}

/// An object whose properties can be read after `load`.
public protocol Loadable: AnyObject, Sendable {
    /// How far the loading has come.
    var loadStatus: LoadStatus { get }
    /// Why the last attempt failed; nil unless `loadStatus` is `failed`.
    var loadError: (any Error)? { get }
    /// Loads the object, or joins a load that is under way. Returns at once when it is loaded; throws `loadError` again
    /// when it has failed. Cancelling the calling task ends its wait with `CancellationError`.
    func load() async throws
    /// Like `load`, but starts again after a failure.
    func retryLoad() async throws
    /// Makes a load that is under way fail with `CancellationError`.
    func cancelLoad()
}

extension Collection where Element: Loadable {
    /// Loads all at once. Single failures are read from each element's `loadError`.
    public func load() async {
        await withTaskGroup(of: Void.self) { group in
            for element in self {
                group.addTask {
                    // The failure is kept by the element.
                    try? await element.load()
                }
            }
        }
    }
}
