package import Foundation

/// An earlier state of a service that was put back: what came after it is gone from the service, though clients may have it.
package struct Restoration: Sendable, Hashable {
    /// The generation of the state that was put back, or the one before it up to which clients have the same past.
    package var from: Int64
    /// The generation at which the service went on. None between the two is a state of the service any more.
    package var to: Int64
    package var moment: Date

    package init(from: Int64, to: Int64, moment: Date) {
        self.from = from
        self.to = to
        self.moment = moment
    }

    /// One of which nothing is known: what clients of its time have in common with the service isn't either.
    static let unknown = Restoration(from: 0, to: 0, moment: .distantPast)

    /// Whether a generation is one that is gone.
    package func hasLost(_ generation: Int64) -> Bool { from < generation && generation < to }
}

/// Where a service is, and which of its former generations are none any more.
package struct ServiceTimeline: Sendable, Hashable {
    package var generation: Int64
    /// The oldest first.
    package var restorations: [Restoration]

    package init(generation: Int64, restorations: [Restoration]) {
        self.generation = generation
        self.restorations = restorations
    }

    /// The restoration that took away the state that a client names; nil for a state that the service has had. A generation that
    /// the service has not reached is one of a state that is gone, though nobody wrote down when: what the client has in common
    /// with the service is not known then.
    package func loss(of base: Int64) -> Restoration? {
        if let known = restorations.first(where: { $0.hasLost(base) }) { return known }
        return base > generation ? Restoration(from: 0, to: base, moment: .distantPast) : nil
    }

    /// The generation up to which a client that names one and the service have the same past.
    package func common(_ base: Int64) -> Int64 { min(base, loss(of: base)?.from ?? base) }

    /// What a client that knows of the restorations up to one has to be told; nil for nothing.
    package func news(knowing known: Int64) -> Restoration? {
        let unknown = restorations.filter { $0.to > known }
        guard let last = unknown.last, let from = unknown.map(\.from).min() else { return nil }
        return Restoration(from: from, to: last.to, moment: last.moment)
    }
}

/// The restorations of a service, kept in it: made with the first of them.
struct RestorationLog {
    static let table = "fieldwork_restorations"
    let connection: StoreConnection

    /// The oldest first.
    func all() throws -> [Restoration] {
        guard try connection.hasTable(Self.table) else { return [] }
        var found: [Restoration] = []
        try connection.run(
            "SELECT restored, resumed, moment FROM \(Self.table) ORDER BY resumed",
            row: { row in
                found.append(
                    Restoration(
                        from: row.integer(0), to: row.integer(1),
                        moment: Date(timeIntervalSince1970: Double(DateText.milliseconds(row.text(2)) ?? 0) / 1_000)))
            })
        return found
    }

    /// Takes note that what lies here is an earlier state, and goes on at a generation that no client has.
    /// - Parameters:
    ///   - beyond: the last generation that the service had.
    ///   - earlier: the restorations that it had been through. Of one that what lies here knows nothing of, clients come with a past
    ///     that parted from this one where that restoration began.
    func add(beyond: Int64, after earlier: [Restoration] = [], at moment: Date) throws -> Restoration {
        let known = Set(try all().map(\.to))
        let parted = earlier.filter { !known.contains($0.to) }.map(\.from)
        let generation = try ChangeLog.generation(on: connection)
        let from = min(generation, parted.min() ?? generation)
        let newest = max(generation, beyond)
        guard newest < Limits.generations else {
            throw StoreError(.corrupt, "The service counts generations that no service can have: \(newest).")
        }
        let restoration = Restoration(
            from: from, to: (newest / Limits.restorationStep + 1) * Limits.restorationStep, moment: moment)
        if try !connection.hasTable(Self.table) {
            try connection.execute(
                """
                CREATE TABLE \(Self.table) (restored INTEGER NOT NULL, resumed INTEGER PRIMARY KEY, moment TEXT NOT NULL)
                """)
            try GeoPackageSchema.registerOwn(Self.table, on: connection)
        }
        let text = DateText.text(milliseconds: moment.milliseconds)
        try connection.run("INSERT INTO \(Self.table) (restored, resumed, moment) VALUES (?, ?, ?)") {
            try $0.bind(restoration.from, at: 1)
            try $0.bind(restoration.to, at: 2)
            try $0.bind(text, at: 3)
        }
        try connection.run("UPDATE fieldwork_state SET generation = ?, inside = 1 WHERE id = 1") {
            try $0.bind(restoration.to, at: 1)
        }
        try connection.run("INSERT INTO fieldwork_generations (generation, moment) VALUES (?, ?)") {
            try $0.bind(restoration.to, at: 1)
            try $0.bind(text, at: 2)
        }
        try EditApplier.close(on: connection)
        return restoration
    }
}
