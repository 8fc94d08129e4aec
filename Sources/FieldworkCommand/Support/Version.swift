import CFieldworkBuild

/// Which Fieldwork this is.
enum Version {
    static let number = "0.1.0"

    /// The version with the commit that it was built of, where the build was told.
    static var text: String {
        let commit = String(cString: fieldwork_commit())
        return commit.isEmpty ? "\(number) (development build)" : "\(number) (\(commit))"
    }
}
