public import FieldworkGeometry
import FieldworkLocator
public import Foundation
import Synchronization

/// Finds places of addresses and addresses of places: with a service, or with a locator file on the device. Both answer alike.
///
/// What changes is behind a lock or in `Streamed`, which locks for itself.
public final class LocatorTask: Loadable, @unchecked Sendable {
    /// How far the loading has come.
    @Streamed public internal(set) var loadStatus = LoadStatus.notLoaded
    /// The address of the service, or of the file.
    public let url: URL
    private let loading: LoadOnce
    private let source: any LocatorSource
    private let info = Mutex<LocatorInfo?>(nil)

    /// A locator by the address of its service (`…/GeocodeServer`), or of a file (`….locator`).
    public convenience init(url: URL) {
        self.init(url: url, client: HTTPServiceClient())
    }

    init(url: URL, client: any ServiceClient) {
        self.url = url
        source = url.isFileURL ? FileLocatorSource(FileSection(url)) : ServiceLocatorSource(url: url, client: client)
        loading = LoadOnce(status: _loadStatus)
    }

    /// A locator that is a file, or a stretch of one.
    init(_ file: FileSection) {
        url = file.url
        source = FileLocatorSource(file)
        loading = LoadOnce(status: _loadStatus)
    }

    /// A locator file that is shipped with the app. nil when the bundle has none of the name.
    public convenience init?(name: String, bundle: Bundle = .main) {
        let extensions = [LocatorFile.pathExtension, "gpkg"]
        let found = extensions.lazy.compactMap { bundle.url(forResource: name, withExtension: $0) }.first
        guard let found else { return nil }
        self.init(url: found)
    }

    /// What the locator says of itself; nil before it is loaded.
    public var locatorInfo: LocatorInfo? { info.withLock { $0 } }

    // MARK: Loading

    /// Why the last attempt failed.
    public var loadError: (any Error)? { loading.error }

    /// Opens the file, or asks the service what it is. Throws `ServiceError` or `LocatorTaskError`.
    public func load() async throws { try await load(retries: false) }

    /// Like `load`, but starts again after a failure.
    public func retryLoad() async throws { try await load(retries: true) }

    /// Makes a load that is under way fail with `CancellationError`.
    public func cancelLoad() { loading.cancel() }

    private func load(retries: Bool) async throws {
        try await loading.load(retries: retries) { [self] in
            let loaded = try await source.load()
            info.withLock { $0 = loaded }
        }
    }

    // MARK: Searching

    /// Finds what a text names, the best first. Coordinates as text are found, too. Loads the locator when it is not.
    public func geocode(
        forSearchText searchText: String, using parameters: GeocodeParameters? = nil
    ) async throws -> [GeocodeResult] {
        try await load()
        return try await source.geocode(searchText, magicKey: "", (parameters ?? GeocodeParameters()).values)
    }

    /// Finds what was suggested.
    public func geocode(
        forSuggestResult suggestResult: SuggestResult, using parameters: GeocodeParameters? = nil
    ) async throws -> [GeocodeResult] {
        try await load()
        return try await source.geocode(
            suggestResult.label, magicKey: suggestResult.magicKey, (parameters ?? GeocodeParameters()).values)
    }

    /// Finds what a text that is being typed may become.
    public func suggest(
        forSearchText searchText: String, parameters: SuggestParameters? = nil
    ) async throws -> [SuggestResult] {
        try await load()
        return try await source.suggest(searchText, (parameters ?? SuggestParameters()).values)
    }

    /// Finds the address of a place. None, when nothing is near enough.
    public func reverseGeocode(
        forLocation location: Point, parameters: ReverseGeocodeParameters? = nil
    ) async throws -> [GeocodeResult] {
        try await load()
        return try await source.reverseGeocode(location, (parameters ?? ReverseGeocodeParameters()).values)
    }
}

/// Failures of locators on the device.
public enum LocatorTaskError: ArcGISError, LocalizedError, Hashable {
    /// The file is no locator, or can't be read.
    case unreadable(details: String)
    /// The question is malformed, or more than a locator takes.
    case invalidRequest(details: String)

    /// What happened, for a person.
    public var details: String {
        switch self {
        case .unreadable(let details), .invalidRequest(let details): details
        }
    }
}

/// Where a locator's answers come from.
protocol LocatorSource: Sendable {
    func load() async throws -> LocatorInfo
    func geocode(_ text: String, magicKey: String, _ values: GeocodeParameters.Values) async throws -> [GeocodeResult]
    func suggest(_ text: String, _ values: SuggestParameters.Values) async throws -> [SuggestResult]
    func reverseGeocode(_ location: Point, _ values: ReverseGeocodeParameters.Values) async throws -> [GeocodeResult]
}
