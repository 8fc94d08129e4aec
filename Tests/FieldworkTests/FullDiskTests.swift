import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

@testable import Fieldwork

/// A device without room: files of this process may not grow beyond a limit, as on a full disk.
@Suite("A full disk", .fewAtATime)
struct FullDiskTests {
    @Test("Taking offline fails with its reason, leaves no file, and goes on when there is room")
    func download() async throws {
        try await OfflineService.with { service in
            let (folder, address) = (service.folder.path, service.rootURL.absoluteString)
            await #expect(processExitsWith: .success) { [folder = folder as String, address = address as String] in
                let url = try #require(URL(string: address))
                let target = URL(filePath: folder).appending(path: "area.gpkg")
                let environment = ServiceEnvironment(
                    directory: URL(filePath: folder).appending(path: "full"), client: HTTPServiceClient())
                let job = try await OfflineService.generateJob(url, file: target, environment: environment)
                FileRoom.limit(to: 20_000)
                job.start()
                await #expect(throws: CommonError.self) { _ = try await job.output }
                #expect(job.status == .failed)
                #expect(!FileManager.default.fileExists(atPath: target.path))
                FileRoom.limit(to: nil)
                job.start()
                let geodatabase = try await job.output
                try await geodatabase.load()
                #expect(try await geodatabase.damages.queryFeatureCount(using: QueryParameters()) == 10)
                geodatabase.close()
            }
            let replicas = try await service.store.replicas(of: service.name)
            #expect(replicas.count == 1)
            #expect(!service.interceptor.sent.contains("unRegisterReplica"))
        }
    }

    @Test(
        "A journal that finds no room for an entry keeps those before it, and those that are written when there is room"
    )
    func journal() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "fieldwork-journal-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.path
        await #expect(processExitsWith: .success) { [path = path as String] in
            let file = URL(filePath: path).appending(path: "edits.jsonl")
            func entry(_ title: String) -> EditJournal.Entry {
                EditJournal.Entry(
                    id: UUID(), kind: .delete, session: nil, feature: FeatureReference(layer: 0, key: .object(1)),
                    objectID: 1, title: title, detail: "", date: Date(), before: nil, after: nil, progress: .onDevice,
                    undoes: nil)
            }
            let journal = try EditJournal(fileURL: file)
            try journal.append(entry("first"))
            // The beginning of the next line has room.
            FileRoom.limit(to: UInt64(try Data(contentsOf: file).count + 20))
            #expect(throws: (any Error).self) { try journal.append(entry("no room")) }
            FileRoom.limit(to: nil)
            try journal.append(entry("second"))
            #expect(journal.entries.map(\.title) == ["first", "second"])
            #expect(try EditJournal(fileURL: file).entries.map(\.title) == ["first", "second"])
        }
    }

    @Test("An edit that finds no room is refused whole, and a sync that finds none is completed later")
    func editAndSync() async throws {
        try await OfflineService.with { service in
            let first = try await service.takeOffline("area")
            first.close()
            let folder = service.folder.path
            await #expect(processExitsWith: .success) { [folder = folder as String] in
                let geodatabase = Geodatabase(fileURL: URL(filePath: folder).appending(path: "area.gpkg"))
                try await geodatabase.load()
                try await geodatabase.addDamage("Kept")
                FileRoom.limit(to: 4_096)
                await #expect(throws: CommonError.self) { try await geodatabase.addDamage("No room") }
                #expect(try await geodatabase.damage("Kept") != nil)
                #expect(try await geodatabase.damage("No room") == nil)
                let environment = ServiceEnvironment(
                    directory: URL(filePath: folder).appending(path: "full"), client: HTTPServiceClient())
                let job = try await OfflineService.syncJob(geodatabase, environment: environment)
                job.start()
                await #expect(throws: CommonError.self) { _ = try await job.output }
                #expect(geodatabase.hasLocalEdits)
                FileRoom.limit(to: nil)
                try await geodatabase.addDamage("Room again")
                geodatabase.close()
            }
            #expect(try await service.rows().count == 20)
            let geodatabase = Geodatabase(fileURL: first.fileURL)
            for _ in 0..<2 { #expect(try await service.sync(geodatabase).isEmpty) }
            let causes = try await service.served("typdamage").keys
            #expect(causes.contains("Kept") && causes.contains("Room again") && !causes.contains("No room"))
            #expect(try await service.rows().count == 22)
        }
    }

    /// `FIELDWORK_FULL_DISK_STEP` sets how many bytes are between two fillings of the disk: 4096 for every page.
    @Test("Wherever the disk of both sides is full, what was kept arrives once, and what was refused never")
    func everywhere() async throws {
        await #expect(processExitsWith: .success) {
            try await OfflineService.with(attachments: true) { service in
                let file = try await service.takeOffline("one").fileURL
                let two = try await service.takeOffline("two")
                var story = FullDiskStory(service: service, file: file, other: two)
                for room in FullDiskStory.rooms(in: service.folder) { try await story.tell(room) }
                try await story.check()
            }
        }
    }
}

