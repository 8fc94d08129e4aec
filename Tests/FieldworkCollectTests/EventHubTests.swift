import Testing

@testable import FieldworkCollect

@Suite struct EventHubTests {
    private struct Body: Encodable {
        let text: String
    }

    @Test func aWindowThatWasAwayGetsWhatItMissed() async throws {
        let hub = EventHub()
        let before = hub.revision
        hub.send("announce", Body(text: "one"))
        hub.send("announce", Body(text: "two\nlines"))
        let stream = try #require(hub.events(after: before))
        hub.close()
        var seen: [EventHub.Event] = []
        for await event in stream { seen.append(event) }
        #expect(seen.map(\.name) == ["announce", "announce"])
        #expect(seen.map(\.revision) == [before + 1, before + 2])
        #expect(seen.allSatisfy { !$0.data.contains("\n") })
    }

    @Test func aWindowThatWasAwayTooLongLoadsEverythingAgain() async throws {
        let hub = EventHub()
        for index in 0...(Limits.keptEvents + 5) { hub.send("announce", Body(text: "\(index)")) }
        let stream = try #require(hub.events(after: 1))
        hub.close()
        var seen: [String] = []
        for await event in stream { seen.append(event.name) }
        #expect(seen == ["reset"])
    }

    @Test("A window that missed one event of many gets that one; one that missed none gets none again")
    func oneMissed() async throws {
        let hub = EventHub()
        for text in ["one", "two", "three"] { hub.send("announce", Body(text: text)) }
        let last = hub.revision
        let missed = try #require(hub.events(after: last - 1))
        let nothing = try #require(hub.events(after: last))
        hub.close()
        var seen: [String] = []
        for await event in missed { seen.append(event.data) }
        #expect(seen == ["{\"text\":\"three\"}"])
        for await event in nothing { Issue.record("\(event.data) came again") }
    }

    @Test("The oldest event that is kept is the last one that a window may have missed")
    func oldestKept() async throws {
        let hub = EventHub()
        for index in 1...(Limits.keptEvents + 5) { hub.send("announce", Body(text: "\(index)")) }
        let newest = hub.revision
        let inTime = try #require(hub.events(after: newest - UInt64(Limits.keptEvents)))
        let late = try #require(hub.events(after: newest - UInt64(Limits.keptEvents) - 1))
        hub.close()
        var seen: [EventHub.Event] = []
        for await event in inTime { seen.append(event) }
        #expect(seen.count == Limits.keptEvents && seen.allSatisfy { $0.name == "announce" })
        #expect(seen.last?.revision == newest)
        seen = []
        for await event in late { seen.append(event) }
        #expect(seen.map(\.name) == ["reset"])
    }

    @Test func aNewWindowGetsOnlyWhatComes() async throws {
        let hub = EventHub()
        hub.send("announce", Body(text: "before"))
        let stream = try #require(hub.events(after: nil))
        hub.send("announce", Body(text: "after"))
        hub.close()
        var seen: [String] = []
        for await event in stream { seen.append(event.data) }
        #expect(seen == ["{\"text\":\"after\"}"])
    }

    @Test func windowsAreCounted() throws {
        let hub = EventHub()
        let streams = (0..<Limits.windows).compactMap { _ in hub.events(after: nil) }
        #expect(streams.count == Limits.windows)
        #expect(hub.events(after: nil) == nil)
    }
}
