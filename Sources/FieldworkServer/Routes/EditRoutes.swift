import FieldworkREST

extension Route {
    /// What changes the features of one layer or table. Three of the operations have a form for people.
    static let editRoutes: [Route] =
        EditForm.allCases.map { form in
            Route(
                .featureServer, "{layer}/\(form.operation.rawValue)", .write, [.json, .pjson, .html],
                metric: form.metric, needs: form.right, page: { try await $0.server.editPage(form, $0) },
                answer: { try await $0.features.edit(form.operation, $0.layer, of: $0.service, $0.request) })
        } + [
            Route(.featureServer, "{layer}/applyEdits", .write, metric: .applyEdits, needs: .edit) {
                try await $0.features.edit(.applyEdits, $0.layer, of: $0.service, $0.request)
            },
            Route(.featureServer, "{layer}/calculate", .write, metric: .updateFeatures, needs: .update) {
                try await $0.features.calculate($0.layer, of: $0.service, $0.request)
            },
            Route(
                .featureServer, "{layer}/{feature}/history/{toGeneration}/restore", .write, [.json],
                metric: .updateFeatures, needs: .update
            ) {
                let history = FeatureHistory(store: $0.server.store)
                return .json(
                    try await history.restore(
                        $0.feature, until: $0.generation, in: $0.layer, of: $0.service, editor: $0.request.editor))
            },
        ]
}
