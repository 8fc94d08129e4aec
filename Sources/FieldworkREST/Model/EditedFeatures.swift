/// What a batch did to the features of one layer: those that it named and those that relationships took along.
package struct EditedFeatures: Sendable, Hashable {
    package struct Change: Sendable, Hashable {
        package var original: FeatureRecord
        package var current: FeatureRecord

        package init(original: FeatureRecord, current: FeatureRecord) {
            self.original = original
            self.current = current
        }
    }

    package var layerID: Int
    package var adds: [FeatureRecord]
    package var updates: [Change]
    /// As they were before.
    package var deletes: [FeatureRecord]

    package var isEmpty: Bool { adds.isEmpty && updates.isEmpty && deletes.isEmpty }

    package init(
        layerID: Int, adds: [FeatureRecord] = [], updates: [Change] = [], deletes: [FeatureRecord] = []
    ) {
        self.layerID = layerID
        self.adds = adds
        self.updates = updates
        self.deletes = deletes
    }
}
