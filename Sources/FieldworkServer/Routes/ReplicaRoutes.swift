import FieldworkREST

extension Route {
    /// Replicas, their synchronisation, and what was made for a client.
    static let replicaRoutes: [Route] = [
        Route(.featureServer, "createReplica", .write, metric: .replicas, needs: .sync) {
            try await $0.replicas.perform(.createReplica, $0)
        },
        Route(.featureServer, "synchronizeReplica", .write, metric: .synchronizeReplica, needs: .sync) {
            try await $0.replicas.perform(.synchronizeReplica, $0)
        },
        Route(.featureServer, "unRegisterReplica", .write, metric: .replicas, needs: .sync) {
            .json(try await $0.replicas.unregister($0), format: try $0.jsonFormat)
        },
        Route(.featureServer, "extractChanges", metric: .replicas, needs: .extractChanges) {
            try await $0.replicas.perform(.extractChanges, $0)
        },
        Route(.featureServer, "replicas", metric: .replicas, needs: .sync) {
            .json(try await $0.replicas.list($0), format: try $0.jsonFormat)
        },
        Route(.featureServer, "replicas/{id}", metric: .replicas, needs: .sync) {
            .json(try await $0.replicas.info($0), format: try $0.jsonFormat)
        },
        Route(.featureServer, "jobs/{id}", metric: .replicas, needs: .knowsName) {
            .json(try await $0.replicas.status($0), format: try $0.jsonFormat)
        },
        Route(.featureServer, "jobs/{id}/status", metric: .replicas, needs: .knowsName) {
            .json(try await $0.replicas.status($0), format: try $0.jsonFormat)
        },
        Route(
            .featureServer, "\(ReplicaService.resultFolder)/{name}", .read, [.file], metric: .replicas,
            needs: .knowsName
        ) {
            try await $0.replicas.file($0)
        },
    ]

    /// Conflicts of synchronised edits. To bring back what lost is an edit of the conflict's layer, whose right is checked
    /// once the conflict is known.
    static let conflictRoutes: [Route] = [
        Route(.featureServer, "conflicts", metric: .replicas, needs: .sync) {
            .json(try await $0.replicas.conflicts($0), format: try $0.jsonFormat)
        },
        Route(.featureServer, "conflicts/{conflict}", metric: .replicas, needs: .sync) {
            .json(try await $0.replicas.conflict($0).json, format: try $0.jsonFormat)
        },
        Route(.featureServer, "conflicts/{conflict}/restore", .write, metric: .replicas, needs: .sync) {
            .json(try await $0.replicas.restoreConflict($0), format: try $0.jsonFormat)
        },
        Route(.featureServer, "conflicts/{conflict}/close", .write, metric: .replicas, needs: .sync) {
            .json(try await $0.replicas.closeConflict($0), format: try $0.jsonFormat)
        },
    ]
}
