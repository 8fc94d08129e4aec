// The code of the articles on offline work and on conflicts, as it stands there: `ArticleTests` compares them.

import Fieldwork
import Foundation

enum WorkingOffline {
    static func take(_ area: Envelope, of serviceURL: URL, into file: URL) async throws -> Geodatabase {
        let task = GeodatabaseSyncTask(url: serviceURL)
        try await task.load()
        let parameters = try await task.makeDefaultGenerateGeodatabaseParameters(extent: area)
        parameters.returnsAttachments = true
        let job = task.makeGenerateGeodatabaseJob(parameters: parameters, downloadFileURL: file)
        job.start()
        let geodatabase = try await job.output
        return geodatabase
    }

    static func edit(_ geodatabase: Geodatabase, at place: Point) async throws {
        try await geodatabase.load()
        guard let trees = geodatabase.featureTable(withServiceLayerID: 0) else { return }
        let tree = trees.makeFeature(attributes: ["species": "Quercus garryana"], geometry: place)
        try await trees.add(tree)
        try await geodatabase.undo()
    }

    static func synchronise(_ geodatabase: Geodatabase, with task: GeodatabaseSyncTask) async throws {
        let parameters = try await task.makeDefaultSyncGeodatabaseParameters(geodatabase: geodatabase)
        let job = task.makeSyncGeodatabaseJob(parameters: parameters, geodatabase: geodatabase)
        job.start()
        for layer in try await job.output {
            for result in layer.editResults where result.didCompleteWithErrors {
                print(layer.tableName, result.error ?? "")
            }
        }
    }

    static func giveBack(_ geodatabase: Geodatabase, to task: GeodatabaseSyncTask) async throws {
        try await task.unregisterGeodatabase(geodatabase)
    }
}

enum Conflicts {
    static func look(_ serviceURL: URL) async throws {
        let conflicts = EditConflicts(serviceURL: serviceURL)
        for conflict in try await conflicts.conflicts(in: .open) {
            print(conflict.kind, conflict.lost.editor ?? "somebody", conflict.lost.fieldNames)
            for name in conflict.lost.fieldNames {
                print(name, conflict.lost.attributes[name] ?? "none", conflict.won.attributes[name] ?? "none")
            }
        }
    }

    static func decide(_ conflict: EditConflict, _ conflicts: EditConflicts) async throws {
        try await conflicts.restore(conflict)  // what lost takes the place of what won
        try await conflicts.close(conflict)  // what won stays
    }

    static func decideLater(_ conflict: EditConflict, _ serviceURL: URL, _ file: URL) async throws {
        let conflicts = EditConflicts(serviceURL: serviceURL, keptIn: file)
        try conflicts.decideLater(conflict, restoring: true)
        try await conflicts.sendDecisions()  // when there is a connection again
    }
}
