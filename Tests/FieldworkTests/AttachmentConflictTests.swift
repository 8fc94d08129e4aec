import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

@testable import Fieldwork

/// The part of `Documentation/conflicts.md` that is about attachments, cell by cell and under each rule.
@Suite("Conflicts of attachments", .fewAtATime)
struct AttachmentConflictTests {
    enum Action: String, CaseIterable, Sendable {
        case nothing, changes, deletes
    }

    struct Cell: Sendable, CustomTestStringConvertible {
        var rule: ConflictRule
        var first: Action
        var second: Action
        var testDescription: String { "\(rule.rawValue): \(first.rawValue), then \(second.rawValue)" }
    }

    static let cells = ConflictRule.allCases.flatMap { rule in
        Action.allCases.flatMap { first in
            Action.allCases.map { Cell(rule: rule, first: first, second: $0) }
        }
    }

    private static let kept = ["photo.jpg": Data("kept".utf8)]

    private static func with(_ rule: ConflictRule, _ test: (TestService) async throws -> Void) async throws {
        try await OfflineService.with(rule: rule, attachments: true) { service in
            let id = try #require(try await service.rows(FeatureQuery(limit: 1)).first).objectID
            try await service.applyAttachments(
                AttachmentEdits(adds: [
                    FieldworkREST.AttachmentEdit(
                        parent: .objectID(id), name: "photo.jpg", contentType: "image/jpeg",
                        content: AttachmentContent(bytes: Array("kept".utf8)))
                ]))
            try await test(service)
        }
    }

    private func act(_ action: Action, _ name: String, _ geodatabase: Geodatabase) async throws {
        let feature = try #require(try await geodatabase.damage("Cause 0"))
        let attachment = try #require(try await feature.attachments.first)
        switch action {
        case .nothing: break
        case .changes:
            try await feature.updateAttachment(
                attachment, name: "\(name).jpg", contentType: "image/jpeg", data: Data(name.utf8))
        case .deletes: try await feature.deleteAttachment(attachment)
        }
    }

    private static func state(after action: Action, by name: String) -> [String: Data] {
        switch action {
        case .nothing: kept
        case .changes: ["\(name).jpg": Data(name.utf8)]
        case .deletes: [:]
        }
    }

