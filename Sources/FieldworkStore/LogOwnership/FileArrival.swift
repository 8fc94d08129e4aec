import Foundation

/// What is done before a file is opened, and after: a log of another file is set aside, and a service whose file is older than
/// the one before it knows that time went back.
struct FileArrival {
    private let name: String
    /// What the log is called now that lay beside the file and belonged to another one.
    private var setAside: [String] = []
    /// The last generation of the file that was there before.
    private var beyond: Int64?

    /// - Parameter former: the file that was open at the place before.
    static func prepare(_ url: URL, after former: FileWatch?) throws -> FileArrival {
        var arrival = FileArrival(name: url.lastPathComponent)
        let path = FilePlace.resolve(url)
        if let former, former.loss == .replaced {
            guard former.isSettled(path) else {
                throw StoreError(.busy, "\(url.lastPathComponent) is being replaced by another program.")
            }
            arrival.beyond = former.generation
            if former.filePath == path, former.hasItsLog { arrival.setAside = try LogSetAside.move(besideFile: path) }
        }
        if case .foreign(let generation) = LogOwnership.look(path) {
            arrival.setAside += try LogSetAside.move(besideFile: path)
            arrival.beyond = max(arrival.beyond ?? 0, generation)
        }
        return arrival
    }

    /// - Returns: what whoever serves the file should write into the log; nil for nothing.
    func finish(on connection: StoreConnection) throws -> String? {
        guard let beyond else { return nil }
        let generation = try ChangeLog.generation(on: connection)
        let wentBack = beyond > generation || (beyond == generation && !setAside.isEmpty)
        var words = "\(name) was replaced by another file."
        if !setAside.isEmpty {
            words +=
                " The log of the one before does not belong to it and was set aside as \(setAside.joined(separator: " and "))."
        }
        guard wentBack else { return words }
        try connection.prepareToWrite()
        let restoration = try connection.transaction {
            // The file before has been through restorations that this one may know nothing of.
            let hasParted = beyond / Limits.restorationStep > generation / Limits.restorationStep
            return try RestorationLog(connection: connection).add(
                beyond: beyond, after: hasParted ? [.unknown] : [], at: .now)
        }
        return words
            + " Time went back from generation \(beyond) to \(generation); the service goes on at \(restoration.to)."
    }
}
