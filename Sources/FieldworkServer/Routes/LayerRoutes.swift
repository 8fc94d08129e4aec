import FieldworkREST

extension Route {
    /// What a layer or table is and what can be asked of it.
    static let layerRoutes: [Route] = [
        Route(
            .featureServer, "{layer}", .read, [.json, .pjson, .html], metric: .layer, needs: .describe,
            page: { $0.directory.layer(try $0.layer, of: try $0.service.definition) },
            answer: { context in
                let recounts = try context.request.parameters.bool("returnUpdates") ?? false
                let json = try await context.features.layer(context.layer, of: context.service, recounts: recounts)
                return Answer.json(json, format: try context.request.format()).tagged()
            }),
        Route(.featureServer, "{layer}/fieldGroups", metric: .layer, needs: .describe) {
            let json = ContingentValuesCoding.fieldGroups(of: try $0.layer)
            return Answer.json(json, format: try $0.request.format()).tagged()
        },
        Route(.featureServer, "{layer}/contingentValues", metric: .layer, needs: .describe) {
            let json = ContingentValuesCoding.contingentValues(of: try $0.layer)
            return Answer.json(json, format: try $0.request.format()).tagged()
        },
        Route(.featureServer, "{layer}/validateSQL", metric: .layer, needs: .describe) {
            let json = try SQLValidation.answer($0.request.parameters, layer: $0.layer)
            return .json(json, format: try $0.request.format())
        },
        Route(
            .featureServer, "{layer}/query", .read, [.json, .pjson, .geojson, .pbf, .html], metric: .query,
            needs: .query, page: { try await $0.server.queryPage($0, face: .feature) },
            answer: { try await $0.features.query($0.layer, of: $0.service, $0.request) }),
        Route(
            .featureServer, "{layer}/queryTopFeatures", .read, [.json, .pjson, .geojson, .pbf], metric: .query,
            needs: .query
        ) {
            try await $0.features.queryTopFeatures($0.layer, of: $0.service, $0.request)
        },
        Route(.featureServer, "{layer}/queryRelatedRecords", metric: .queryRelatedRecords, needs: .query) {
            try await $0.features.queryRelatedRecords($0.layer, of: $0.service, $0.request)
        },
        Route(.featureServer, "{layer}/queryAttachments", metric: .queryAttachments, needs: .query) {
            try await $0.attachments.query($0.layer, of: $0.service, $0.request)
        },
        Route(.featureServer, "{layer}/{objectId}", metric: .feature, needs: .query) {
            try await $0.features.feature($0.objectID, in: $0.layer, of: $0.service, $0.request)
        },
        Route(.featureServer, "{layer}/{feature}/history", metric: .feature, needs: .query) {
            let history = FeatureHistory(store: $0.server.store)
            return .json(
                try await history.versions(of: $0.feature, in: $0.layer, of: $0.service), format: try $0.jsonFormat)
        },
    ]
}