    @Test("Each pair of edits of an attachment ends as the table says, and the loser comes back", arguments: cells)
    func pairs(cell: Cell) async throws {
        try await Self.with(cell.rule) { service in
            let one = try await service.takeOffline("one")
            let two = try await service.takeOffline("two")
            try await act(cell.first, "one", one)
            try await act(cell.second, "two", two)
            for device in [one, two, one, two] { #expect(try await service.sync(device).isEmpty) }

            let isConflict =
                cell.first != .nothing && cell.second != .nothing && (cell.first, cell.second) != (.deletes, .deletes)
            let secondWins = cell.first == .nothing || (cell.second != .nothing && cell.rule == .lastInWins)
            let won = secondWins ? Self.state(after: cell.second, by: "two") : Self.state(after: cell.first, by: "one")
            let lost = secondWins ? Self.state(after: cell.first, by: "one") : Self.state(after: cell.second, by: "two")
            #expect(try await service.servedAttachments()["Cause 0"] ?? [:] == won)
            for device in [one, two] {
                #expect(try await device.attachments(of: "Cause 0") == won)
                #expect(!device.hasLocalEdits)
            }

            let conflicts = try await service.store.conflicts(
                in: Set(MergeConflict.State.allCases), of: service.name, limit: 10)
            #expect(conflicts.count == (isConflict ? 1 : 0))
            guard let conflict = conflicts.first else { return }
            #expect(conflict.kind.isOfAttachment)
            #expect(conflict.state == (cell.rule == .holdForReview ? .open : .decided))
            #expect(conflict.winner == (secondWins ? .upload : .service))
            // The same as the SDK tells and settles it.
            let teller = EditConflicts(serviceURL: service.rootURL)
            let told = try #require(try await teller.conflicts().first)
            #expect(told.kind == kind(of: cell))
            #expect(told.lost.isDeleted == lost.isEmpty && told.won.isDeleted == won.isEmpty)
            for (side, files) in [(told.lost, lost), (told.won, won)] where !files.isEmpty {
                #expect(side.attachment?.name == files.keys.first)
                #expect(side.attachment?.size == files.values.first.map { Int64($0.count) })
            }
            #expect(told.lost.fieldNames.isEmpty && !told.lost.hasGeometry)
            try await teller.restore(told)
            #expect(try await service.servedAttachments()["Cause 0"] ?? [:] == lost)
            #expect(try await service.store.conflict(conflict.id, of: service.name)?.state == .restored)
            for device in [one, two] {
                try await service.sync(device)
                #expect(try await device.attachments(of: "Cause 0") == lost)
            }
            #expect(try await service.store.file(service.name).check().isEmpty)
        }
    }

    private func kind(of cell: Cell) -> EditConflict.Kind {
        switch (cell.first, cell.second) {
        case (.deletes, _): .updateOfDeletedAttachment
        case (_, .deletes): .deleteOfUpdatedAttachment
        default: .attachment
        }
    }

    @Test(
        "An attachment for a feature that others have deleted brings it back, or stays where it is, by the rule",
        arguments: ConflictRule.allCases)
    func deletedFeature(rule: ConflictRule) async throws {
        try await Self.with(rule) { service in
            let one = try await service.takeOffline("one")
            let two = try await service.takeOffline("two")
            try await one.damages.delete(try #require(try await one.damage("Cause 0")))
            let feature = try #require(try await two.damage("Cause 0"))
            try await feature.addAttachment(named: "new.jpg", contentType: "image/jpeg", data: Data("new".utf8))
            #expect(try await service.sync(one).isEmpty)
            let refused = try await service.sync(two)
            let both = Self.kept.merging(["new.jpg": Data("new".utf8)]) { one, _ in one }
            #expect(try await two.attachments(of: "Cause 0")["new.jpg"] == Data("new".utf8))
            if rule == .lastInWins {
                #expect(refused.isEmpty)
                #expect(try await service.servedAttachments()["Cause 0"] == both)
                try await service.sync(one)
                #expect(try await one.attachments(of: "Cause 0") == both)
            } else {
                #expect(refused.flatMap(\.editResults).flatMap(\.attachmentResults).count == 1)
                #expect(try await service.servedAttachments()["Cause 0"] == nil)
                #expect(two.hasLocalEdits)
                // It is not lost with a further sync either, and goes in when the feature is back.
                #expect(try await !service.sync(two).isEmpty)
                #expect(try await two.attachments(of: "Cause 0")["new.jpg"] == Data("new".utf8))
                #expect(try await one.undo())
                #expect(try await service.sync(one).isEmpty)
                #expect(try await service.sync(two).isEmpty)
                #expect(try await service.servedAttachments()["Cause 0"] == both)
                #expect(!two.hasLocalEdits)
            }
        }
    }

    @Test("A deletion that the service did not accept brings the feature back with its attachments")
    func keptFeature() async throws {
        try await Self.with(.firstInWins) { service in
            let one = try await service.takeOffline("one")
            let two = try await service.takeOffline("two")
            try await one.changeDamage("Cause 0", ["typdamage": "Major"])
            try await service.sync(one)
            try await two.damages.delete(try #require(try await two.damage("Cause 0")))
            #expect(try await service.sync(two).isEmpty)
            #expect(try await two.attachments(of: "Cause 0") == Self.kept)
            #expect(try await service.servedAttachments()["Cause 0"] == Self.kept)
        }
    }

    @Test("What was detached before its feature was deleted is detached, though the feature stays")
    func detachedBefore() async throws {
        try await Self.with(.firstInWins) { service in
            let one = try await service.takeOffline("one")
            let two = try await service.takeOffline("two")
            try await one.changeDamage("Cause 0", ["typdamage": "Major"])
            try await service.sync(one)
            try await act(.deletes, "two", two)
            try await two.damages.delete(try #require(try await two.damage("Cause 0")))
            #expect(try await service.sync(two).isEmpty)
            for device in [two, one] {
                #expect(try await service.sync(device).isEmpty)
                #expect(try await device.damage("Cause 0") != nil)
                #expect(try await device.attachments(of: "Cause 0").isEmpty)
            }
            #expect(try await service.servedAttachments()["Cause 0"] ?? [:] == [:])
        }
    }

    @Test(
        "What was detached while others deleted its feature is detached, when the feature comes back with that or later",
        arguments: ConflictRule.allCases)
    func detachedFromDeleted(rule: ConflictRule) async throws {
        try await Self.with(rule) { service in
            let one = try await service.takeOffline("one")
            let two = try await service.takeOffline("two")
            try await one.damages.delete(try #require(try await one.damage("Cause 0")))
            try await act(.deletes, "two", two)
            for device in [one, two] { #expect(try await service.sync(device).isEmpty) }
            // With `lastInWins` the feature is back already, since who detaches edits the feature as well.
            if rule != .lastInWins {
                #expect(try await service.servedAttachments()["Cause 0"] == nil)
                #expect(try await one.undo())
            }
            for device in [one, two] {
                #expect(try await service.sync(device).isEmpty)
                #expect(try await device.damage("Cause 0") != nil)
                #expect(try await device.attachments(of: "Cause 0").isEmpty)
            }
            #expect(try await service.servedAttachments()["Cause 0"] ?? [:] == [:])
            #expect(try await service.store.file(service.name).check().isEmpty)
        }
    }
}
