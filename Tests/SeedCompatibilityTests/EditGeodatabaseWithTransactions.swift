import ArcGIS
import Foundation

/// The model of the geodatabase transactions sample: it takes an area offline, adds features of a type and syncs. The
/// sample's text shows its view only; this is the model that the view calls.
@MainActor
final class EditGeodatabaseWithTransactionsModel {
    let map = Map(basemapStyle: .arcGISStreets)
    private(set) var geodatabase: Geodatabase!
    private(set) var hasLocalEdits = false
    private(set) var progress: Progress?
    private let task: GeodatabaseSyncTask
    private let folder: URL
    private let extent: Envelope

    init(serviceURL: URL, folder: URL, extent: Envelope) {
        task = GeodatabaseSyncTask(url: serviceURL)
        self.folder = folder
        self.extent = extent
    }

    deinit { geodatabase?.close() }

    func setUp() async throws {
        let parameters = try await task.makeDefaultGenerateGeodatabaseParameters(extent: extent)
        let job = task.makeGenerateGeodatabaseJob(
            parameters: parameters, downloadFileURL: folder.appending(path: "SaveTheBay.geodatabase"))
        progress = job.progress
        defer { progress = nil }
        job.start()
        geodatabase = try await job.output
        try await geodatabase.load()
        map.addOperationalLayers(geodatabase.featureTables.map(FeatureLayer.init(featureTable:)))
    }

    func addFeature(tableName: String, featureTypeName: String, point: Point) async throws {
        guard let table = geodatabase.featureTable(named: tableName),
            let type = table.featureTypes.first(where: { $0.name == featureTypeName })
        else { return }
        try await table.add(table.makeFeature(type: type, geometry: point))
        hasLocalEdits = geodatabase.hasLocalEdits
    }

    func syncGeodatabase() async throws {
        let parameters = try await task.makeDefaultSyncGeodatabaseParameters(geodatabase: geodatabase)
        let job = task.makeSyncGeodatabaseJob(parameters: parameters, geodatabase: geodatabase)
        progress = job.progress
        defer { progress = nil }
        job.start()
        _ = try await job.output
        hasLocalEdits = geodatabase.hasLocalEdits
    }
}

/// The sample's view without its views: the state and the code below are the sample's own.
@MainActor
final class EditGeodatabaseWithTransactionsView {
    private(set) var model: EditGeodatabaseWithTransactionsModel
    private var selectedAction: Action?
    private(set) var statusText = ""
    var tapLocation: Point?
    private(set) var isInTransaction = false
    var transactionIsRequired = true
    private(set) var isSelectingFeatureType = false
    private(set) var error: (any Error)?

    init(model: EditGeodatabaseWithTransactionsModel) { self.model = model }

    /// What the sample does at a tap.
    func onSingleTap(mapPoint: Point) {
        // Shows the select feature type popover when a feature can currently be added.
        guard !transactionIsRequired || isInTransaction else { return }

        tapLocation = mapPoint
        isSelectingFeatureType = true
    }

    /// What the sample does when an action is chosen.
    func perform(_ action: Action) async {
        selectedAction = action
        await performSelectedAction()
    }

    private func performSelectedAction() async {
        guard let selectedAction else { return }

        do {
            switch selectedAction {
            case .setUp:
                try await model.setUp()
            case .addFeature(let tableName, let featureTypeName):
                // The sample's own words.
                // swift-format-ignore: NeverForceUnwrap
                try await model.addFeature(
                    tableName: tableName,
                    featureTypeName: featureTypeName,
                    point: tapLocation!
                )
            case .beginTransaction:
                try model.geodatabase.beginTransaction()
                isInTransaction = true
            case .commitTransaction:
                try model.geodatabase.commitTransaction()
                isInTransaction = false
            case .rollbackTransaction:
                try model.geodatabase.rollbackTransaction()
                isInTransaction = false
            case .sync:
                try await model.syncGeodatabase()
            }

            statusText = selectedAction.completionMessage
        } catch GeodatabaseError.geometryOutsideReplicaExtent {
            statusText = "Error: Feature geometry is outside the generate geodatabase geometry."
        } catch {
            self.error = error
        }

        self.selectedAction = nil
    }

    /// An action associated with the geodatabase.
    enum Action: Equatable {
        /// Sets up the sample.
        case setUp
        /// Adds a feature of a given type to a table in the geodatabase.
        case addFeature(tableName: String, featureTypeName: String)
        /// Starts a transaction on the geodatabase.
        case beginTransaction
        /// Commits the edits in the transaction to the geodatabase.
        case commitTransaction
        /// Rollback the edits in the transaction from the geodatabase.
        case rollbackTransaction
        /// Synchronizes the geodatabase and the feature service.
        case sync

        /// The message to display when the action successfully completes.
        var completionMessage: String {
            switch self {
            case .setUp: "Tap Start to begin a transaction."
            case .addFeature: "Added feature."
            case .beginTransaction: "Transaction started."
            case .commitTransaction: "Edits committed to geodatabase."
            case .rollbackTransaction: "Edits discarded."
            case .sync: "Synchronized geodatabase and feature service."
            }
        }
    }
}

/// The sample's list of feature types.
struct SelectFeatureType {
    /// The feature tables containing the feature types.
    let featureTables: [ArcGISFeatureTable]
    /// The name of the feature table selected in the picker.
    var selectedFeatureTableName = ""

    /// The feature types of the selected feature table.
    var featureTypeOptions: [FeatureType] {
        let selectFeatureTable = featureTables.first { $0.tableName == selectedFeatureTableName }
        return selectFeatureTable?.featureTypes ?? []
    }
}
