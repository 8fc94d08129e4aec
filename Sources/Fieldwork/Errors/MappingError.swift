public import Foundation

/// Failures of maps and layers.
public enum MappingError: ArcGISError, LocalizedError, Hashable {
    /// The object has to be loaded first.
    case notLoaded(details: String)
    /// The object has been loaded already.
    case alreadyLoaded(details: String)
    /// A spatial reference is needed and there is none.
    case missingSpatialReference(details: String)
    /// Two spatial references do not go together.
    case incompatibleSpatialReference(details: String)
    /// The kind of geometry can't be used here.
    case unsupportedGeometryType(details: String)
    /// The kind of layer can't be used here.
    case layerTypeNotSupported(details: String)
    /// The package of a map area is not ready yet.
    case packagingNotComplete(details: String)
    /// There is no package for the item.
    case noPackageItem(details: String)

    /// What happened, for a person.
    public var details: String {
        switch self {
        case .notLoaded(let details), .alreadyLoaded(let details), .missingSpatialReference(let details),
            .incompatibleSpatialReference(let details), .unsupportedGeometryType(let details),
            .layerTypeNotSupported(let details), .packagingNotComplete(let details), .noPackageItem(let details):
            details
        }
    }
}
