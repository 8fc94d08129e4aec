import FieldworkGeometry
import Foundation

// The parts of offline maps that search for addresses.

extension MobileMapPackage {
    /// The search for addresses in the area; nil where none came along.
    public var locatorTask: LocatorTask? { keptLocator as? LocatorTask }

    static func locator(in file: FileSection) -> any Loadable { LocatorTask(file) }
}

extension OfflineMapPart {
    /// The part of the first locator that a server offers, below `…/rest/services`; nil where it offers none.
    static func locator(of root: URL) async throws -> OfflineMapPart? {
        guard let locator = try await LocatorDirectory.locators(of: root).first else { return nil }
        return OfflineMapPart(.locator, source: locator, file: "addresses.locator")
    }

    /// Fetches the part of the locator in an area.
    func takeLocatorAlong(area: Envelope, to file: URL) async throws {
        try await LocatorDirectory.takeAlong(source, area: area, to: file)
    }
}
