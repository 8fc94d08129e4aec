import ArcGIS
import Foundation

/// The model of the feature management sample. Its view is not here; everything below the marks is the sample's own
/// code, but for the address of the service.
@MainActor
final class ManageFeaturesModel {
    /// Where the test's server is; the sample has the address of a public one.
    let serviceURL: URL
    var data: Result<Data, any Error>?
    var status = ""

    init(serviceURL: URL) { self.serviceURL = serviceURL }
}

extension ManageFeaturesModel {
    /// Loads the data for this view.
    func loadData() async {
        let map = Map(basemapStyle: .arcGISStreets)
        map.initialViewpoint = Viewpoint(
            center: Point(x: -10_800_000, y: 4_500_000, spatialReference: .webMercator),
            scale: 3e7
        )
        let geodatabase = ServiceGeodatabase(
            url: serviceURL
        )
        do {
            try await geodatabase.load()
            guard let featureTable = geodatabase.table(withLayerID: 0) else { throw CocoaError(.coderValueNotFound) }
            let layer = FeatureLayer(featureTable: featureTable)
            map.addOperationalLayer(layer)
            data = .success(
                Data(map: map, geodatabase: geodatabase, featureTable: featureTable, featureLayer: layer)
            )
        } catch {
            data = .failure(error)
        }
    }

    /// Creates a new feature at a specified location and applies edits to the service.
    func createFeature(point: Point) async {
        guard case .success(let data) = data else { return }
        let table = data.featureTable
        let feature = table.makeFeature(
            attributes: [
                Feature.damageTypeFieldName: DamageKind.inaccessible.rawValue,
                "primcause": "Earthquake",
            ],
            geometry: point
        )
        do {
            try await table.add(feature)
            _ = try await table.serviceGeodatabase?.applyEdits()
            status = "Create feature succeeded."
        } catch {
            status = "Error creating feature."
        }
    }

    /// Updates the attributes of a feature and applies edits to the service.
    func updateAttribute(for feature: Feature, damageKind: DamageKind) async {
        guard case .success(let data) = data else { return }
        let table = data.featureTable
        do {
            feature.damageKind = damageKind
            try await table.update(feature)
            _ = try await table.serviceGeodatabase?.applyEdits()
            status = "Update attribute succeeded."
        } catch {
            status = "Error updating attribute."
        }
    }

    /// Updates the geometry of a feature and applies edits to the service.
    func updateGeometry(for feature: Feature, geometry: Geometry?) async {
        guard case .success(let data) = data else { return }
        let table = data.featureTable
        do {
            feature.geometry = geometry
            try await table.update(feature)
            _ = try await table.serviceGeodatabase?.applyEdits()
            status = "Update geometry succeeded."
        } catch {
            status = "Error updating geometry."
        }
    }

    /// Deletes a feature from the table and applies edits to the service.
    func delete(feature: Feature) async {
        guard case .success(let data) = data else { return }
        let table = data.featureTable
        do {
            try await table.delete(feature)
            _ = try await table.serviceGeodatabase?.applyEdits()
            status = "Delete feature succeeded."
        } catch {
            status = "Error deleting feature."
        }
    }

    func clearSelection() {
        if case .success(let data) = data {
            data.featureLayer.clearSelection()
        }
        status = ""
    }

    /// What the call-out shows.
    func callout(feature: Feature, table: ServiceFeatureTable) -> [String] {
        [
            "ID: \(feature.attributeValue(forKey: table.objectIDField) ?? "Unknown")",
            "Damage: \(feature.damageKind?.rawValue ?? "Unknown")",
        ]
    }
}

extension ManageFeaturesModel {
    /// Data value for the sample.
    struct Data {
        /// The map that will be displayed.
        let map: Map
        /// The service geodatabase.
        let geodatabase: ServiceGeodatabase
        /// The service feature table.
        let featureTable: ServiceFeatureTable
        /// The feature layer.
        let featureLayer: FeatureLayer
    }
}

extension ManageFeaturesModel {
    /// A value that describes the damage assessment value for a feature.
    enum DamageKind: String, CaseIterable {
        case inaccessible = "Inaccessible"
        case affected = "Affected"
        case minor = "Minor"
        case major = "Major"
        case destroyed = "Destroyed"
    }
}

extension Feature {
    /// The name of the damage type field.
    static let damageTypeFieldName = "typdamage"

    /// The damage assessment of the feature.
    var damageKind: ManageFeaturesModel.DamageKind? {
        get {
            // Return the attribute value as a DamageKind.
            ManageFeaturesModel.DamageKind(
                rawValue: attributeValue(forKey: Self.damageTypeFieldName) as? String ?? ""
            )
        }
        set {
            // Set the attribute value on the feature by converting the
            // DamageKind to a String value.
            setAttributeValue(newValue?.rawValue, forKey: Self.damageTypeFieldName)
        }
    }
}