/// A device that edits and syncs while neither it nor the service has more than so much room for a file.
private struct FullDiskStory {
    let service: TestService
    let file: URL
    let other: Geodatabase
    private var features: Set<String> = []
    private var photos: [String: Data] = [:]
    private var refusals = 0

    init(service: TestService, file: URL, other: Geodatabase) {
        (self.service, self.file, self.other) = (service, file, other)
    }

    /// From nothing to more than the largest file has by now.
    static func rooms(in folder: URL) -> [UInt64] {
        let names = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
        let sizes = names.compactMap { name -> Int? in
            let attributes = try? FileManager.default.attributesOfItem(atPath: folder.appending(path: name).path)
            return attributes?[.size] as? Int
        }
        let largest = UInt64(sizes.max() ?? 0)
        let step = ProcessInfo.processInfo.environment["FIELDWORK_FULL_DISK_STEP"].flatMap(UInt64.init)
        return Array(stride(from: 4_096, through: largest + 65_536, by: Int(step ?? largest / 8)))
    }

    mutating func tell(_ room: UInt64) async throws {
        let (mine, theirs) = ("One \(room)", "Two \(room)")
        // Larger than a page, and than what goes within edits.
        let photo = Data(repeating: UInt8(truncatingIfNeeded: room / 4_096), count: 40_000) + Data(mine.utf8)
        try await other.addDamage(theirs)
        try await Self.attach(theirs, photo + Data(theirs.utf8), other)
        try await service.sync(other)
        features.insert(theirs)
        photos[theirs] = photo + Data(theirs.utf8)

        let device = Geodatabase(fileURL: file)
        try await device.load()
        FileRoom.limit(to: room)
        let isAdded = (try? await device.addDamage(mine)) != nil
        let isAttached = (try? await Self.attach(mine, photo, device)) != nil
        let isSynced = (try? await service.sync(device)) != nil
        FileRoom.limit(to: nil)
        device.close()
        if isAdded { features.insert(mine) }
        if isAttached { photos[mine] = photo }
        if !isAdded || !isAttached || !isSynced { refusals += 1 }

        let again = Geodatabase(fileURL: file)
        try await again.load()
        #expect((try await again.damage(mine) != nil) == isAdded, "\(room)")
        #expect(try await again.attachments(of: "Cause 1")[mine] == (isAttached ? photo : nil), "\(room)")
        for _ in 0..<2 { #expect(try await service.sync(again).isEmpty, "\(room)") }
        #expect(!again.hasLocalEdits, "\(room)")
        #expect(try await again.damage(theirs) != nil, "\(room)")
        again.close()
    }

    private static func attach(_ name: String, _ photo: Data, _ geodatabase: Geodatabase) async throws {
        let feature = try #require(try await geodatabase.damage("Cause 1"))
        try await feature.addAttachment(named: name, contentType: "image/jpeg", data: photo)
    }

    func check() async throws {
        // A disk that had room enough each time would prove nothing.
        #expect(refusals > 0)
        let served = try await service.rows().compactMap { $0.attributes["primcause"]?.textValue }
        #expect(served.sorted() == ((0..<20).map { "Cause \($0)" } + features).sorted())
        #expect(try await service.servedAttachments() == ["Cause 1": photos])
        #expect(try await service.store.file(service.name).check().isEmpty)
        let device = Geodatabase(fileURL: file)
        try await device.load()
        for one in [device, other] {
            try await service.sync(one)
            #expect(try await one.attachments(of: "Cause 1") == photos)
            #expect(try await one.damages.queryFeatureCount(using: QueryParameters()) == 10 + features.count)
        }
        device.close()
    }
}

/// How large the files of this process may become.
private enum FileRoom {
    /// - Parameter bytes: nil for as large as the machine allows.
    static func limit(to bytes: UInt64?) {
        // Without this, a write beyond the limit would end the process instead of failing.
        signal(SIGXFSZ, SIG_IGN)
        var limits = rlimit()
        getrlimit(CInt(RLIMIT_FSIZE.rawValue), &limits)
        limits.rlim_cur = bytes.map { rlim_t($0) } ?? limits.rlim_max
        setrlimit(CInt(RLIMIT_FSIZE.rawValue), &limits)
    }
}
