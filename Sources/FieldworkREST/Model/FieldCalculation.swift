/// New values for fields of all features of a query, made within the transaction that writes them: what an expression reads
/// can't have been changed by somebody else meanwhile.
package struct FieldCalculation: Sendable, Hashable {
    package enum Value: Sendable, Hashable {
        case constant(AttributeValue)
        /// Over the feature as it was before the calculation, bound to the layer.
        case expression(SQLExpression)
    }

    package struct Assignment: Sendable, Hashable {
        package var field: String
        package var value: Value

        package init(field: String, value: Value) {
            self.field = field
            self.value = value
        }
    }

    package var features: FeatureQuery
    package var assignments: [Assignment]

    package init(features: FeatureQuery, assignments: [Assignment]) {
        self.features = features
        self.assignments = assignments
    }
}
