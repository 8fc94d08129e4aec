/// The records of one relationship that refer to a feature.
struct RelatedView: ViewModel {
    struct Row: ViewModel {
        let address: String
        let title: String
        let subtitle: String
        let marks: StateMarks
    }

    struct Link: ViewModel {
        let address: String
        let text: String
    }

    /// The id of the relationship.
    let relation: Int
    let name: String
    let count: Int
    let rows: [Row]
    let hasRows: Bool
    /// What is said where there are none.
    let noneText: String
    /// Leads to all of them; nil where all are shown.
    var all: Link?
    /// Leads to a new one; nil where none can be added.
    let add: Link?
}
