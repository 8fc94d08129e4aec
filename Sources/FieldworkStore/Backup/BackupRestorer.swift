package import Foundation

/// Puts a backup in the place of a service's file, which a server may have open: it notices, and goes on with the backup. What
/// was there before is kept beside it.
package struct BackupRestorer: Sendable {
    let backup: URL
    let place: URL

    package struct Outcome: Sendable, Hashable {
        package var restoration: Restoration
        /// Where the state lies that was replaced; nil where there was none, or none that can be read.
        package var kept: URL?
    }

    /// - Parameter place: of the service's file, there or not; links are followed.
    package init(_ backup: URL, to place: URL) {
        self.backup = backup
        self.place = URL(filePath: FilePlace.resolve(place))
    }

    /// Throws `StoreError.corrupt` with the findings when the backup is not whole, `StoreError.busy` when the service is
    /// being edited all the time.
    package func run(
        at moment: Date = .now, progress: @escaping @Sendable (Double) -> Void = { _ in }
    ) async throws -> Outcome {
        try OwnFiles.createFolder(place.deletingLastPathComponent())
        let partial = FileBackup.workingFile(for: place)
        do {
            try await OneTimeWorker().run {
                try FileCopy(source: backup, target: partial, progress: progress).make()
                try FileBackup.detach(partial, isServed: true) { _ in }
            }
            try await FileBackup.requireWhole(partial, called: backup.lastPathComponent)
            try Task.checkCancellation()
            return try await OneTimeWorker().run { try exchange(partial, at: moment) }
        } catch {
            FileBackup.remove(partial)
            throw error
        }
    }

    private func exchange(_ partial: URL, at moment: Date) throws -> Outcome {
        guard FileManager.default.fileExists(atPath: place.path) else {
            let restoration = try FileBackup.detach(partial, isServed: true) {
                try RestorationLog(connection: $0).add(beyond: 0, at: moment)
            }
            if WrittenLog(besideFile: place.path) != nil { try LogSetAside.move(besideFile: place.path, at: moment) }
            try FileBackup.place(partial, at: place, replaces: false)
            return Outcome(restoration: restoration)
        }
        let kept = keptFile(moment)
        guard let lock = try lockedService() else {
            // What can't be opened is kept as it is, and its log apart.
            let seen = [
                LogStamp.read(place.path).generation, WrittenLog(besideFile: place.path)?.last?.generation,
                Limits.restorationStep,
            ]
            let restoration = try FileBackup.detach(partial, isServed: true) {
                try RestorationLog(connection: $0).add(
                    beyond: seen.compactMap { $0 }.max() ?? 0, after: [.unknown], at: moment)
            }
            try NewFile(url: kept).keep(place)
            try LogSetAside.move(besideFile: place.path, at: moment)
            try FileBackup.place(partial, at: place, replaces: true)
            return Outcome(restoration: restoration, kept: kept)
        }
        // From here on nobody's edit is acknowledged: it waits, and then finds another file in the place.
        defer { try? lock.rollBack() }
        do {
            try FileCopy(source: place, target: kept).make()
            try FileBackup.detach(kept) { _ in }
            try NewFile.synchronize(kept)
            let restoration = try FileBackup.detach(partial, isServed: true) { connection in
                let beyond = try ChangeLog.generation(on: lock)
                let restored = try ChangeLog.generation(on: connection)
                try takeOverReplicas(from: lock, to: connection, upTo: restored)
                return try RestorationLog(connection: connection).add(
                    beyond: beyond, after: RestorationLog(connection: lock).all(), at: moment)
            }
            try moveLog()
            lock.leaveLog()
            try LogSetAside.move(besideFile: place.path, at: moment)
            try FileBackup.place(partial, at: place, replaces: true)
            return Outcome(restoration: restoration, kept: kept)
        } catch {
            FileBackup.remove(kept)
            throw error
        }
    }

    /// The service's file with its writers shut out; nil where it can't be read.
    private func lockedService() throws -> StoreConnection? {
        if case .foreign = LogOwnership.look(place.path) { return nil }
        do {
            let connection = try StoreConnection(path: place.path, mode: .readWrite)
            guard try ServiceCatalogue.exists(on: connection) else { return nil }
            try connection.begin()
            return connection
        } catch let error as StoreError where error.code == .corrupt || error.code == .notAGeoPackage {
            return nil
        }
    }

    /// Moves all of the log into the file that is replaced: whatever ends this process from here on, the file at the place is
    /// whole without a log.
    private func moveLog() throws {
        let connection = try StoreConnection(path: place.path, mode: .readOnly)
        defer { connection.leaveLog() }
        let end = ContinuousClock.now + .milliseconds(Limits.busyMilliseconds)
        // The log is open after the first read.
        _ = try connection.integer("SELECT 1 FROM sqlite_master LIMIT 1")
        while try connection.moveLog() != 0 {
            guard ContinuousClock.now < end else {
                throw StoreError(.busy, "The service is being read all the time. Nothing was changed; try it again.")
            }
            usleep(20_000)
        }
    }

    /// Devices that went offline since the backup are known to the service: they have edits that it has not.
    private func takeOverReplicas(
        from old: StoreConnection, to new: StoreConnection, upTo generation: Int64
    ) throws {
        let catalogue = try ServiceCatalogue.read(from: new)
        try ReplicaTables.prepareInTransaction(catalogue, on: new)
        guard try old.hasTable("fieldwork_replicas") else { return }
        try old.run(
            "SELECT replica_id, name, definition, last_sync, state FROM fieldwork_replicas",
            row: { row in
                try new.run(
                    """
                    INSERT INTO fieldwork_replicas (replica_id, name, definition, last_sync, state) VALUES (?, ?, ?, ?, ?)
                    ON CONFLICT (replica_id) DO UPDATE SET last_sync = excluded.last_sync, state = excluded.state
                    """
                ) { for column in 0..<5 { try $0.bind(row.text(column), at: column + 1) } }
            })
        try old.run(
            "SELECT replica_id, layer_id, generation FROM fieldwork_replica_layers",
            row: { row in
                try new.run(
                    """
                    INSERT OR IGNORE INTO fieldwork_replica_layers (replica_id, layer_id, generation) VALUES (?, ?, ?)
                    """
                ) {
                    try $0.bind(row.text(0), at: 1)
                    try $0.bind(row.integer(1), at: 2)
                    try $0.bind(min(row.integer(2), generation), at: 3)
                }
            })
    }

    private func keptFile(_ moment: Date) -> URL {
        let time = DateText.text(milliseconds: moment.milliseconds).filter { $0.isNumber || $0 == "T" || $0 == "Z" }
        return place.deletingLastPathComponent().appending(
            path: "\(place.lastPathComponent).replaced-\(time)", directoryHint: .notDirectory)
    }
}

extension NewFile {
    /// Gives a file a second name, under which it stays when the first one is taken by another.
    fileprivate func keep(_ file: URL) throws {
        guard link(file.path, url.path) == 0 else {
            throw StoreError(.failure, "\(file.path) can't be kept as \(url.lastPathComponent). Nothing was changed.")
        }
    }
}
