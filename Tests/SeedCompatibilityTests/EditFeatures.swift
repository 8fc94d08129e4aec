import ArcGIS
import Foundation

/// The fragments of the editing guide, each in a function that gives it the names it uses. A fragment's error is thrown
/// on rather than printed, so that the test sees it.
struct EditFeaturesGuide {
    let damageTable: ServiceFeatureTable
    let damageLayer: FeatureLayer
    let serviceGeodatabase: ServiceGeodatabase

    func addFeature(point: Point) async throws {
        // Creates attributes for the feature.
        let attributes = [
            "typdamage": "Minor",
            "primcause": "Earthquake",
        ]
        // Creates a new feature from the attributes and the point.
        let feature = damageTable.makeFeature(attributes: attributes, geometry: point)
        // Adds the feature to the local table.
        do {
            try await damageTable.add(feature)
            // If the feature table is a service feature table then apply edits to its service geodatabase.
        } catch {
            print(error)
            throw error
        }
    }

    func updateFeature(_ feature: Feature) async throws {
        // Changes the feature's geometry.
        guard let currentLocation = feature.geometry as? Point else { return }
        // Changes the feature's attribute value.
        feature.setAttributeValue("Inaccessible", forKey: "typdamage")
        let updatedLocation = Point(
            x: currentLocation.x,
            y: currentLocation.y + 50000,
            spatialReference: currentLocation.spatialReference
        )
        feature.geometry = updatedLocation
        // Updates the feature on the local table.
        do {
            try await damageTable.update(feature)
            // If the feature table is a service feature table then apply edits to its service geodatabase.
        } catch {
            print(error)
            throw error
        }
    }

    func deleteSelectedFeatures() async throws {
        // Gets all selected features in the layer.
        let selectedFeatures = try await damageLayer.selectedFeatures.features()
        // Deletes the selected features.
        try await damageTable.delete(selectedFeatures)
        // If the feature table is a service feature table then apply edits to its service geodatabase.
        // let editResults = try await serviceGeodatabase.applyEdits()
    }

    func undoChanges() async throws {
        // Checks if the service geodatabase has any local edits.
        if serviceGeodatabase.hasLocalEdits {
            do {
                // Undoes the local edits for all the tables in the service geodatabase.
                try await serviceGeodatabase.undoLocalEdits()
            } catch {
                print(error)
                throw error
            }
        }
    }
}
